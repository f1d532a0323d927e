"""A tool and the registry: what is refused when one is made, how it is found, and what a call of it gives."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.errors import ToolDefinitionError
from agent.messages import ToolCall
from agent.tools import RunContext, Tool, ToolRegistry, tool

TWO_INTEGERS = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
}


def by_hand(func, parameters=TWO_INTEGERS, name="add", **options):
    return Tool(name=name, description="Add two numbers.", parameters=parameters, func=func, **options)


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def ask(registry, name, arguments=None):
    return json.loads(registry.call(ToolCall("c1", name, arguments or {})))


def test_a_tool_shows_itself_in_openai_form():
    assert by_hand(add).schema() == {
        "type": "function",
        "function": {"name": "add", "description": "Add two numbers.", "parameters": TWO_INTEGERS},
    }


@pytest.mark.parametrize("made", [by_hand(add), tool(add)], ids=["by hand", "from the signature"])
def test_a_call_gives_the_result_as_text(made):
    assert ToolRegistry([made]).call(ToolCall("c1", "add", {"a": 2, "b": 3})) == "5"


@pytest.mark.parametrize("made", [by_hand(add), tool(add)], ids=["by hand", "from the signature"])
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"a": 1}, "b is missing"),
        ({"a": 1, "b": "x"}, "b takes"),
        ({"a": 1, "b": 2, "c": 3}, "'c'"),
        ({"a": True, "b": 2}, "a takes"),
        ([1, 2], "must be a JSON object"),
        (7, "must be a JSON object"),
        ({"a": float("nan"), "b": 1}, "a takes"),
    ],
)
def test_wrong_arguments_are_an_error_that_the_model_can_correct(made, arguments, words):
    answer = json.loads(ToolRegistry([made]).call(ToolCall("c1", "add", arguments)))
    assert words in answer["error"]
    assert answer["retryable"] is True


@pytest.mark.parametrize("made", [by_hand(add), tool(add)], ids=["by hand", "from the signature"])
def test_strings_that_spell_a_number_are_taken_for_it(made):
    assert ask(ToolRegistry([made]), "add", {"a": "2", "b": " 3 "}) == 5


def test_an_unknown_tool_is_answered_with_the_names_that_exist():
    answer = ask(ToolRegistry([add, by_hand(add, name="plus")]), "multi_tool_use.parallel", {"tool_uses": []})
    assert "multi_tool_use.parallel" in answer["error"]
    assert "add, plus" in answer["error"]
    assert answer["retryable"] is False


@pytest.mark.parametrize("arguments", ["", " ", "\n", None, "null", "{}"])
def test_no_arguments_have_many_spellings(arguments):
    registry = ToolRegistry()

    @registry.add
    def now() -> str:
        """Tell the time."""
        return "12:00"

    registry.add(add)
    function = {"arguments": arguments}
    read = [ToolCall.from_dict({"id": "c", "function": {"name": name, **function}}) for name in ("now", "add")]
    assert registry.call(read[0]) == "12:00"
    assert "a is missing" in registry.call(read[1])


def test_a_missing_arguments_key_means_no_arguments():
    registry = ToolRegistry([tool(name="now")(lambda: "12:00")])
    assert registry.call(ToolCall.from_dict({"id": "c", "function": {"name": "now"}})) == "12:00"


def test_unreadable_arguments_are_shown_to_the_model_and_nothing_runs():
    ran = []
    registry = ToolRegistry([by_hand(lambda **values: ran.append(values))])
    call = ToolCall.from_dict({"id": "c", "function": {"name": "add", "arguments": '{"a":1}{"a":2}'}})
    assert '{"a":1}{"a":2}' in json.loads(registry.call(call))["error"]
    listed = ToolCall.from_dict({"id": "c", "function": {"name": "add", "arguments": "[1,2]"}})
    assert "array" in json.loads(registry.call(listed))["error"]
    assert ran == []


@pytest.mark.parametrize("name", ["Google Search", "fs.read", "get_/who", "天气", "x" * 80, "", "a\n"])
def test_a_name_that_hosts_refuse_is_refused_with_a_better_one(name):
    with pytest.raises(ToolDefinitionError, match=r"for example '[a-zA-Z0-9_-]{1,64}'"):
        by_hand(add, name=name)


def test_nothing_is_renamed_silently_and_no_name_is_given_twice():
    registry = ToolRegistry([by_hand(add, name="a_b")])
    with pytest.raises(ToolDefinitionError, match="'a_b'"):
        registry.add(by_hand(add, name="a b"))
    with pytest.raises(ToolDefinitionError, match="already"):
        registry.add(by_hand(add, name="a_b"))
    assert registry.names == ("a_b",)


@pytest.mark.parametrize(
    "spelling",
    [
        "read_file",
        "functions.read_file",
        "read_file<|channel|>commentary",
        "functions.read_file<|constrain|>json",
        "read_filejson",
        " read_file ",
        "functions.read_file:0",
    ],
)
def test_a_name_is_resolved_from_what_servers_leave_on_it(spelling):
    registry = ToolRegistry([by_hand(add, name="read_file"), by_hand(add, name="read")])
    assert registry.resolve(spelling).name == "read_file"


@pytest.mark.parametrize("spelling", ["Read_file", "read file", "write_file", "", "json", "<|channel|>"])
def test_a_name_is_never_guessed(spelling):
    assert ToolRegistry([by_hand(add, name="read_file")]).resolve(spelling) is None


def test_an_exact_name_wins_over_a_shortened_one():
    registry = ToolRegistry([by_hand(add, name="to"), by_hand(add, name="tojson")])
    assert registry.resolve("tojson").name == "tojson"


@pytest.mark.parametrize(
    "parameters",
    [
        {"type": "objct"},
        {"type": "array"},
        {"properties": 3},
        {"properties": {"a": {"pattern": "("}}},
        {"properties": {"a": {"$ref": "http://127.0.0.1:9/elsewhere.json"}}},
        {"properties": {"a": {"default": object()}}},
        None,
    ],
)
def test_a_broken_schema_is_refused_at_registration(parameters):
    with pytest.raises(ToolDefinitionError, match="'add'"):
        ToolRegistry().add(by_hand(add, parameters))


@pytest.mark.parametrize("timeout", [0, -1, float("inf"), float("nan"), 1e300, "5", True])
def test_a_timeout_is_a_time_that_can_be_waited_for(timeout):
    with pytest.raises(ToolDefinitionError, match=r"timeout .* seconds above 0, or None for no limit"):
        by_hand(add, timeout=timeout)


def test_something_that_cannot_be_called_is_no_tool():
    with pytest.raises(ToolDefinitionError, match="function"):
        by_hand("add")


def test_a_tool_without_parameters_still_has_an_object_schema():
    assert by_hand(add, {}).schema()["function"]["parameters"] == {"type": "object", "properties": {}}


def test_schemas_are_made_once_until_a_tool_is_added():
    registry = ToolRegistry([add])
    first = registry.schemas()
    assert registry.schemas() is first
    registry.add(by_hand(add, name="plus"))
    assert [schema["function"]["name"] for schema in registry.schemas()] == ["add", "plus"]


def test_a_registry_is_a_collection_of_its_tools():
    registry = ToolRegistry([add, by_hand(add, name="plus")])
    assert [item.name for item in registry] == ["add", "plus"]
    assert len(registry) == 2
    assert "plus" in registry
    assert "minus" not in registry
    assert ToolRegistry.of(registry) is registry
    assert ToolRegistry.of([add]).names == ("add",)
    assert ToolRegistry.of(None).names == ()


def test_a_decorated_function_is_still_a_function():
    @tool(name="plus", description="Add.", timeout=5, idempotent=False)
    def decorated(a: int, b: int) -> int:
        return a + b

    assert decorated(1, b=2) == 3
    assert (decorated.name, decorated.description, decorated.timeout, decorated.idempotent) == (
        "plus",
        "Add.",
        5,
        False,
    )


def test_parameters_called_name_or_arguments_do_not_clash_with_our_own():
    @tool
    def execute(name: str, arguments: dict, self_: int = 0, func: str = "", context: str = "") -> list:
        return [name, arguments, self_, func, context]

    sent = {"name": "n", "arguments": {"x": 1}, "self_": 2, "func": "f", "context": "c"}
    assert ask(ToolRegistry([execute]), "execute", sent) == ["n", {"x": 1}, 2, "f", "c"]
    assert execute(name="n", arguments={}, func="f") == ["n", {}, 0, "f", ""]


@pytest.mark.parametrize("how", ["by hand", "from the signature"])
def test_a_tool_gets_a_copy_of_its_arguments(how):
    def store(options: dict, names: list) -> str:
        options["_auth"] = "secret"
        options["inner"]["x"] = 2
        names.clear()
        return "done"

    schema = {"type": "object", "properties": {"options": {"type": "object"}, "names": {"type": "array"}}}
    registry = ToolRegistry([by_hand(store, schema, name="store") if how == "by hand" else store])
    call = ToolCall("c", "store", {"options": {"inner": {"x": 1}}, "names": ["a"]})
    assert registry.call(call) == "done"
    assert call.arguments == {"options": {"inner": {"x": 1}}, "names": ["a"]}


def test_a_type_error_inside_the_function_is_not_blamed_on_the_arguments():
    registry = ToolRegistry([by_hand(lambda a, b: a + None)])
    assert ask(registry, "add", {"a": 1, "b": 2})["error"].startswith("TypeError")


def test_a_schema_that_the_function_does_not_fit_gives_an_argument_error():
    registry = ToolRegistry([by_hand(lambda a: a)])
    assert ask(registry, "add", {"a": 1, "b": 2})["error"].startswith("wrong arguments: got an unexpected keyword")


def test_a_hand_written_tool_may_wrap_a_builtin():
    schema = {"type": "object", "properties": {"obj": {"type": "array"}}, "required": ["obj"]}
    registry = ToolRegistry([by_hand(len, schema, name="count")])
    assert ask(registry, "count", {"obj": [1, 2, 3]}) == 3


@pytest.mark.parametrize("how", ["by hand", "from the signature"])
def test_the_context_is_injected_and_the_model_cannot_set_it(how):
    def where(text: str, ctx: RunContext) -> str:
        return f"{text} {ctx.trace_id}/{ctx.step}/{ctx.tool_call_id}"

    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "additionalProperties": False}
    made = by_hand(where, schema, name="where") if how == "by hand" else tool(where)
    registry = ToolRegistry([made])
    context = RunContext(trace_id="t1", step=2, tool_call_id="c")
    assert list(made.schema()["function"]["parameters"]["properties"]) == ["text"]
    assert registry.run(ToolCall("c", "where", {"text": "at"}), context).text == "at t1/2/c"
    assert registry.run(ToolCall("c", "where", {"text": "at", "ctx": "mine"}), context).text == "at t1/2/c"


def test_an_optional_context_is_injected_too():
    @tool
    def where(ctx: RunContext | None = None) -> int:
        return -1 if ctx is None else ctx.step

    assert where.run({}, RunContext(step=4)).value == 4
    assert where() == -1


def test_a_tool_can_tell_how_it_goes():
    told = []

    @tool
    def work(ctx: RunContext) -> str:
        ctx.emit("tool.progress", {"done": 1})
        return "done"

    work.run({}, RunContext(emit=lambda type, payload: told.append((type, payload))))
    assert told == [("tool.progress", {"done": 1})]
    assert work.run({}).text == "done"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


everything = ToolRegistry([by_hand(lambda **values: values), tool(name="typed")(add)])


@settings(deadline=None)
@given(name=st.sampled_from(["add", "typed"]) | st.text(), arguments=json_values)
def test_a_call_never_raises_whatever_the_arguments(name, arguments):
    text = everything.call(ToolCall("c", name, arguments))
    text.encode()
    json.loads(text)


@settings(deadline=None)
@given(st.text())
def test_a_resolved_name_is_always_a_registered_one(name):
    found = everything.resolve(name)
    assert found is None or found.name in everything
