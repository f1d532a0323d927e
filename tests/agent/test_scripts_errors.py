"""Everything that can be wrong with a script is told with its file, line and place, and with what was expected."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import InputError
from agent.scripts import parse_script, yaml_source
from agent.scripts.checking import check_all
from agent.scripts.problems import MOST_TOLD, Problem
from agent.scripts.source import LARGEST, Lines


def fault(text, name="my.yaml"):
    with pytest.raises(InputError) as caught:
        parse_script(text, name)
    return str(caught.value)


KEYS = [
    ("tasks: x\nturns: [a]", "line 1, tasks: unknown key 'tasks'; did you mean 'task'?"),
    (
        "limits: {max_steps: 3}\nturns: [a]",
        "line 1, limits.max_steps: unknown key 'max_steps' here; it stands at the top of a script, beside turns",
    ),
    (
        "- text: a\n  usage:\n    prompt: 3",
        "line 3, [0].usage.prompt: unknown key 'prompt'; did you mean 'prompt_tokens'?",
    ),
    (
        "- calls:\n  - {name: add,\n     args: {}}",
        "line 3, [0].calls[0].args: unknown key 'args'; did you mean 'arguments'?",
    ),
    ("- a\n- calls:\n  - nmae: add", "line 3, [1].calls[0].nmae: unknown key 'nmae'; did you mean 'name'?"),
    ("- a\n- calls:\n  - id: c1", "line 3, [1].calls[0].name: the key 'name' is missing"),
    (
        "turns: [a]\ntools:\n  - name: look\n    resluts: [x]",
        "line 4, tools[0].resluts: unknown key 'resluts'; did you mean 'results'?",
    ),
    (
        "turns: [a]\ntools:\n  - name: look\n    results:\n      - {reslut: x}",
        "line 5, tools[0].results[0].reslut: unknown key 'reslut'; did you mean 'result'?",
    ),
    (
        "rules:\n  - {wen: {turn: 1}, text: a}\ndefault: b",
        "line 2, rules[0].wen: unknown key 'wen'; did you mean 'when'?",
    ),
    (
        "rules:\n  - when: {reslut: blank}\n    text: a\ndefault: b",
        "line 2, rules[0].when.reslut: unknown key 'reslut'; did you mean 'result'?",
    ),
    (
        "- rules:\n    - when: {not: {any: [{trun: 1}]}}\n      text: a\n  default: b",
        "line 2, [0].rules[0].when.not.any[0].trun: unknown key 'trun'; did you mean 'turn'?",
    ),
    (
        "- rules:\n    - when: {calls: {least: 1}}\n      text: a\n  default: b",
        "line 2, [0].rules[0].when.calls.least: unknown key 'least'; did you mean 'at_least'?",
    ),
    (
        "- text: a\n  error:\n    text: no\n    code: 5",
        "line 4, [0].error.code: unknown key 'code'; known are text, kind, status",
    ),
    (
        "- text: a\n  faults:\n    - {kind: tool_raises, param: {}}",
        "line 3, [0].faults[0].param: unknown key 'param'; did you mean 'params'?",
    ),
    ("limits: {repeat: 3}\nturns: [a]", "line 1, limits.repeat: unknown key 'repeat'; did you mean 'repeated_calls'?"),
    ("replay: {modes: strict}\nturns: [a]", "line 1, replay.modes: unknown key 'modes'; did you mean 'mode'?"),
]
TYPES = [
    ("<text>: 1\nturns: [a]", "line 1, <text>: unknown key '<text>'; did you mean 'context'?"),
    ("turns: a", "line 1, turns: expected a list, found 'a'"),
    ("turns: []", "line 1, turns: the list is empty"),
    ("- a\n- 5", "line 2, [1]: expected a text or a mapping, found 5"),
    ("tools: [5]\nturns: [a]", "line 1, tools[0]: expected a text or a mapping, found 5"),
    ("title: 5\nturns: [a]", "line 1, title: expected a text, found 5"),
    ("max_steps: '3'\nturns: [a]", "line 1, max_steps: expected a whole number, found '3'"),
    ("max_steps: true\nturns: [a]", "line 1, max_steps: expected a whole number, found true"),
    ("max_steps: 0\nturns: [a]", "line 1, max_steps: expected a number from 1, found 0"),
    ("seed: -1\nturns: [a]", "line 1, seed: expected a number from 0, found -1"),
    ("- {text: a, latency_ms: quick}", "line 1, [0].latency_ms: expected a number, found 'quick'"),
    ("- {text: a, latency_ms: 1e9}", "line 1, [0].latency_ms: expected a number up to 86,400,000, found 1000000000.0"),
    ("parallel: yes\nturns: [a]", "line 1, parallel: expected true or false, found 'yes'"),
    ("options: []\nturns: [a]", "line 1, options: expected a mapping, found a list"),
    ("recorded: 5\nturns: [a]", "line 1, recorded: expected a mapping, found 5"),
    ("context: {max_tokens: 0}\nturns: [a]", "line 1, context.max_tokens: expected a number from 1, found 0"),
    ("context: {}\nturns: [a]", "line 1, context.max_tokens: the key 'max_tokens' is missing"),
    ("- calls:\n  - {name: ''}", "line 2, [0].calls[0].name: expected a text that is not empty, found ''"),
    ("- calls: [{name: add, arguments: 5}]", "line 1, [0].calls[0].arguments: expected a text or a mapping, found 5"),
    (
        "turns: [a]\ntools:\n- name: two words",
        "line 3, tools[0].name: expected 1 to 64 letters a-z, A-Z, digits, _ and -, found 'two words'",
    ),
    ("protocol: jsonaction\nturns: [a]", "line 1, protocol: expected 'native' or 'json_action', found 'jsonaction'"),
    (
        "- rules: [{when: {result: gone}, text: a}]\n  default: b",
        "line 1, [0].rules[0].when.result: expected 'present', 'missing', 'blank' or 'error', found 'gone'",
    ),
    (
        "- rules: [{when: {calls: two}, text: a}]\n  default: b",
        "line 1, [0].rules[0].when.calls: expected a whole number, or a mapping with at_least or at_most, found 'two'",
    ),
    (
        "- rules: [{when: {chance: 2}, text: a}]\n  default: b",
        "line 1, [0].rules[0].when.chance: expected a number up to 1, found 2",
    ),
    ("- before: [5]\n  text: a", "line 1, [0].before[0]: expected a text or a mapping, found 5"),
    ("- before: [{content: a}]\n  text: a", "line 1, [0].before[0].role: the key 'role' is missing"),
    (
        "- before: [{role: boss, content: a}]\n  text: a",
        "line 1, [0].before[0].role: expected 'system', 'developer', 'user', 'assistant' or 'tool', found 'boss'",
    ),
    (
        "- before: [{role: user, content: 5}]\n  text: a",
        "line 1, [0].before[0].content: expected a text or a list of parts, found 5",
    ),
    ("- message: {tool_calls: 5}", "line 1, [0].message.tool_calls: expected a list, found 5"),
    ("- message: {role: user}", "line 1, [0].message.role: expected 'assistant', found 'user'"),
    ("- raw: {role: user, content: a}", "line 1, [0].raw.role: expected 'assistant', found 'user'"),
    ("- faults: [5]\n  text: a", "line 1, [0].faults[0]: expected a text or a mapping, found 5"),
]
EMPTY = "an empty condition always holds: leave out the rule, or make what it says the default"
MEANINGS = [
    ("just words", "a script is a mapping with the key turns, or a list of turns; found 'just words'"),
    ("", "a script is a mapping with the key turns, or a list of turns; found nothing"),
    ("task: x", "the key 'turns' is missing: what the model says, one turn after the other"),
    (
        "- usage: {}",
        "line 1, [0]: a turn needs a text or calls; for an empty answer write text: ''",
    ),
    ("tools: [ad]\nturns: [a]", "line 1, tools[0]: there is no tool 'ad' in the toolbox; did you mean 'add'?"),
    ("tools: [add, add]\nturns: [a]", "line 1, tools[1]: there is already a tool called 'add'"),
    ("tools:\n- add\n- {name: add}\nturns: [a]", "line 3, tools[1].name: there is already a tool called 'add'"),
    (
        "- calls:\n  - {name: add, id: c1}\n  - {name: add, id: c1}",
        "line 3, [0].calls[1].id: the id 'c1' stands twice in this turn",
    ),
    (
        "- rules:\n  - {when: {turn: 1}, calls: [{name: f, id: c, result: 1}]}\n  default: {calls: [{name: f, id: c}]}",
        "line 3, [0].default.calls[0].id: the same call with the id 'c' has another answer in a rule above: "
        "give it another id",
    ),
    (
        "- rules:\n  - {when: {turn: 1}, text: a}",
        "line 1, [0].rules: rules need a default beside them: what is said where none of them holds",
    ),
    ("- default: a", "line 1, [0].default: a default needs rules beside it"),
    (
        "rules:\n- {when: {turn: 1}, text: a}",
        "line 1, rules: rules need a default beside them: what is said where none of them holds",
    ),
    (
        "turns: [a]\nrules: [{when: {turn: 1}, text: a}]\ndefault: b",
        "line 2, rules: give turns or rules, not both; a turn may hold rules of its own",
    ),
    (
        "- rules: [{when: {}, text: a}]\n  default: b",
        f"line 1, [0].rules[0].when: {EMPTY}",
    ),
    (
        "- rules: [{when: {result: null}, text: a}]\n  default: b",
        f"line 1, [0].rules[0].when: {EMPTY}",
    ),
    (
        "- rules: [{when: {tool: add, turn: 2}, text: a}]\n  default: b",
        "line 1, [0].rules[0].when.tool: "
        "tool says only whose results and calls are meant: add result, contains or calls",
    ),
    (
        "- rules: [{when: {calls: {}}, text: a}]\n  default: b",
        "line 1, [0].rules[0].when.calls: give a whole number, or at_least, at_most or both",
    ),
    (
        "- rules: [{when: {calls: {at_least: 3, at_most: 2}}, text: a}]\n  default: b",
        "line 1, [0].rules[0].when.calls.at_least: no number is at least 3 and at most 2",
    ),
    (
        "- text: c\n  rules: [{when: {turn: 1}, text: a}]\n  default: b",
        "line 1, [0].text: a turn with rules says nothing itself: put text into a rule or the default",
    ),
    (
        "- text: a\n  faults:\n  - cut_off_reply",
        "line 3, [0].faults[0].kind: cut_off_reply cannot strike after a reply: write the turn as it should come",
    ),
    (
        "- text: a\n  faults: [tool_raised]",
        "line 2, [0].faults[0].kind: there is no fault 'tool_raised'; did you mean 'tool_raises'?",
    ),
    (
        "- text: a\n  faults: [{kind: tool_times_out, params: {timeout_s: 0}}]",
        "line 2, [0].faults[0].params: timeout_s of the fault tool_times_out must be a number from 0.01 to 60, not 0",
    ),
    ("- {text: a, raw: {content: b}}", "line 1, [0].text: raw is the whole turn and cannot stand beside text"),
    (
        "- {error: no, faults: [tool_raises]}",
        "line 1, [0].faults: a call that fails gives no reply that a fault could strike after",
    ),
    ("- {error: no, raw: {content: b}}", "line 1, [0].error: raw is the whole turn and cannot stand beside error"),
    (
        "- calls: [{name: add, result: 1, error: no}]",
        "line 1, [0].calls[0].error: a tool answers with a result or with an error, not with both",
    ),
    (
        "- calls: [{name: add, error: no, ok: true}]",
        "line 1, [0].calls[0].ok: an error is never ok: leave out one of the two",
    ),
    (
        "- calls: [{name: add, took_ms: 5}]",
        "line 1, [0].calls[0].took_ms: took_ms belongs to a written answer: add a result or an error",
    ),
    (
        "- calls: [{name: add, result: 5, retryable: true}]",
        "line 1, [0].calls[0].retryable: only a failure can be retryable: give an error, or ok: false",
    ),
    (
        "tools: [{name: look, results: [{arguments: {}}]}]\nturns: [a]",
        "line 1, tools[0].results[0]: an answer of a tool needs a result or an error",
    ),
    (
        "- {text: a, results: [b]}",
        "line 1, [0].results: results stand beside message or raw; of calls each one holds its own result",
    ),
    (
        "- raw: {tool_calls: [{function: {name: add}}]}\n  results:\n  - a\n  - b",
        "line 4, [0].results[1]: there are 2 results for 1 call",
    ),
    (
        "task: x\nuser: [y]\nturns: [a]",
        "line 2, user: give the user's words as task (one message) or as user (several), not as both",
    ),
    (
        "protocol: json_action\nturns:\n- message: {content: a,\n    tool_calls: [{id: c}]}",
        "line 4, turns[0].message.tool_calls: under json_action a call is written in the text of the turn",
    ),
    (
        "protocol: json_action\nturns:\n- calls: [{name: add}]",
        "line 3, turns[0].calls: under json_action a call is written in the text of the turn",
    ),
    (
        "evidence: [{}]\nturns: [a]",
        "line 1, evidence[0]: a check needs exactly one of the keys answer_contains, tool_succeeded",
    ),
    (
        "turns: [a]\nlimits:\n  repeated_calls: 1",
        "line 3, limits.repeated_calls: repeated_calls must be a whole number from 2, or None for no limit, not 1",
    ),
]
YAML = [
    ("turns:\n\t- a", "line 2: a tab stands where only blanks may: indent with blanks"),
    ("task: a: b\nturns: [a]", "line 1: a colon and a blank stand inside a text: put the whole text in quotes"),
    ("turns:\n  - a\n - b", "line 3: the line is not indented as those above it"),
    ("task: x\nturns\nseed: 1", "line 3: a line is neither a key with a colon nor an entry of a list"),
    ("task: x\nsystem: 'y\nturns: [a]", "line 2: a quote is opened here and never closed"),
    ("turns: [a\ntask: x", "line 2: expected ',' or ']', but got ':'"),
    ("turns: [a]\n---\nturns: [b]", "line 2: expected a single document in the stream, but found another document"),
    ("turns: [a]\nturns: [b]", "line 2: the key 'turns' stands twice"),
    ("turns: &a [x]\nuser: *a", "line 2: aliases (*name) are not allowed"),
    ("turns: &a [*a]", "line 1: aliases (*name) are not allowed"),
    ("!!python/object/apply:os.system ['true']", "line 1: tags (!name) are not allowed"),
    ("- a\n- calls: [{name: t, arguments: {d: !!timestamp 2026}}]", "line 2: tags (!name) are not allowed"),
    ("seed: " + "1" * 5000, "line 1: '1111111111111111111111111111111111111111' cannot be read as a number"),
    ("? [a]\n: b", "line 1: a key must be a text"),
    ("turns: [a]\ntask: \x00", "line 2: the character U+0000 cannot stand in it as it is"),
    ("task: \ud800\nturns: [a]", "line 1: the character U+D800 cannot stand in it as it is"),
    ("options:\n  a: " + "[" * 200 + "]" * 200, "line 2: nested too deeply: 100 levels are allowed"),
    ("[" * 5000, "line 1: nested too deeply: 100 levels are allowed"),
    ("- a\n- " + "[" * 990 + "]" * 990, "line 2: nested too deeply: 100 levels are allowed"),
    ("- a\n- calls: [{name: t, arguments: {n: -1e999}}]", "line 2: -1e999 is too large a number"),
    ("- " * 100_000, "line 1: nested too deeply: 100 levels are allowed"),
]  # fmt: skip
JSON = [
    ('{"turns": ["a', "line 1: Unterminated string starting"),
    ('{"turns": [\n"a",\n]}', "line 3: Expecting value"),
    ('{"turns": ["a"],\n "task": "x",\n "turns": []}', "line 3: the key 'turns' stands twice"),
    ('["a",\n{"text": "b", "text": "\\"NaN"}]', "line 2: the key 'text' stands twice"),
    ('{"task": "NaN",\n "seed": NaN}', "line 2: NaN is not a number of JSON"),
    ('{"task": "1e999",\n "options": {"n": 1e999}}', "line 2: 1e999 is too large a number"),
    ('{"task": "[",\n"x": ' + "[" * 500 + "]" * 500 + "}", "line 2: nested too deeply: 100 levels are allowed"),
    ("[" * 100_000, "line 1: nested too deeply: 100 levels are allowed"),
    ('{"seed": ' + "1" * 5000 + "}", "line 1: a number has too many digits"),
    ("turns: [a]", "line 1: Expecting value"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), [*KEYS, *TYPES, *MEANINGS])
def test_a_mistake_is_told_with_its_line_its_place_and_what_was_expected(text, expected):
    assert fault(text) in (f"my.yaml, {expected}", f"my.yaml: {expected}")


@pytest.mark.parametrize(("text", "expected"), YAML)
def test_what_is_no_yaml_is_told_with_its_line(text, expected):
    line, _, sentence = expected.partition(": ")
    assert fault(text) == f"my.yaml, {line}: this is not valid YAML: {sentence}"


@pytest.mark.parametrize(("text", "expected"), JSON)
def test_what_is_no_json_is_told_with_its_line(text, expected):
    line, _, sentence = expected.partition(": ")
    assert fault(text, "my.json") == f"my.json, {line}: this is not valid JSON: {sentence}"


@pytest.mark.parametrize("name", ["my.json", "my.yaml"])
def test_a_mistake_in_json_is_told_with_its_line_too(name):
    text = '{"turns":\n ["a", {"text": "b",\n\t"usge": {}}]}'
    assert fault(text, name) == f"{name}, line 3, turns[1].usge: unknown key 'usge'; did you mean 'usage'?"


def test_where_no_known_key_is_near_all_of_them_are_named():
    text = fault("zzz: 1\nturns: [a]")
    assert text.startswith("my.yaml, line 1, zzz: unknown key 'zzz'; known are title, title_zh, summary, summary_zh,")


def test_a_mistake_in_a_recording_is_told_with_its_place():
    assert fault("turns: [a]\nrecorded:\n  messages: 5").startswith("my.yaml, line 2, recorded: ")


def test_a_text_that_is_no_script_by_its_size_is_refused():
    words = "a script may have 1,000,000 characters, this file has 1,000,001"
    more = "a longer one can be kept as JSON, in a file whose name ends with .json"
    assert fault("#" * (LARGEST + 1)) == f"my.yaml: {words}; {more}"
    long = json.dumps([{"text": "x" * LARGEST}])
    assert len(parse_script(long, "my.yaml").turns[0].said.reply.message.text) == LARGEST, "JSON may be longer"


SEVERAL = """\
tasks: x
tools: [add, subtrac]
turns:
  - text: a
    latency: 5
  - calls:
      - {nmae: add}
