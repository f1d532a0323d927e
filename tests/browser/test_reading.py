"""A long look at files of others: conversations, notes, paths, a file of no known shape, and files that still grow."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

PATH = "Or the path of a file on this machine"

RUN = """
import sys, time
from agent import FakeModel, Loop, ToolCall, tool

@tool
def wait(n: int) -> int:
    "Wait for a line on standard input."
    sys.stdin.readline()
    return n

model = FakeModel([*([ToolCall(f"c{n}", "wait", {"n": n})] for n in (1, 2, 3)), "Done."])
loop = Loop(model, [wait], journal=sys.argv[1])
print(loop.trace.trace_id, flush=True)
loop.start("Wait three times.")
loop.finish()
"""
"""A run whose tools wait until the test lets them go."""


@pytest.fixture(autouse=True)
def list_as_before(data: Path) -> Iterator[None]:
    """Other tests open the newest trace of the list."""
    before = set(data.glob("[!.]*"))
    yield
    for path in set(data.glob("[!.]*")) - before:
        path.unlink()


def chat(*texts: str) -> dict[str, Any]:
    roles = ("user", "assistant")
    return {"messages": [{"role": roles[n % 2], "content": text} for n, text in enumerate(texts)]}


def drop(lab: Any, content: str, name: str) -> None:
    lab.page.locator('input[type="file"]').first.set_input_files(
        {"name": name, "mimeType": "application/json", "buffer": content.encode()}
    )
    expect(lab.button("All traces")).to_be_visible()
    lab.settled()


def choose(lab: Any, label: str, word: str) -> None:
    """Choose an entry of a field by typing its word."""
    field = lab.page.get_by_role("combobox", name=re.compile(re.escape(label)))
    field.click()
    field.fill(word)
    expect(lab.page.get_by_role("option").first).to_be_visible()
    with lab.answered():
        field.press("Enter")
    field.press("Escape")  # the list of a field for several entries stays open


def tab(lab: Any, name: str) -> None:
    with lab.answered():
        lab.page.get_by_role("tab", name=name).click()


def test_a_conversation_of_many_is_chosen_named_and_handed_on(app: str, lab: Any, new_lab: Any) -> None:
    lab.open(f"{app}/traces")
    drop(lab, "\n".join(json.dumps(chat(f"question {n}", "yes", "why?")) for n in range(1, 41)), "many.jsonl")
    head = lab.page.locator(".st-key-trace-line")
    expect(head.get_by_text("question 1", exact=True)).to_be_visible()
    choose(lab, "Conversation", "question 33")
    expect(head).to_contain_text("question 33")
    lab.select(2)
    expect(lab.page).to_have_url(re.compile(r"conversation=33&message=2\b"))
    other = new_lab().open(lab.page.url)
    expect(other.page.locator(".st-key-trace-line")).to_contain_text("question 33")
    expect(other.page.get_by_text("Message 2", exact=True)).to_be_visible()
    lab.page.go_back()
    lab.page.go_back()
    expect(head.get_by_text("question 1", exact=True)).to_be_visible()
    lab.page.get_by_test_id("stMain").evaluate("main => { main.scrollTop = 150; }")
    drop(lab, json.dumps(chat("the next file")), "next.json")
    expect(head).to_contain_text("the next file")
    lab.page.wait_for_function("() => document.querySelector('[data-testid=stMain]').scrollTop === 0")


def test_a_note_survives_going_elsewhere_is_saved_and_its_tag_filters(app: str, lab: Any) -> None:
    lab.open(f"{app}/traces")
    drop(lab, json.dumps(chat("one for notes", "two", "three")), "notes.json")
    lab.select(2)
    tab(lab, "Notes")
    lab.page.get_by_label("Message 2", exact=True).fill("odd answer")
    tab(lab, "Message")
    tab(lab, "Notes")
    note = lab.page.get_by_label("Message 2", exact=True)
    expect(note).to_have_value("odd answer")
    expect(lab.page.get_by_text("not saved yet")).to_be_visible()
    tags = lab.page.get_by_role("tabpanel").get_by_role("combobox", name="Tags").first
    tags.fill("strange")
    with lab.answered():
        tags.press("Enter")
    tags.press("Escape")
    with lab.answered():
        lab.page.get_by_role("button", name="Save the note").first.click()
    lab.page.reload()
    lab.drawn()
    choose(lab, "Tags", "strange")
    lab.rows(1)
    lab.cell(1, "two")
    tab(lab, "Notes")
    expect(lab.page.get_by_label("Message 2", exact=True)).to_have_value("odd answer")
    expect(lab.page.get_by_text("not saved yet")).to_be_hidden()


def test_a_mistyped_path_stays_to_be_put_right_and_a_half_written_file_is_shown_once_whole(
    app: str, lab: Any, tmp_path: Path
) -> None:
    path, whole = tmp_path / "a file.json", json.dumps(chat("one", "two"))
    path.write_text(whole[:30])
    lab.open(f"{app}/traces")
    field = lab.page.get_by_label(PATH, exact=True)
    lab.fill(PATH, f"{path}x")
    expect(lab.page.get_by_text("is not there")).to_be_visible()
    expect(field).to_have_value(f"{path}x")
    lab.fill(PATH, str(tmp_path))
    expect(lab.page.get_by_text("is a folder")).to_be_visible()
    lab.fill(PATH, f'"{path}"')
    expect(lab.page.get_by_text("This file cannot be opened")).to_be_visible()
    expect(field).to_have_value("")
    path.write_text(whole)
    lab.rows(2)
    expect(lab.page.get_by_text("This file cannot be opened")).to_be_hidden()


def test_a_file_of_no_known_shape_is_read_by_the_columns_that_a_person_names(app: str, lab: Any) -> None:
    turns = [{"who": "human", "said": "What is up?"}, {"who": "bot", "said": "Not much"}]
    lab.open(f"{app}/traces")
    drop(lab, json.dumps({"run": {"turns": turns}}), "unknown.json")
    expect(lab.page.get_by_text("No conversation was found in this file.")).to_be_visible()
    choose(lab, "Path of the records", "run.turns")
    choose(lab, "The words", "said")
    with lab.answered():
        lab.page.get_by_role("button", name="Open with these columns").click()
    expect(lab.page.get_by_text("Read as mapped")).to_be_visible()
    lab.page.reload()
    lab.drawn()
    expect(lab.page.get_by_test_id("stMetric").filter(has_text="Messages")).to_contain_text("2")
    expect(lab.page.locator(".st-key-saved-table table[role=grid]")).to_contain_text("Not much")


def test_a_run_of_another_program_is_followed_to_its_end(app: str, lab: Any, tmp_path: Path) -> None:
    command = [sys.executable, "-c", RUN, str(tmp_path)]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdin is not None and program.stdout is not None
        trace_id = program.stdout.readline().strip()
        lab.open(f"{app}/traces")
        lab.fill(PATH, str(tmp_path / f"{trace_id}.jsonl"))
        lab.rows(2)
        for rows in (4, 6):
            print(file=program.stdin, flush=True)
            lab.rows(rows)
        lab.page.get_by_text("Keep to the newest message").click()
        expect(lab.page.get_by_text("Message 6", exact=True)).to_be_visible()
        lab.select(1)
        print(file=program.stdin, flush=True)
        lab.rows(8)
    expect(lab.page.get_by_text("Read as agent-trace/1")).to_be_visible()
    expect(lab.page.get_by_text("Message 1", exact=True)).to_be_visible()
