"""Exports: what other programs read must be valid, what people read must be inert, and no secret leaves."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
import zipfile
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent import InputError, Message, ToolCall, Trace, Usage
from agent.protocol import violations
from agent.trace import Entry, Evidence, Request, Source, ToolRun, TraceStep
from traces import open_trace
from traces.export import Exported, export, file_name, formats
from traces.spreadsheet import safe_cell, table
from traces.store import SAMPLES
from traces.summary import summarise

KEY = "sk-proj-Abcdefgh12345678Zz"
HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "![x](https://evil.test/a.png)",
    "```\n# out of the fence\n````\n`````",
    '=HYPERLINK("http://evil.test","x")',
    "\x1b[2J\x1b]0;title\x07",
    "<!--<script>",
    "\ud800 half",
    "  \u2028line",
]


def made(*texts: str, **more: Any) -> Trace:
    """A trace of user messages with these texts."""
    trace = Trace(trace_id="t1", title=more.pop("title", ""), **more)
    for text in texts:
        trace.messages.append(Message("user", text))
        trace.entries.append(Entry(maker="user"))
    return trace


def bytes_of(exported: Exported) -> bytes:
    """What is in an export; of a zip its files one after another."""
    if exported.mime != "application/zip":
        return exported.data
    with zipfile.ZipFile(io.BytesIO(exported.data)) as archive:
        return b"\n".join(map(archive.read, archive.namelist()))


# -- all of them ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", formats())
def test_no_secret_leaves_and_what_was_taken_out_is_told(format: str, trace: Trace) -> None:
    trace.messages.append(Message("user", f"my key is {KEY}, thanks"))
    trace.entries.append(Entry(maker="user"))
    trace.tools[0]["api_key"] = "hunter2hunter2"
    exported = export(trace, format)
    assert KEY.encode() not in bytes_of(exported)
    assert b"hunter2" not in bytes_of(exported)
    assert {(item.message, item.length) for item in exported.removed} == {(len(trace.messages), len(KEY)), (None, 14)}
    assert KEY not in str(exported.removed)
    assert any(KEY in message.text for message in trace.messages), "the trace itself is never changed"


def test_a_secret_in_arguments_is_named_by_its_path() -> None:
    trace = made("go")
    trace.messages.append(
        Message("assistant", None, (ToolCall("c1", "login", {"user": "ann", "password": "correct horse"}),))
    )
    trace.entries.append(Entry(maker="model"))
    (removed,) = export(trace, "native").removed
    assert removed.where == "messages[1].tool_calls[0].function.arguments.password"
    assert (removed.message, removed.kind, removed.length) == (2, "password", len("correct horse"))


def test_an_exact_value_is_taken_out_too() -> None:
    exported = export(made("the word is plaintextvalue"), "markdown", secrets=["plaintextvalue"])
    assert b"plaintextvalue" not in exported.data
    assert [item.length for item in exported.removed] == [14]


@pytest.mark.parametrize("format", formats())
def test_an_empty_trace_and_odd_text_can_be_exported(format: str) -> None:
    assert bytes_of(export(Trace(trace_id="t1"), format)).decode()
    assert bytes_of(export(made(*HOSTILE), format)).decode()


@pytest.mark.parametrize("format", formats())
def test_the_same_trace_gives_the_same_bytes(format: str, trace: Trace) -> None:
    assert export(trace, format).data == export(trace, format).data


def test_an_unknown_format_is_refused_by_a_sentence(trace: Trace) -> None:
    with pytest.raises(InputError, match="choose one of native"):
        export(trace, "exe")


@pytest.mark.parametrize("title", ["../../etc/passwd", "con", "a/b\\c:d", "", "名前 <x>", "." * 300])
def test_a_file_name_leads_nowhere(title: str) -> None:
    name = file_name(made(title=title), ".json")
    assert re.fullmatch(r"[\w-]{1,130}\.json", name)
    assert "-" in name


# -- those that programs read --------------------------------------------------------------------------------------


def test_native_reads_back_as_the_same_trace(trace: Trace) -> None:
    (again,) = open_trace(export(trace, "native").data)
    assert again == trace


def test_a_check_that_says_nothing_reads_back() -> None:
    trace = made("x")
    trace.outcome.evidence = [Evidence(check="grader", ok=None, detail="no answer")]
    (again,) = open_trace(export(trace, "native").data)
    assert again == trace


def test_native_is_strict_json() -> None:
    trace = made("x", config={"temperature": float("nan")})
    data = json.loads(export(trace, "native").data, parse_constant=lambda name: pytest.fail(name))
    assert data["config"]["temperature"] is None


def test_openai_messages_are_those_of_the_run(trace: Trace) -> None:
    body = json.loads(export(trace, "openai").data)
    assert body["messages"] == [message.to_dict() for message in trace.messages]
    assert body["tools"] == trace.tools


def broken() -> Trace:
    """Everything that a provider would refuse, in one trace."""
    calls = (ToolCall("", "a tool!", {}), ToolCall("", "b", {}), ToolCall("x", "c", {}, "{oops", "not JSON"))
    messages = [
        Message("tool", "nobody asked", tool_call_id="zz"),
        Message("exit", None),
        Message("ai", None, calls, extra={"reasoning_content": "hm"}),
        Message("user", "in between"),
        Message("tool", [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}], tool_call_id="2"),
        Message("assistant", None),
    ]
    runs = [
        ToolRun(tool_call_id=id, name=n, message=m) for id, n, m in (("1", "a", None), ("2", "b", 4), ("x", "c", None))
    ]
    return Trace(
        trace_id="t1",
        messages=messages,
        entries=[Entry(maker="model") for _ in messages],
        steps=[TraceStep(index=1, reply=2, tools=runs), TraceStep(index=2, reply=None)],
    )


def test_openai_messages_of_a_broken_trace_can_be_sent() -> None:
    exported = export(broken(), "openai")
    body = json.loads(exported.data)
    messages = [Message.from_dict(message) for message in body["messages"]]
    assert violations(messages) == []
    assert [message.role for message in messages] == ["user", "assistant", "tool", "tool", "tool", "user", "assistant"]
    assert messages[3].text == "[image/png, 3 B]"
    assert {"1 result without a call: left out", '2 calls without a result: answered with "interrupted"'} <= {
        *exported.lost
    }
    for call in body["messages"][1]["tool_calls"]:
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", call["function"]["name"])
        json.loads(call["function"]["arguments"])


def atif_shape(data: dict[str, Any]) -> None:
    """What a program can check of the format: closed objects, numbered steps, results of this step's calls."""
    assert data["schema_version"] == "ATIF-v1.7"
    assert {"name", "version"} <= data["agent"].keys()
    for number, step in enumerate(data["steps"], 1):
        assert step["step_id"] == number
        assert step["source"] in ("system", "user", "agent")
        assert isinstance(step["message"], (str, list))
        own = {"step_id", "timestamp", "source", "message", "observation", "extra"}
        only_agent = {"model_name", "reasoning_content", "tool_calls", "metrics"}
        assert step.keys() <= (own | only_agent if step["source"] == "agent" else own)
        ids = {call["tool_call_id"] for call in step.get("tool_calls", ())}
        for call in step.get("tool_calls", ()):
            assert isinstance(call["arguments"], dict)
        for result in step.get("observation", {}).get("results", ()):
            assert result.keys() <= {"source_call_id", "content", "subagent_trajectory_ref", "extra"}
            assert "source_call_id" not in result or result["source_call_id"] in ids
        known = {"prompt_tokens", "completion_tokens", "cached_tokens", "cost_usd", "extra"}
        assert step.get("metrics", {}).keys() <= known


