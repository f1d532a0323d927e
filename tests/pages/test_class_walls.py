"""What no session may see of another: seats, runs, keys, servers and classes that it was given no link to."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from agent.models.metered import PLACE
from pages.parts.runs import registry
from pages.parts.view_links import view_id
from tests.pages.provider import Provider
from tests.pages.schooling import KEY, Visit, begun, here, lend, query, run_of, seated, seen, shown, stepped


def finish() -> None:
    for run in registry().listed():
        assert run.runner.wait(10)


def remembered(app: AppTest) -> str:
    """Everything that a session remembers."""
    return str(app.session_state._state.filtered_state)


@pytest.mark.usefixtures("public")
def test_the_list_of_classes_is_for_their_teachers_alone(visit: Visit) -> None:
    mine, klass = begun(visit, "Monday")
    _, other = begun(visit, "Tuesday")
    mine.button(key="class-all").click().run()
    assert f"class-open-{klass.id}" in [each.key for each in mine.button]
    assert f"class-open-{other.id}" not in [each.key for each in mine.button]
    stranger = seen(visit("classroom"))
    for secret in (klass.id, klass.secret, klass.code, "Monday", "Tuesday"):
        assert secret not in stranger


def test_on_a_private_server_all_classes_are_the_one_users(visit: Visit) -> None:
    _, klass = begun(visit)
    app = visit("classroom")
    app.button(key=f"class-open-{klass.id}").click().run()
    assert query(app)["class"] == klass.secret


@pytest.mark.usefixtures("public")
def test_neither_the_code_nor_a_seat_nor_the_id_of_a_class_makes_a_teacher(visit: Visit) -> None:
    _, klass = begun(visit)
    _, seat = seated(visit, klass)
    for guess in (klass.code, klass.id, seat.id, klass.secret[:-1], klass.secret.swapcase()):
        app = visit("classroom", **{"class": guess})
        assert "knows no class" in shown(app, "info")
        assert "Ada" not in seen(app)
        assert not app.dataframe


@pytest.mark.usefixtures("public")
def test_a_student_sees_no_other_seat_and_no_secret_of_the_class(visit: Visit) -> None:
    _, klass = begun(visit)
    ada, first = seated(visit, klass, "Ada")
    bob, second = seated(visit, klass, "Bob")
    for app, own, other in ((ada, first, second), (bob, second, first)):
        for page in ("learn", "run", "traces", "classroom"):
            app.switch_page(f"pages/{page}.py").run()
            page_text = seen(app)
            assert other.id not in page_text
            assert other.name not in page_text
            assert klass.secret not in page_text
        assert query(app).get("seat", own.id) == own.id


@pytest.mark.usefixtures("public")
def test_a_run_of_another_seat_is_listed_nowhere(visit: Visit) -> None:
    _, klass = begun(visit)
    ada, _ = seated(visit, klass, "Ada")
    bob, _ = seated(visit, klass, "Bob")
    ada.switch_page("pages/run.py").run()
    ada.button(key="continue").click().run()
    run = run_of(ada)
    finish()
    for page in ("run", "traces", "learn", "compare"):
        bob.switch_page(f"pages/{page}.py").run()
        assert run.id not in seen(bob)


@pytest.mark.usefixtures("public")
def test_the_teacher_sees_a_run_by_its_view_and_never_its_id(visit: Visit) -> None:
    teacher, klass = begun(visit)
    ada, seat = seated(visit, klass)
    run = stepped(ada)
    teacher.session_state["class-chosen"] = seat.id
    page = seen(teacher.run())
    assert f"view={view_id(run.id)}" in page
    assert run.id not in page


@pytest.mark.usefixtures("public")
def test_a_link_to_a_run_gives_the_run_and_not_the_seat(visit: Visit) -> None:
    _, klass = begun(visit)
    ada, seat = seated(visit, klass)
    stepped(ada)
    ada.session_state["share"] = True
    assert seat.id not in shown(ada.run(), "code")


@pytest.mark.usefixtures("public")
def test_nobody_but_the_teachers_process_ever_holds_the_key_or_the_server(
    visit: Visit, provider: Provider, data: Path
) -> None:
    teacher, klass = begun(visit)
    lend(teacher, provider.url)
    ada, _ = seated(visit, klass)
    provider.says = f"You sent {KEY} to {provider.url}."
    ada.switch_page("pages/run.py").run()
    ada.radio(key="model").set_value("lent").run()
    ada.button(key="continue").click().run()
    run = run_of(ada)
    assert run.runner.wait(10)
    ada.run()
    assert provider.keys == [KEY]
    host = provider.url.split("/")[2]
    places = [seen(ada), remembered(ada), str(run.trace().to_dict())]
    for page in ("traces", "learn", "classroom"):
        ada.query_params["trace"] = run.id
        ada.switch_page(f"pages/{page}.py").run()
        places.append(seen(ada))
    places.append(seen(teacher.run()))
    places.append(remembered(teacher))
    for text in places:
        assert KEY not in text
    for text in places[:-2]:
        assert host not in text
    kept = [path for path in data.rglob("*") if path.is_file()]
    assert kept
    for path in kept:
        assert KEY.encode() not in path.read_bytes(), path.name
    assert host not in (data / f"{run.id}.json").read_text(encoding="utf-8")
    assert PLACE in (data / f"{run.id}.json").read_text(encoding="utf-8")
    assert here().lendings.of(klass.id) is not None


@pytest.mark.usefixtures("public")
def test_a_student_cannot_send_the_key_to_a_server_of_his_own(visit: Visit, provider: Provider) -> None:
    teacher, klass = begun(visit)
    lend(teacher, provider.url)
    ada, _ = seated(visit, klass)
    ada.switch_page("pages/run.py").run()
    ada.radio(key="model").set_value("live").run()
    ada.text_input(key="base_url").input("http://127.0.0.1:9/v1").run()
    ada.text_input(key="model_name").input("other").run()
    ada.radio(key="model").set_value("lent").run()
    assert not [each for each in ada.text_input if each.key in ("base_url", "api_key", "model_name")]
    ada.button(key="continue").click().run()
    assert run_of(ada).runner.wait(10)
    assert provider.keys == [KEY]
    assert [each["model"] for each in provider.asked] == ["class-model"]


@pytest.mark.usefixtures("public")
def test_who_is_in_no_class_or_another_one_cannot_choose_it(visit: Visit, provider: Provider) -> None:
    teacher, _ = begun(visit, "Monday")
    _, other = begun(visit, "Tuesday")
    lend(teacher, provider.url)
    bob, _ = seated(visit, other, "Bob")
    for app in (bob, visit(model="lent")):
        app.switch_page("pages/run.py").run()
        assert app.radio(key="model").options == ["Scripted", "Live"]


@pytest.mark.usefixtures("public")
def test_a_run_of_one_class_is_not_woken_by_the_model_of_another(visit: Visit, provider: Provider) -> None:
    provider.adds = True
    monday, first = begun(visit, "Monday")
    tuesday, second = begun(visit, "Tuesday")
    lend(monday, provider.url)
    ada, _ = seated(visit, first, "Ada")
    ada.switch_page("pages/run.py").run()
    ada.radio(key="model").set_value("lent").run()
    ada.button(key="step_over").click().run()
    finish()
    monday.button(key="class-lend-back").click().run()
    lend(tuesday, provider.url, key="sk-tuesday-1414-2135-6237")
    _, seat = seated(visit, second, "Bob")
    bob = visit(seat=seat.id, run=run_of(ada).id)  # the link that moves it was given to him
    bob.button(key="continue").click().run()
    finish()
    assert "answers only those who sit in the class" in shown(bob, "text")
    assert provider.keys == [KEY]
