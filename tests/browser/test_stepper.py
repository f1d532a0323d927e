"""The stepper in a real browser: every control by its name and by its key, looking back, decisions, two tabs."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

pytestmark = pytest.mark.browser

BOTH_WAYS = ("name", "key")


def act(lab, how: str, name: str, key: str) -> None:
    """Use a control by its name or by its key."""
    if how == "key":
        lab.key(key)
    else:
        with lab.answered():
            lab.button(name).click()


def stepped(lab, *phases: str) -> None:
    """Press Step until the run stands before the last of these phases."""
    for phase in phases:
        lab.key("s")
        expect(lab.status).to_contain_text(f"Next: {phase}")


def ring(lab, text: str) -> None:
    """Wait until the ring of phases says so."""
    expect(lab.page.get_by_role("img", name=text)).to_be_visible()


# ---- the first screen ----


def test_two_keys_lead_to_the_sentence_that_nothing_has_run(app: str, lab) -> None:
    lab.open(app)
    lab.key("s")
    expect(lab.status).to_contain_text("Next: call")
    lab.key("s")
    expect(lab.status).to_contain_text("The model only asked; nothing has run yet.")
    lab.rows(3)


def test_each_phase_shows_its_own_lines_of_the_loop_and_who_acts(app: str, lab) -> None:
    lab.open(app)
    seen = [("prepare", "THINK", "code"), ("call", "THINK", "model"), ("approve", "TOOL_CALL", "code")]
    seen += [("execute", "TOOL_CALL", "environment"), ("append", "OBSERVE", "code"), ("decide", "OBSERVE", "code")]
    for phase, state, maker in seen:
        if phase != "prepare":
            lab.key("s")
        expect(lab.status).to_contain_text(f"Next: {phase}")
        expect(lab.status).to_contain_text(f"def _{phase}(self)")
        expect(lab.status).to_contain_text(maker)
        ring(lab, f"State: {state}, next: {phase}")
    lab.key("g")
    ring(lab, "State: DONE")


def test_the_rows_that_a_phase_added_are_marked(app: str, lab) -> None:
    lab.open(app)
    stepped(lab, "call", "approve")
    lab.cell(3, "＋")
    expect(lab.status).to_contain_text("Before: call. Messages: 2 → 3")
    stepped(lab, "execute")
    expect(lab.status).to_contain_text("Before: approve. Messages: 3, as before")


# ---- moving ----


def test_step_over(app: str, lab) -> None:
    lab.open(app)
    for messages, how in zip((4, 6), BOTH_WAYS, strict=True):
        act(lab, how, "Step over", "o")
        lab.rows(messages)
        expect(lab.status).to_contain_text("Next: prepare")


def test_to_the_next_model_call(app: str, lab) -> None:
    lab.open(app)
    for messages, step, how in zip((2, 4), (1, 2), BOTH_WAYS, strict=True):
        act(lab, how, "To call", "m")
        lab.rows(messages)
        expect(lab.status).to_contain_text("Next: call")
        expect(lab.status).to_contain_text(f"step {step}")


def test_continue_and_reset(app: str, lab) -> None:
    lab.open(app)
    for how in BOTH_WAYS:
        act(lab, how, "Continue", "g")
        expect(lab.status).to_contain_text("All checks hold.")
        act(lab, how, "Reset", "x")
        lab.rows(2)
        expect(lab.status).to_contain_text("Next: prepare")


def test_a_slow_walk_goes_by_itself_and_is_paused(app: str, lab) -> None:
    lab.open(app)
    for messages, how in zip((3, 4), BOTH_WAYS, strict=True):
        act(lab, how, "Walk", "w")
        expect(lab.status).to_contain_text("Walking")
        lab.rows(messages)
        expect(lab.button("Pause")).to_be_enabled()
        act(lab, how, "Pause", "p")
        expect(lab.button("Step")).to_be_enabled()
        expect(lab.status).to_contain_text("Next:")
    lab.settled()
    before = lab.status.inner_text()
    lab.page.wait_for_timeout(1500)
    assert lab.status.inner_text() == before


def test_a_stop_ends_the_run_and_it_can_go_on(app: str, lab) -> None:
    lab.open(app)
    stepped(lab, "call")
    act(lab, "key", "Stop", "q")
    expect(lab.status).to_contain_text("Stopped by the user.")
    lab.key("e")
    expect(lab.status).to_contain_text("The model answered")
    lab.key("x")
    stepped(lab, "call")
    act(lab, "name", "Stop", "q")
    expect(lab.status).to_contain_text("Stopped by the user.")


def test_a_run_at_its_limit_goes_on_with_more_steps(app: str, lab) -> None:
    lab.open(f"{app}/?scenario=noop&guards=off")
    lab.key("g")
    expect(lab.status).to_contain_text("The step limit was reached.")
    for steps, how in zip((7, 12), BOTH_WAYS, strict=True):
        act(lab, how, "Continue with 5 more steps", "e")
        expect(lab.status).to_contain_text(f"stopped by the limit of {steps} steps")


def test_the_list_of_keys(app: str, lab) -> None:
    lab.open(app)
    dialog = lab.page.get_by_role("dialog")
    for how in BOTH_WAYS:
        act(lab, how, "Keys", "h")
        for name, key in {"Step over": "O", "To call": "M", "Continue": "G", "Back": "B", "Keys": "H"}.items():
            expect(dialog.get_by_role("row", name=re.compile(f"^{key} {name} "))).to_be_visible()
        lab.page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()
    stepped(lab, "call")


# ---- looking back ----


def test_looking_back_runs_nothing_and_now_leads_back(app: str, lab) -> None:
    lab.open(app)
    stepped(lab, "call", "approve", "execute")
    for how in BOTH_WAYS:
        act(lab, how, "Back", "b")
        expect(lab.status).to_contain_text("Looking back: moment 3 of 4")
        expect(lab.status).to_contain_text("Next: approve")
        act(lab, how, "Back", "b")
        expect(lab.status).to_contain_text("Looking back: moment 2 of 4")
        lab.rows(2)
        ring(lab, "State: THINK, next: call")
        expect(lab.button("Step over")).to_be_disabled()
        act(lab, how, "Forward", "f")
        lab.rows(3)
        act(lab, how, "Now", "n")
        expect(lab.status).to_contain_text("Next: execute")
        expect(lab.status).not_to_contain_text("Looking back")
    stepped(lab, "append")


def test_a_link_and_a_reload_keep_the_moment_that_is_looked_at(app: str, lab) -> None:
    lab.open(app)
    lab.key("g")
    expect(lab.status).to_contain_text("All checks hold.")  # the rows are all there before the run has ended
    lab.key("b")
    expect(lab.status).to_contain_text("Next: decide")
    lab.key("b")
    expect(lab.status).to_contain_text("Next: call")
    moment = re.search(r"moment (\d+) of", lab.status.inner_text())[1]
    expect(lab.page).to_have_url(re.compile(rf"at={moment}\b"))
    lab.settled()
    before = lab.status.inner_text()
    lab.page.reload()
    lab.drawn()
    expect(lab.status).to_contain_text("Looking back")
    expect(lab.status).to_have_text(before, use_inner_text=True)


# ---- at approve ----


def alternative(lab, name: str):
    """What else than running can be done about the last call."""
    return lab.status.get_by_test_id("stButtonGroup").get_by_text(name, exact=True).last


def decide(lab, choice: str, field: str, text: str) -> None:
    """Choose what is done about the one call, type into its field, and decide."""
    with lab.answered():
        alternative(lab, choice).click()
    lab.status.get_by_label(field).fill(text)
    lab.button(f"Decide: {choice}").click()  # a person goes from the field to the button at once
    expect(lab.status).to_contain_text("decided: ")
    lab.settled()


def test_calls_run_as_asked(app: str, lab) -> None:
    lab.open(app)
    for messages, how in zip((4, 6), BOTH_WAYS, strict=True):
        stepped(lab, "call", "approve")
        act(lab, how, "Run as asked", "a")
        expect(lab.status).to_contain_text("decided: run as asked")
        lab.key("o")
        lab.rows(messages)


def test_edited_arguments_run_and_the_models_own_call_stays(app: str, lab) -> None:
    lab.open(app)
    stepped(lab, "call", "approve")
    decide(lab, "Edit", "Arguments, as JSON", '{"a": 20, "b": 30}')
    lab.key("o")
    lab.rows(4)
    lab.cell(3, 'add({"a": 2, "b": 3})')
    lab.cell(4, "The user changed the arguments")
    lab.cell(4, "50")


def test_a_given_result_is_answered_without_the_tool(app: str, lab) -> None:
    lab.open(app)
    stepped(lab, "call", "approve")
    decide(lab, "Give a result", "The result that the model is given", "99")
    lab.key("o")
    lab.cell(4, "The user gave this result")
    lab.cell(4, "user")


def test_skip_and_reject_tell_the_model_why(app: str, lab) -> None:
    lab.open(app)
    stepped(lab, "call", "approve")
    decide(lab, "Skip", "Reason, told to the model", "not needed")
    lab.key("o")
    lab.cell(4, "skipped, the tool did not run: not needed")
    stepped(lab, "call", "approve")
    decide(lab, "Reject", "Reason, told to the model", "too dear")
    lab.key("o")
    lab.cell(6, "rejected by the user: too dear")


def test_arguments_that_are_no_json_cannot_be_decided(app: str, lab) -> None:
    lab.open(app)
    stepped(lab, "call", "approve")
    alternative(lab, "Edit").click()
    box = lab.status.get_by_label("Arguments, as JSON")
    box.fill("{a: 2")
    box.blur()
    expect(lab.status).to_contain_text("the arguments are not valid JSON")
    with lab.answered():
        lab.button("Decide: Edit").click()
    expect(lab.page.get_by_text("That did not work")).to_be_visible()
    expect(lab.status).not_to_contain_text("decided")


# ---- two tabs ----


def test_the_same_call_is_decided_once_by_two_tabs(app: str, lab, new_lab: Callable) -> None:
    lab.open(app)
    stepped(lab, "call", "approve")
    second = new_lab().open(lab.page.url)
    expect(second.status).to_contain_text("The model only asked")
    decide(lab, "Skip", "Reason, told to the model", "the first tab")
    expect(second.status).to_contain_text("decided: skipped")
    second.looked_at().key("s")
    expect(lab.status).to_contain_text("Next: execute")
    lab.looked_at().key("o")
    lab.cell(4, "the first tab")
    second.cell(4, "the first tab")


class Held:
    """What the server sends to a page, kept back for a while as a slow network does."""

    def __init__(self, page: Page) -> None:
        self.page, self.holding = page, False
        self._held: list[bytes] = []
        self._sides: list[WebSocketRoute] = []
        page.route_web_socket(re.compile("_stcore/stream"), self._connect)

    def _connect(self, side: WebSocketRoute) -> None:
        server = side.connect_to_server()
        side.on_message(server.send)
        server.on_message(lambda message: self._held.append(message) if self.holding else side.send(message))
        self._sides.append(side)

    def wait_for_drawings(self, count: int) -> None:
        """Wait until so many drawings of the page are held back whole."""
        for _ in range(300):
            if sum(ForwardMsg.FromString(each).HasField("script_finished") for each in self._held) >= count:
                return
            self.page.wait_for_timeout(50)
        raise TimeoutError(f"{count} drawings")

    def release(self) -> None:
        self.holding = False
        for message in self._held:
            self._sides[-1].send(message)


def test_a_press_meant_for_an_earlier_moment_moves_nothing(app: str, lab, new_lab: Callable) -> None:
    lab.open(app)
    stepped(lab, "call")
    second = new_lab()
    held = Held(second.page)
    second.open(lab.page.url)
    expect(second.status).to_contain_text("Next: call")
    second.settled()
    held.holding = True
    lab.page.keyboard.press("s")
    held.wait_for_drawings(1)  # the server has drawn what the first tab did, and the second does not show it yet
    second.page.keyboard.press("s")
    held.wait_for_drawings(2)
    held.release()
    expect(second.page.get_by_text("Another tab has moved this run")).to_be_visible()
    expect(second.status).to_contain_text("Next: approve")
    expect(lab.status).to_contain_text("Next: approve")
    second.key("s")
    expect(lab.status).to_contain_text("Next: execute")


def test_keys_work_after_a_choice_with_the_mouse(app: str, lab) -> None:
    lab.open(app)
    lab.page.get_by_role("combobox", name="Scenario").click()
    lab.page.get_by_role("option", name="Where is my order?").click()
    lab.settled()
    lab.page.wait_for_timeout(300)
    lab.key("s")
    expect(lab.status).to_contain_text("Next: call")
    lab.page.get_by_text("中文").click()
    expect(lab.button("单步")).to_be_visible()
    lab.page.wait_for_timeout(300)
    lab.key("s")
    expect(lab.status).to_contain_text("审批")
    lab.page.get_by_text("English", exact=True).click()
    expect(lab.button("Step")).to_be_visible()
    expect(lab.page.get_by_role("combobox", name="Scenario")).to_have_value("Where is my order?")


def test_what_is_being_written_in_one_tab_is_not_taken_away_by_another(app: str, lab, new_lab: Callable) -> None:
    lab.open(app)
    stepped(lab, "call", "approve")
    second = new_lab().open(lab.page.url)
    alternative(lab, "Edit").click()
    box = lab.status.get_by_label("Arguments, as JSON")
    box.fill('{"a": 7')
    second.key("s")
    expect(second.page.get_by_text("somebody is deciding about a call")).to_be_visible()
    expect(second.status).to_contain_text("Next: approve")
    expect(box).to_have_value('{"a": 7')
    second.key("s")
    expect(lab.status).to_contain_text("Next: execute")
