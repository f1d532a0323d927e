"""Following a run without a browser: who sees what, and that looking never moves anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from agent import Message, ModelReply, ToolCall, tool
from pages.parts.follow_lead import take_lead
from pages.parts.follow_stage import stage_of
from pages.parts.runs import OpenRun, registry
from pages.parts.view_links import KEY_FILE, find_viewed, view_id
from tests.pages.conftest import texts
from traces.lessons.course import course
from traces.store import Store

Make = Callable[..., OpenRun]
Visit = Callable[..., AppTest]

TURNS: list[Any] = [ModelReply(Message("assistant", tool_calls=(ToolCall("c1", "add", {"a": 2, "b": 3}),))), "It is 5."]


@tool
def add(a: int, b: int) -> int:
    """The sum."""
    return a + b


where: list[str] = []


@tool(name="add")
def where_am_i(a: int, b: int) -> str:
    """A tool that tells where the run is kept."""
    return f"saved as /data/{where[-1]}.jsonl"


@pytest.fixture
def run(open_run: Make) -> OpenRun:
    """A run of two steps that has come to its end: ten moments."""
    made = open_run(TURNS, [add])
    made.runner.resume()
    assert made.runner.wait(10)
    return made


def badges(app: AppTest) -> str:
    return "\n".join(str(each.value) for each in app.markdown)


# ---- the link ----


def test_a_view_id_says_nothing_about_the_run_and_is_another_one_in_another_folder(
    data: Path, run: OpenRun, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first = view_id(run.id)
    assert run.id not in first
    assert view_id(run.id) == first
    monkeypatch.setenv("AGENT_LAB_DATA", str(tmp_path / "other"))
    assert view_id(run.id) != first


def test_a_view_id_leads_to_its_run_and_nothing_else_does(run: OpenRun) -> None:
    assert find_viewed(view_id(run.id)) is run
    for wrong in ("", run.id, view_id("0" * 12), view_id(run.id)[:-1], "../" * 8, "x" * 5000):
        assert find_viewed(wrong) is None


def test_looking_for_a_view_that_does_not_exist_writes_nothing(data: Path) -> None:
    assert find_viewed("a" * 24) is None
    assert list(data.iterdir()) == []


def test_the_key_is_for_its_owner_alone_and_no_trace(data: Path, run: OpenRun) -> None:
    view_id(run.id)
    assert (data / KEY_FILE).stat().st_mode & 0o077 == 0
    assert not [info for info in Store(data).list() if info.path.endswith(KEY_FILE)]


def test_a_run_of_a_server_that_has_ended_is_found_on_the_disk(visit: Visit, press: Any) -> None:
    app = visit()
    press(app, "step")
    run_id = registry().listed()[0].id
    view = view_id(run_id)
    registry().end(run_id)
    st.cache_resource.clear()  # what a restart forgets
    found = find_viewed(view)
    assert found is not None
    assert found.id == run_id
    assert not visit("follow", view=view).exception


def test_a_saved_run_that_cannot_be_read_is_a_sentence_without_its_id(data: Path, visit: Visit) -> None:
    (data / f"{'ab' * 6}.jsonl").write_text("no journal", encoding="utf-8")
    app = visit("follow", view=view_id("ab" * 6))
    assert "no run to see here" in app.info[0].value
    assert "ab" * 6 not in str(app.main)


@pytest.mark.parametrize("query", [{}, {"view": "nothing"}, {"view": "a" * 24, "at": "3"}])
def test_without_a_run_the_page_says_what_is_missing(visit: Visit, query: dict[str, str]) -> None:
    assert len(visit("follow", **query).info) == 1


# ---- what is seen ----


def test_the_page_shows_the_run_and_has_no_button_that_moves_it(visit: Visit, run: OpenRun) -> None:
    app = visit("follow", view=view_id(run.id))
    pressed = {button.key for button in app.button if not str(button.key).startswith("message-")}
    assert pressed == {f"follow-{name}" for name in ("back", "forward", "now", "rejoin")}
    assert len(app.dataframe[0].value) == 4
    assert "with the teacher: moment 10 of 10" in badges(app)


def test_nothing_of_the_page_holds_the_id_of_the_run(visit: Visit, open_run: Make) -> None:
    leaky = open_run([TURNS[0], "It is done."], [where_am_i])
    where.append(leaky.id)
    leaky.runner.resume()
    assert leaky.runner.wait(10)
    assert leaky.id in leaky.loop.trace.messages[2].text
    view = view_id(leaky.id)
    app = visit("follow", view=view)
    for name in ("Message", "Request", "Tools", "Notes and faults"):
        app.session_state[f"tabs-follow-{view}"] = name
        app.run()
        assert leaky.id not in str(app.main)
        assert leaky.id not in app.dataframe[0].value.to_json()
    assert leaky.id not in repr(stage_of(leaky).look(None).view.trace)


def test_following_shows_where_the_leader_looks(visit: Visit, run: OpenRun) -> None:
    leader = visit(run=run.id, at="3")
    assert "moment 3 of 10" in badges(leader)
    app = visit("follow", view=view_id(run.id))
    assert "with the teacher: moment 3 of 10" in badges(app)
    assert len(app.dataframe[0].value) == 2
    leader.button(key="now").click().run()
    assert "with the teacher: moment 10 of 10" in badges(app.run())


def test_the_selected_message_of_the_leader_is_shown(visit: Visit, run: OpenRun) -> None:
    leader = visit(run=run.id)
    leader.session_state[f"chosen-messages-{run.id}"] = 1
    leader.run()
    assert "**Message 2**" in badges(visit("follow", view=view_id(run.id)))


def test_looking_around_is_ones_own_and_one_press_leads_back(visit: Visit, run: OpenRun) -> None:
    view = view_id(run.id)
    app = visit("follow", view=view)
    app.button(key="follow-back").click().run()
    assert app.query_params["at"] == "9"
    assert "on my own: moment 9 of 10" in badges(app)
    run.lead.at = 1
    assert "on my own: moment 9 of 10" in badges(app.run())
    app.button(key="follow-rejoin").click().run()
    assert "with the teacher: moment 2 of 10" in badges(app)
    assert set(app.query_params) == {"view"}


def test_now_stays_with_the_newest_on_ones_own(visit: Visit, run: OpenRun) -> None:
    run.lead.at = 1
    app = visit("follow", view=view_id(run.id))
    app.button(key="follow-now").click().run()
    assert "on my own: moment 10 of 10" in badges(app)
    assert app.query_params["own"] == "1"


def test_a_look_of_a_follower_changes_nothing_of_the_run(visit: Visit, run: OpenRun) -> None:
    before = run.loop.snapshot()
    app = visit("follow", view=view_id(run.id), at="2")
    app.button(key="follow-forward").click().run()
    assert run.loop.snapshot() == before
    assert run.lead.at is None


def test_what_is_worked_out_is_shared(run: OpenRun) -> None:
    stage = stage_of(run)
    assert stage_of(run) is stage
    assert stage.look(None) is stage.look(None)
    assert stage.look(2).reading is stage.look(2).reading
    assert stage.look(99) is stage.look(None)


def test_a_change_of_the_run_is_seen_by_the_next_look(open_run: Make) -> None:
    made = open_run(TURNS, [add])
    stage = stage_of(made)
    assert stage.look(None).view.count == 1
    made.runner.step()
    assert made.runner.wait(10)
    assert stage.look(None).view.count == 2


def test_a_press_takes_the_lead(run: OpenRun) -> None:
    run.lead.session = "somebody"
    take_lead(run)
    assert run.lead.session != "somebody"


# ---- what a view does not give ----


def test_a_view_opens_nothing_else(visit: Visit, run: OpenRun, public: None) -> None:
    view = view_id(run.id)
    app = visit("follow", view=view)
    assert "opened" not in app.session_state or run.id not in app.session_state["opened"]
    for page, query in (
        ("traces", {"trace": view}),
        ("replay", {"trace": view}),
        ("compare", {"left": view}),
        ("notebook", {"trace": view}),
        ("run", {"run": view}),
    ):
        there = visit(page, **query)
        assert run.id not in str(there.main)
        assert "It is 5." not in str(there.main)


def test_the_list_of_a_follower_does_not_hold_the_run(visit: Visit, run: OpenRun, public: None) -> None:
    app = visit("follow", view=view_id(run.id))
    app.switch_page("pages/traces.py").run()
    assert run.id not in str(app.main)


# ---- the two links ----


def test_the_menu_gives_both_links(visit: Visit, run: OpenRun) -> None:
    app = visit(run=run.id, at="3")
    app.session_state["share"] = True
    app.run()
    links = [str(code.value) for code in app.code if "://" in str(code.value)]
    assert len(links) == 2
    assert links[0].endswith(f"follow?view={view_id(run.id)}&at=3")
    assert run.id not in links[0]
    assert links[1].endswith(f"run?run={run.id}&at=3")


def test_the_link_of_a_lesson_leads_to_it_and_takes_nothing_along_that_is_ones_own(visit: Visit, run: OpenRun) -> None:
    run.setup = replace(run.setup, scenario="lesson:one_call:first:en")
    app = AppTest.from_function(draw_share, args=(run.id,))
    app.query_params.update({"lesson": "one_call", "seat": "my-own-seat", "projector": "1", "lang": "zh"})
    app.session_state["share"] = True
    app.run()
    assert not app.exception
    control = str(app.code[1].value)
    assert "/learn?" in control
    assert {"lesson=one_call", "variant=first", f"run={run.id}"} <= set(control.partition("?")[2].split("&"))
    assert "my-own-seat" not in control + str(app.code[0].value)


def draw_share(run_id: str) -> None:
    from pages.parts.runs import registry
    from pages.parts.sharing import share_menu

    run = registry().find(run_id)
    assert run is not None
    share_menu(run)


def test_who_follows_a_lesson_sees_its_title_and_question(visit: Visit, run: OpenRun) -> None:
    run.setup = replace(run.setup, scenario="lesson:one_call:first:en")
    shown = texts(visit("follow", view=view_id(run.id)), "text")
    lesson = course(None).find("one_call")
    assert lesson is not None
    assert lesson.title.en in shown
    assert lesson.question.en in shown


# ---- the mode for a projector ----


def test_the_mode_for_a_projector_is_chosen_in_the_side_bar_and_kept_in_the_address(visit: Visit) -> None:
    app = visit()
    app.toggle(key="projector").set_value(True).run()
    assert app.query_params["projector"] == "1"
    app.toggle(key="projector").set_value(False).run()
    assert "projector" not in app.query_params


def test_a_link_opens_the_mode_for_a_projector(visit: Visit) -> None:
    assert visit(projector="1").toggle(key="projector").value


def test_larger_letters_have_larger_rows_and_fewer_of_them(visit: Visit, run: OpenRun) -> None:
    app, large = visit(run=run.id), visit(run=run.id, projector="1")
    assert large.dataframe[0].proto.row_height > app.dataframe[0].proto.row_height
