"""The list of traces: narrow it, open, compare, add up, delete with a way back, chart and prices."""

import json
import time
from dataclasses import replace

import pytest

from agent import FakeModel, Loop
from agent.messages import Message
from agent.models.base import ModelReply
from agent.trace import Outcome, Trace
from agent.usage import Usage
from pages.parts import shelf
from pages.parts.checking import Checking
from traces import Store, open_trace, save_trace
from traces.annotations import Annotations, Note
from traces.prices import Price, load_prices, save_prices
from traces.store import SAMPLES


@pytest.fixture
def base():
    return open_trace(SAMPLES / "calc.json")[0]


@pytest.fixture
def several(data, base):
    """Three saved traces of our own beside the bundled ones."""
    for number, title in enumerate(("Alpha sums", "Beta weather", "Gamma sums"), 1):
        save_trace(replace(base, trace_id=f"run-{number}", title=title, created=f"2027-01-0{number}T00:00:00Z"), data)
    return data


def titles(app):
    return app.dataframe[0].value["title"].tolist()


def place(data, trace_id):
    info = Store(data).find(trace_id)
    return shelf.place_of(info)


def tick(app, data, *ids):
    app.session_state["library-chosen"] = {place(data, trace_id) for trace_id in ids}
    return app.run()


def texts(app):
    return [each.value for each in app.text]


def test_the_newest_comes_first_and_the_order_can_be_changed(visit, several):
    app = visit("traces")
    assert titles(app)[:3] == ["Gamma sums", "Beta weather", "Alpha sums"]
    app.selectbox(key=shelf.SORT).select("title").run()
    assert titles(app)[:2] == ["A call that was only claimed", "A real small model adds, then multiplies"]


def test_words_and_choices_narrow_the_list_and_stay_while_a_trace_is_read(visit, several):
    app = visit("traces")
    app.text_input(key=shelf.SEARCH).input("sums").run()
    app.multiselect(key=shelf.KINDS).select("saved").run()
    assert titles(app) == ["Gamma sums", "Alpha sums"]
    app.query_params["trace"] = "run-1"
    app.run()
    del app.query_params["trace"]
    app.run()
    assert titles(app) == ["Gamma sums", "Alpha sums"]


def test_where_nothing_passes_the_filter_there_is_a_way_back(visit, several):
    app = visit("traces")
    app.text_input(key=shelf.SEARCH).input("no such words").run()
    assert not app.dataframe
    app.button(key="library-all").click().run()
    assert len(titles(app)) > 3


def test_tags_are_a_filter_and_a_column(visit, several):
    Annotations(several).write("run-2", Note("odd", ("look",)), 1)
    app = visit("traces")
    assert app.dataframe[0].value["tags"].tolist()[1] == ["look"]
    app.multiselect(key=shelf.TAGS).select("look").run()
    assert titles(app) == ["Beta weather"]
    assert any(button.proto.label == "Notes as CSV" for button in app.get("download_button"))


def test_one_ticked_trace_can_be_opened_and_two_compared(visit, several):
    app = tick(visit("traces"), several, "run-1")
    app.button(key="open-line").click().run()
    assert app.query_params["trace"] in ("run-1", ["run-1"])
    app = tick(visit("traces"), several, "run-1", "run-2")
    (link,) = [each for each in app.get("page_link") if each.proto.label == "Compare"]
    assert "compare" in link.proto.page and set("ab") <= set(link.proto.query_string)


def test_several_ticked_traces_are_added_up_and_unknown_is_not_nothing(visit, several, base):
    unknown = replace(base, trace_id="run-4", steps=[replace(step, usage=None) for step in base.steps])
    save_trace(unknown, several)
    total = base.usage.total
    app = tick(visit("traces"), several, "run-1", "run-2", "run-4")
    (sums,) = [text for text in texts(app) if text.startswith("Traces: 3")]
    assert f"Tokens: {2 * total:,} (2/3)" in sums and "Cost: not reported" in sums
    save_prices(several, [Price(model="script", prompt=1000, completion=1000)])
    assert "Cost: ≈ $ " in " ".join(texts(app.run()))


def test_a_deleted_trace_comes_back_with_its_notes(visit, several):
    Annotations(several).write("run-2", Note("keep me"))
    app = tick(visit("traces"), several, "run-2")
    app.button(key="delete-lines").click().run()
    assert "Beta weather" not in titles(app) and "Alpha sums" in titles(app)
    assert not (several / "run-2.json").exists()
    app.button(key="undo-delete").click().run()
    assert "Beta weather" in titles(app)
    assert Annotations(several).of("run-2").trace.text == "keep me"
    assert "undo-delete" not in [button.key for button in app.button]