def test_atif_holds_results_beside_their_calls(trace: Trace) -> None:
    data = json.loads(export(trace, "atif").data)
    atif_shape(data)
    assert [step["source"] for step in data["steps"]] == ["system", "user", "agent", "agent"]
    asks = data["steps"][2]
    assert asks["tool_calls"][0]["arguments"] == {"a": 2, "b": 3}
    assert asks["observation"]["results"][0]["content"] == "5"
    assert asks["metrics"]["prompt_tokens"] == 100
    assert data["final_metrics"]["total_prompt_tokens"] == 230


def test_atif_of_a_broken_trace_keeps_the_shape() -> None:
    exported = export(broken(), "atif")
    atif_shape(json.loads(exported.data))
    assert "1 call of the model without an answer: left out" in exported.lost


def test_atif_reads_back_with_the_same_counts(trace: Trace) -> None:
    (again,) = open_trace(export(trace, "atif").data)
    mine, theirs = summarise(trace), summarise(again)
    for name in ("messages", "roles", "steps", "tool_calls", "tool_results", "unpaired_calls", "orphan_results"):
        assert getattr(theirs, name) == getattr(mine, name), name
    assert (theirs.tokens.prompt_tokens, theirs.tokens.cached_tokens) == (230, 40)


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "＝1", "\n=1"])
def test_a_formula_becomes_text(text: str) -> None:
    assert safe_cell(text) == f"'{text}"


