"""The Run page in a real browser: keys, charts, pause, reload, tabs, storms."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def live(lab, app: str, model_server):
    """A live model behind the stub, ready to start; the page as the user leaves it after typing."""
    lab.open(f"{app}/?model=live")
    lab.fill("Model name", "stub")
    lab.fill("Base URL", model_server.url)
    return lab


def table_top(lab) -> float:
    return lab.page.get_by_test_id("stDataFrame").first.bounding_box()["y"]


def test_calc_is_stepped_by_key_to_the_final_answer(app: str, lab) -> None:
    lab.open(app)
    lab.rows(2)
    phases = ["call", "approve", "execute", "append", "decide", "prepare"]
    for phase in phases:
        lab.key("s")
        expect(lab.status).to_contain_text(f"Next: {phase}")
    lab.rows(4)
    lab.cell(3, 'add({"a": 2, "b": 3})')
    lab.cell(4, "5")
    for phase in [*phases, "call", "decide"]:
        lab.key("s")
        expect(lab.status).to_contain_text(f"Next: {phase}")
    lab.key("s")
    expect(lab.status).to_contain_text("The model answered and asked for nothing more.")
    expect(lab.status).to_contain_text("All checks hold.")
    lab.rows(7)
    lab.cell(7, "计算结果是 20。")
    lab.page.get_by_role("tab", name="Charts").click()
    expect(lab.page.get_by_role("figure", name="Tokens per step")).to_be_visible()
    expect(lab.page.get_by_role("figure", name="Latency per step")).to_be_visible()


def test_the_buttons_and_the_table_are_seen_without_scrolling(app: str, lab) -> None:
    lab.open(app)
    lab.key("g")
    lab.rows(7)
    expect(lab.button("Reset")).to_be_in_viewport(ratio=1)
    expect(lab.page.get_by_test_id("stDataFrame").first).to_be_in_viewport(ratio=1)


def test_the_table_stays_where_it_is_when_a_call_begins_and_when_the_run_ends(app: str, lab, model_server) -> None:
    live(lab, app, model_server)
    top = table_top(lab)
    lab.key("g")
    model_server.wait_for_request(1)
    expect(lab.status).to_contain_text("Running: call")
    assert table_top(lab) == top
    model_server.gate.set()
    expect(lab.status).to_contain_text("The model answered")
    lab.rows(7)
    assert table_top(lab) == top


@pytest.mark.parametrize("size", [{"width": 400, "height": 800}, {"width": 1280, "height": 720}], ids=["400", "1280"])
def test_how_a_run_ended_is_seen_whole(app: str, lab, size: dict[str, int]) -> None:
    lab.open(f"{app}/?scenario=atlantis")
    lab.page.set_viewport_size(size)
    lab.key("g")
    expect(lab.status).to_contain_text("check fails: get_weather succeeded (it gave only errors)")
    assert lab.status.evaluate("box => box.scrollHeight <= box.clientHeight")


def test_step_over_and_continue_by_button(app: str, lab) -> None:
    lab.open(f"{app}/?scenario=order")
    lab.button("Step over").click()
    lab.rows(4)
    expect(lab.status).to_contain_text("Next: prepare")
    lab.button("Continue").click()
    lab.rows(5)
    expect(lab.status).to_contain_text("All checks hold.")


def test_reset_gives_a_new_run(app: str, lab) -> None:
    lab.open(app)
    lab.key("g")
    lab.rows(7)
    lab.key("x")
    lab.rows(2)
    expect(lab.button("Step")).to_be_enabled()
    expect(lab.page).not_to_have_url(re.compile("run="))


def test_a_pause_in_a_model_call_is_acknowledged_while_the_call_goes_on(app: str, lab, model_server) -> None:
    live(lab, app, model_server)
    lab.key("g")
    model_server.wait_for_request(1)
    expect(lab.button("Pause")).to_be_enabled()
    lab.settled()
    lab.page.keyboard.press("p")
    expect(lab.status).to_contain_text("Pausing after this call", timeout=2_000)
    model_server.gate.set()
    expect(lab.status).to_contain_text("Next: approve")
    lab.rows(3)
    assert len(model_server.requests) == 1
    lab.key("g")
    lab.rows(7)
    assert len(model_server.requests) == 3


def test_what_is_typed_right_before_a_press_is_used_and_stays_in_its_field(app: str, lab, model_server) -> None:
    lab.open(f"{app}/?model=live&scenario=own")
    first = {"Model name": "first", "Base URL": model_server.url, "API key": "no-key"}
    for label, text in first.items():
        lab.fill(label, text)
    typed = {"Your task": "Say hello", "Model name": "second", "API key": "other", "Step limit": "3"}
    for count, (label, text) in enumerate(typed.items(), start=1):
        field = lab.page.get_by_label(label, exact=True)
        field.fill(text)
        lab.button("Continue").click()  # a person goes from the field to the button at once
        model_server.wait_for_request(count)
        expect(lab.status).to_contain_text("Running: call")
        lab.settled()
        expect(field).to_have_value(text)
        lab.key("q")
        expect(lab.status).to_contain_text("Stopped by the user.")
        lab.key("x")
        expect(field).to_have_value(text)
    asked = model_server.requests[-1]
    assert (asked["messages"][-1]["content"], asked["model"]) == ("Say hello", "second")
    expect(lab.page).to_have_url(re.compile("steps=3"))


def test_stop_ends_a_run_in_the_middle_of_a_model_call(app: str, lab, model_server) -> None:
    live(lab, app, model_server)
    lab.key("g")
    model_server.wait_for_request(1)
    expect(lab.button("Stop")).to_be_enabled()
    lab.key("q")
    expect(lab.status).to_contain_text("Stopped by the user.")
    assert len(model_server.requests) == 1


def test_a_run_goes_on_when_the_page_is_reloaded(app: str, lab, model_server) -> None:
    live(lab, app, model_server)
    lab.key("g")
    model_server.wait_for_request(1)
    expect(lab.page).to_have_url(re.compile("run="))
    lab.page.reload()
    lab.drawn()
    expect(lab.status).to_contain_text("Running: call")
    model_server.gate.set()
    lab.rows(7)
    expect(lab.status).to_contain_text("The model answered")
    assert len(model_server.requests) == 3


def test_a_second_tab_shows_the_same_run_and_follows_it_while_it_moves(app: str, lab, new_lab, model_server) -> None:
    live(lab, app, model_server)
    lab.key("g")
    model_server.wait_for_request(1)
    expect(lab.page).to_have_url(re.compile("run="))
    second = new_lab().open(lab.page.url)
    expect(second.status).to_contain_text("Running: call")
    model_server.gate.set()
    lab.rows(7)
    second.rows(7)


def test_a_second_tab_asks_nothing_while_the_run_is_paused(app: str, lab, new_lab) -> None:
    lab.open(app)
    lab.key("s")
    expect(lab.status).to_contain_text("Next: call")
    second, frames = new_lab(), []
    second.page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: frames.append(frame)))
    second.open(lab.page.url)
    expect(second.status).to_contain_text("Next: call")
    second.page.wait_for_timeout(500)
    seen = len(frames)
    second.page.wait_for_timeout(2500)
    assert len(frames) == seen


def test_every_quick_press_of_step_is_one_phase(app: str, lab) -> None:
    lab.open(app)
    lab.key("s")
    expect(lab.status).to_contain_text("Next: call")
    for _ in range(5):
        lab.page.keyboard.press("s")
        lab.page.wait_for_timeout(300)
    lab.rows(4)
    expect(lab.status).to_contain_text("Next: prepare")


def test_a_storm_of_clicks_makes_one_model_call_at_a_time(app: str, lab, model_server) -> None:
    live(lab, app, model_server)
    for _ in range(12):
        for key in ("g", "s", "p", "o"):
            lab.page.keyboard.press(key)
    model_server.wait_for_request(1)
    model_server.gate.set()
    lab.settled()
    expect(lab.button("Pause")).to_be_disabled()
    if lab.button("Continue").is_enabled():
        lab.key("g")
    lab.rows(7)
    assert model_server.peak == 1
    assert len(model_server.requests) == 3


def test_nothing_is_sent_while_nothing_moves(app: str, lab) -> None:
    frames: list[object] = []
    lab.page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: frames.append(frame)))
    lab.open(app)
    lab.key("s")
    expect(lab.status).to_contain_text("Next: call")
    lab.settled()
    lab.page.wait_for_timeout(500)
    seen = len(frames)
    lab.page.wait_for_timeout(2500)
    assert len(frames) == seen


def test_no_request_leaves_this_machine(app: str, lab) -> None:
    hosts: set[str] = set()
    lab.page.on("request", lambda request: hosts.add(request.url.split("/")[2].split(":")[0]))
    lab.open(app)
    lab.key("g")
    lab.rows(7)
    lab.open(f"{app}/traces")
    assert hosts <= {"127.0.0.1", ""}


def test_the_page_speaks_chinese_when_asked(app: str, lab) -> None:
    lab.open(app)
    lab.page.get_by_text("中文").click()
    expect(lab.button("单步")).to_be_visible()
    expect(lab.page).to_have_url(re.compile("lang=zh"))
    lab.page.reload()
    lab.drawn()
    lab.key("s")
    expect(lab.status).to_contain_text("下一阶段: 调用模型")
    lab.cell(1, "系统")


def test_a_killed_server_leaves_a_run_that_goes_on(serve: Callable, tmp_path, lab) -> None:
    with serve(tmp_path) as server:
        lab.open(server.url)
        lab.key("o")
        lab.rows(4)
        server.process.kill()
        server.process.wait()
        address = lab.leave()
    with serve(tmp_path):
        lab.open(address)
        lab.rows(4)
        lab.key("g")
        lab.rows(7)
        expect(lab.status).to_contain_text("All checks hold.")


def test_a_tab_that_rests_shows_what_is_done_in_another_one(app: str, lab, new_lab) -> None:
    lab.open(app)
    lab.key("s")
    expect(lab.status).to_contain_text("Next: call")
    second = new_lab().open(lab.page.url)
    second.key("s")
    expect(lab.status).to_contain_text("Next: approve")
    lab.rows(3)
    lab.looked_at().key("g")
    second.rows(7)
    expect(second.status).to_contain_text("All checks hold.")
    second.key("x")
    expect(second.button("Step")).to_be_enabled()
    lab.settled()
    lab.rows(7)
    expect(lab.status).to_contain_text("All checks hold.")


def test_a_key_that_the_server_repeats_is_not_shown(app: str, lab, model_server) -> None:
    live(lab, app, model_server)
    lab.fill("API key", "a-key-of-nobody-4711")
    model_server.echo = True
    model_server.gate.set()
    lab.key("g")
    lab.rows(3)
    expect(lab.status).to_contain_text("The model answered")
    lab.cell(3, "[redacted: ")
    expect(lab.page.locator("body")).not_to_contain_text("a-key-of-nobody-4711")