"""


def test_all_mistakes_are_told_at_once_in_their_order():
    assert check_all(SEVERAL) == [
        Problem(1, "tasks", "unknown key 'tasks'; did you mean 'task'?"),
        Problem(5, "turns[0].latency", "unknown key 'latency'; did you mean 'latency_ms'?"),
        Problem(7, "turns[1].calls[0].nmae", "unknown key 'nmae'; did you mean 'name'?"),
    ]
    assert fault(SEVERAL) == "my.yaml, line 1, tasks: unknown key 'tasks'; did you mean 'task'? (and 2 more)"
    put_right = SEVERAL.replace("tasks", "task").replace("latency", "latency_ms").replace("nmae", "name")
    assert check_all(put_right) == [
        Problem(2, "tools[1]", "there is no tool 'subtrac' in the toolbox; did you mean 'subtract'?")
    ]
    assert check_all(put_right.replace("subtrac", "subtract")) == []


MANY = ["turns:\n" + "- {txt: a}\n" * 3000, "turns: [a]\ntools:\n" + "".join(f"- t{n}\n" for n in range(3000))]


@pytest.mark.parametrize("text", MANY, ids=["keys", "tools"])
def test_of_very_many_mistakes_only_the_first_are_told(text):
    *told, last = check_all(text)
    assert (len(told), last) == (MOST_TOLD, Problem(None, "", "2,900 more mistakes are not listed"))
    assert fault(text).endswith(" (and 2999 more)")


def test_a_text_that_cannot_be_read_is_one_problem():
    assert check_all("turns:\n  - a\n\t- b") == [
        Problem(3, "", "this is not valid YAML: a tab stands where only blanks may: indent with blanks")
    ]


def test_a_line_is_told_where_half_a_character_stands_elsewhere():
    assert fault('task: "\\ud800"\nturns:\n  - {txt: a}').startswith("my.yaml, line 3, turns[0].txt: unknown key")


def test_lines_are_told_without_the_library_in_c(monkeypatch):
    monkeypatch.setattr(yaml_source, "_QUICK", yaml_source._CAREFUL)
    assert fault("task: x\nturns:\n  - {txt: a}").startswith("my.yaml, line 3, turns[0].txt: unknown key")


def test_the_lines_of_many_places_are_found_in_one_reading():
    count = 4000
    text = "[" + ",\n".join('{"text": "x", "usage": {"prompt_tokens": 1}}' for _ in range(count)) + "]"
    lines = Lines(text, "x")
    started = time.perf_counter()
    assert [lines.line_of([at, "usage", "prompt_tokens"]) for at in range(count)] == list(range(1, count + 1))
    assert time.perf_counter() - started < 5  # the whole text anew for each place would take minutes


def test_lines_are_found_in_long_json():
    turns = [{"text": "x" * 100, "usage": {"prompt_tokens": n}} for n in range(20_000)]
    text = json.dumps({"turns": turns}, indent=1)
    assert len(text) > LARGEST
    (line,) = (n for n, words in enumerate(text.splitlines(), 1) if '"prompt_tokens": 15000' in words)
    assert Lines(text, "x").line_of(["turns", 15_000, "usage", "prompt_tokens"]) == line


_NAMES = (
    "turns", "tools", "text", "calls", "name", "arguments", "usage", "limits", "user", "evidence", "rules", "when",
    "default", "not", "any", "result", "results", "message", "raw", "before", "role", "content", "tool_calls", "error",
    "faults", "kind", "params", "recorded", "replay", "options", "repeat", "id", "policy", "context",
)  # fmt: skip
_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=6)
    | st.sampled_from(_NAMES),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(_NAMES) | st.text(max_size=3), inner, max_size=4)
        | st.fixed_dictionaries({"turns": st.lists(st.dictionaries(st.sampled_from(_NAMES), inner, max_size=3))})
    ),
    max_leaves=16,
)


@given(_JSON)
def test_whatever_the_data_the_answer_is_a_script_or_an_input_error(data):
    text = json.dumps(data)
    problems = check_all(text, "any.json")
    try:
        parse_script(text, "any.json")
    except InputError as error:
        assert str(error).startswith(problems[0].told("any.json"))
    else:
        assert problems == []