def test_plain_cells_stay_as_they_are() -> None:
    assert [safe_cell(value) for value in ("a=b", "", None, -1.5, True)] == ["a=b", "", None, -1.5, True]


def test_csv_has_every_text_in_full(trace: Trace) -> None:
    trace.messages.append(Message("user", "x" * 5000 + '\n"quoted", 东\0'))
    trace.entries.append(Entry(maker="user"))
    rows = list(csv.DictReader(io.StringIO(export(trace, "csv").data.decode("utf-8-sig"))))
    assert [row["role"] for row in rows] == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert rows[5]["text"] == "x" * 5000 + '\n"quoted", 东\ufffd'
    assert (rows[2]["prompt_tokens"], rows[2]["cached_tokens"], rows[3]["tool"], rows[3]["ok"]) == (
        "100",
        "40",
        "add",
        "True",
    )
    assert rows[0]["prompt_tokens"] == "", "not reported is empty, never 0"


def test_a_table_of_other_rows_is_as_safe() -> None:
    assert table(["note", "=tag"], [["=x", ["a"]]]).decode("utf-8-sig") == 'note,\'=tag\r\n\'=x,"[""a""]"\r\n'


# -- those that people read ----------------------------------------------------------------------------------------


def outside_of_code(text: str) -> str:
    """What a Markdown reader would take as more than code, by the rules of CommonMark for fences and code spans."""
    kept, fence = [], ""
    for line in text.split("\n"):
        run = re.match(r" {0,3}(`{3,})\s*\Z", line)
        if fence:
            if run and len(run[1]) >= len(fence):
                fence = ""
        elif run:
            fence = run[1]
        else:
            kept.append(re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", line))
    assert not fence
    return "\n".join(kept)


@pytest.mark.parametrize("text", HOSTILE)
def test_text_in_a_transcript_is_never_more_than_code(text: str) -> None:
    trace = made(text, title=text)
    trace.messages.append(Message("assistant", text, (ToolCall(text, text, {"a": text}),), extra={"reasoning": text}))
    trace.entries.append(Entry(maker=text, at=text, agent=text))
    outside = outside_of_code(export(trace, "markdown").data.decode())
    assert not re.search(r"[<>!\[\]]|evil|alert|out of the fence", outside)


@given(st.text(alphabet="`\n ~<a", max_size=40))
@settings(max_examples=200, deadline=None)
def test_no_run_of_ticks_ends_its_block(text: str) -> None:
    outside = outside_of_code(export(made(text, title=text), "markdown").data.decode())
    assert "<" not in outside
    assert "~" not in outside


def test_a_notebook_runs_with_pandas_and_prints_what_it_shows(trace: Trace, capsys: pytest.CaptureFixture[str]) -> None:
    notebook = json.loads(export(trace, "notebook").data)
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    known: dict[str, Any] = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), known)
            stored = "".join(line for output in cell["outputs"] for line in output["text"])
            assert capsys.readouterr().out == stored
    assert set(re.findall(r"^import (\w+)", "".join(notebook["cells"][1]["source"]), re.M)) == {"json", "pandas"}


def test_a_notebook_shows_plain_text_alone() -> None:
    notebook = json.loads(export(made(*HOSTILE), "notebook").data)
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", ())]
    assert {output["output_type"] for output in outputs} == {"stream"}
    assert "\x1b" not in json.dumps(outputs, ensure_ascii=False)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            assert "<" not in outside_of_code("".join(cell["source"]))


def test_a_page_holds_nothing_active_of_the_trace() -> None:
    page = export(made(*HOSTILE, title=HOSTILE[1]), "html").data.decode()
    assert page.count("<script") == 2
    assert page.count("</script>") == 2
    assert "<img" not in page
    assert "default-src 'none'" in page