def test_undo_says_so_where_the_name_is_taken(visit, several, base):
    app = tick(visit("traces"), several, "run-2")
    app.button(key="delete-lines").click().run()
    save_trace(replace(base, trace_id="run-2", title="new"), several)
    app.button(key="undo-delete").click().run()
    assert any("another file of that name" in text for text in texts(app))
    assert json.loads((several / "run-2.json").read_bytes())["title"] == "new"


def test_that_all_conversations_of_a_file_go_is_said_before(visit, data):
    chats = [{"messages": [{"role": "user", "content": f"question {n}"}]} for n in range(3)]
    (line, *_) = Store(data).add_upload("\n".join(map(json.dumps, chats)).encode(), "chats.jsonl")
    app = tick(visit("traces"), data, line.id)
    assert any("All 3 conversations" in each.value for each in app.caption)
    app.button(key="delete-lines").click().run()
    assert not any(title.startswith("question") for title in titles(app))


def test_bundled_traces_and_a_server_for_others_have_no_delete_button(visit, several, base, monkeypatch):
    app = tick(visit("traces"), several, base.trace_id)
    assert "delete-lines" not in [button.key for button in app.button]
    monkeypatch.setattr("pages.parts.library_actions.private", lambda: False)
    app = tick(visit("traces"), several, "run-1")
    assert "delete-lines" not in [button.key for button in app.button]


def test_costs_say_where_they_come_from(visit, data, base):
    save_trace(replace(base, trace_id="paid", steps=[replace(step, cost=0.25) for step in base.steps]), data)
    steps = [replace(step, cost=None, model="gpt-4o-mini", usage=Usage(1000, 0, 1000)) for step in base.steps]
    save_trace(replace(base, trace_id="priced", steps=steps), data)
    steps = [replace(steps[0], model="unheard of"), *steps[1:]]
    save_trace(replace(base, trace_id="partly", steps=steps), data)
    frame = visit("traces").dataframe[0].value
    ids = {info.id: row for row, info in enumerate(Store(data).list())}
    cost = frame["cost"].tolist()
    assert cost[ids["paid"]] == 0.25 * len(base.steps)
    assert cost[ids["priced"]] == pytest.approx(0.15e-3 * len(base.steps))
    sources = frame["cost_source"].tolist()
    assert [sources[ids[name]] for name in ("paid", "priced", "partly")] == ["file", "computed", "≥ computed"]
    assert sources[ids[base.trace_id]] == ""


def test_findings_are_counted_when_asked_for(visit, several):
    app = visit("traces")
    assert set(app.dataframe[0].value["findings"]) == {"not checked yet"}
    app.button(key="check-traces").click().run()
    for _ in range(100):
        if all(info.checked for info in Store(several).list()):
            break
        time.sleep(0.05)
    app = visit("traces")
    assert "not checked yet" not in set(app.dataframe[0].value["findings"])
    assert "check-traces" not in [button.key for button in app.button]


def test_a_run_that_may_go_on_is_not_counted_as_unchecked(visit, several, base):
    loop = Loop(FakeModel([ModelReply(Message("assistant", "x"))]), [], journal=several)
    loop.start("go on")
    loop.advance()
    for info in Store(several).list():
        Store(several).check(info.path)
    app = visit("traces")
    assert ["interrupted"] in [list(kinds) for kinds in app.dataframe[0].value["kind"]]
    assert "check-traces" not in [button.key for button in app.button]


def test_a_file_is_checked_once_however_often_it_is_asked_for(several):
    store = Store(several)
    paths = [info.path for info in store.list()]
    checking = Checking()
    checking.start(store, [*paths, *paths])
    checking.start(store, [])
    for _ in range(200):
        if not checking.busy:
            break
        time.sleep(0.05)
    assert checking.done == checking.total == len(set(paths))


def test_words_of_a_trace_stay_text(visit, data):
    nasty = "<script>x</script> :material/home: **b** ![i](http://e/i.png)"
    save_trace(Trace(trace_id="nasty", title=nasty, outcome=Outcome(reason="=1+1")), data)
    app = tick(visit("traces"), data, "nasty")
    assert nasty in titles(app)
    assert not any("script>" in each.value for each in app.markdown)
    assert nasty[:60] in texts(app)


def test_own_prices_are_saved_from_the_table_and_broken_ones_can_be_replaced(visit, data, monkeypatch):
    (data / ".prices.json").write_text("{")
    monkeypatch.setattr("pages.parts.prices_form.st.expander", _open)
    app = visit("traces")
    assert any("cannot be read" in each.value for each in app.warning)
    app.button(key="save-prices").click().run()
    assert load_prices(data).own == ()


class _Panel:
    open = True

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


def _open(*labels, **options):
    return _Panel()