def test_a_page_shows_images_of_safe_types_only() -> None:
    pixel = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(20)).decode()
    urls = [
        f"data:image/png;base64,{pixel}",
        "data:image/svg+xml;base64,PHN2Zy8+PHN2Zy8+PHN2Zy8+",
        "https://evil.test/a.png",
        "javascript:x",
    ]
    trace = made("x")
    trace.messages[0] = Message("user", [{"type": "image_url", "image_url": {"url": url}} for url in urls])
    exported = export(trace, "html")
    data = re.search(r'id="data">(.*?)</script>', exported.data.decode(), re.S)
    assert data is not None
    assert json.loads(data[1])["messages"][0]["images"] == urls[:1]
    assert len(exported.lost) == 1


# -- whatever a reader made ----------------------------------------------------------------------------------------

TEXT = st.one_of(st.none(), st.text(max_size=8), st.sampled_from(HOSTILE))
CALLS = st.lists(st.builds(ToolCall, st.sampled_from(["", "a", "b"]), st.text(max_size=4)), max_size=3)
PARTS = st.lists(st.sampled_from([{"type": "text", "text": "hi"}, {"type": "image_url"}, {"x": [1]}]), max_size=2)
MESSAGES = st.lists(
    st.builds(
        Message,
        st.sampled_from(["system", "user", "assistant", "tool", "ai", "odd"]),
        st.one_of(TEXT, PARTS),
        CALLS,
        st.sampled_from([None, "", "a", "b"]),
    ),
    max_size=6,
)


@given(MESSAGES, st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=4))
@settings(max_examples=150, deadline=None)
def test_every_trace_can_be_exported_in_every_form(messages: list[Message], pairs: list[tuple[int, int]]) -> None:
    trace = Trace(trace_id="t1", source=Source(kind="import"), messages=messages)
    trace.entries = [Entry(maker="user") for _ in messages]
    last = len(messages)
    for index, (reply, result) in enumerate(pairs if messages else [], 1):
        run = ToolRun(tool_call_id="a", name="a", message=result if result < last else None)
        request = Request(upto=last)
        usage = Usage(prompt_tokens=1)
        trace.steps.append(
            TraceStep(index=index, reply=reply if reply < last else None, tools=[run], request=request, usage=usage)
        )
    for format in formats():
        assert export(trace, format).data
    sent = [Message.from_dict(data) for data in json.loads(export(trace, "openai").data)["messages"]]
    assert violations(sent) == []
    atif_shape(json.loads(export(trace, "atif").data))


def test_every_bundled_trace_reads_back() -> None:
    for path in sorted(SAMPLES.glob("*.json")):
        (trace,) = open_trace(path)
        assert open_trace(export(trace, "native").data) == [trace]
        for format in formats():
            assert export(trace, format).data


# -- and back again ------------------------------------------------------------------------------------------------


def test_atif_reads_back_with_all_its_numbers() -> None:
    trace = made("go", "fine")
    trace.messages[1] = Message("assistant", "fine")
    usage = Usage(120, 30, 150, cached_tokens=80, cache_write_tokens=20, reasoning_tokens=10)
    trace.steps = [TraceStep(index=1, reply=1, usage=usage, latency_ms=900.0, first_token_ms=200.0)]
    (again,) = open_trace(export(trace, "atif").data)
    assert again.steps[0].usage == usage
    assert (again.steps[0].latency_ms, again.steps[0].first_token_ms) == (900.0, 200.0)


def test_a_result_without_a_call_comes_back_from_atif_as_one_message() -> None:
    trace = made("go", "found")
    trace.messages[1] = Message("tool", "found", tool_call_id="lost")
    (again,) = open_trace(export(trace, "atif").data)
    assert [message.text for message in again.messages] == ["go", "found"]


def test_a_message_list_offers_no_tools_that_others_do_not_have() -> None:
    trace = made("go")
    function = {"type": "function", "function": {"name": "add", "parameters": {}}}
    trace.tools = [function, {"type": "code_execution_20250522", "name": "code_execution"}]
    exported = export(trace, "openai")
    assert json.loads(exported.data)["tools"] == [function]
    assert "1 tool run by the provider: left out" in exported.lost
