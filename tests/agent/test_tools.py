import asyncio
import functools
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.errors import ToolDefinitionError, ToolFailure
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


class Falsy(Exception):
    def __bool__(self):
        return False


class Unspeakable(Exception):
    def __str__(self):
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("error", "said", "retryable"),
    [
        (ValueError("too small"), "ValueError: too small", True),
        (KeyError("x"), "KeyError: 'x'", True),
        (RuntimeError(), "RuntimeError", True),
        (ConnectionError("refused"), "ConnectionError: refused", True),
        (FileNotFoundError("a.txt"), "FileNotFoundError: a.txt", True),
        (PermissionError("not yours"), "PermissionError: not yours", False),
        (NotImplementedError("later"), "NotImplementedError: later", False),
        (Falsy("empty"), "Falsy: empty", True),
        (Unspeakable(), "Unspeakable", True),
        (asyncio.CancelledError("gone"), "CancelledError: gone", True),
        (StopIteration(), "StopIteration", True),
        (ToolFailure("no such city: Atlantis"), "no such city: Atlantis", True),
        (ToolFailure("the shop is closed for good", retryable=False), "the shop is closed for good", False),
    ],
)
def test_an_exception_is_a_result(error, said, retryable):
    @tool
    def fail() -> str:
        raise error

    result = ToolRegistry([fail]).run(ToolCall("c", "fail"))
    assert result.value == {"error": said, "retryable": retryable}
    assert json.loads(result.text) == result.value
    assert (result.ok, result.retryable, result.timed_out) == (False, retryable, False)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_the_wish_to_end_the_program_is_no_result(error):
    @tool
    def leave() -> str:
        raise error

    with pytest.raises(error):
        ToolRegistry([leave]).call(ToolCall("c", "leave"))


def test_an_error_text_holds_no_secret_and_no_address():
    @tool
    def fetch() -> str:
        raise RuntimeError(f"401 for Authorization: Bearer sk-abcdef0123456789abcdef in {object()!r}")

    said = ToolRegistry([fetch]).call(ToolCall("c", "fetch"))
    assert "sk-abcdef" not in said
    assert "0x" not in said


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


class Shop:
    def __init__(self, name):
        self.name = name

    @tool
    def sell(self, item: str) -> str:
        """Sell something.

        Args:
            item: What to sell.
        """
        return f"{self.name} sells {item}"

    @tool
    @classmethod
    def kind(cls, item: str) -> str:
        return f"{cls.__name__} {item}"

    @classmethod
    @tool
    def kind_too(cls, item: str) -> str:
        return f"{cls.__name__} {item}"

    @tool
    @staticmethod
    def price(item: str) -> int:
        return len(item)

    @staticmethod
    @tool
    def price_too(item: str) -> int:
        return len(item)

    def plain(self, item: str) -> str:
        return f"{self.name} has {item}"


def test_each_instance_keeps_its_own_state():
    one, two = Shop("one"), Shop("two")
    assert ask_text(one.sell, item="tea") == "one sells tea"
    assert ask_text(two.sell, item="tea") == "two sells tea"
    assert one.sell("ink") == "one sells ink"
    assert ask_text(one.plain, item="ink") == "one has ink"


@pytest.mark.parametrize("name", ["sell", "kind", "kind_too", "price", "price_too", "plain"])
def test_the_receiver_of_a_method_is_no_parameter(name):
    registry = ToolRegistry([getattr(Shop("one"), name)])
    assert list(registry.schemas()[0]["function"]["parameters"]["properties"]) == ["item"]


@pytest.mark.parametrize(
    ("name", "said"), [("kind", "Shop tea"), ("kind_too", "Shop tea"), ("price", "3"), ("price_too", "3")]
)
def test_class_and_static_methods_work_from_the_class_and_from_an_instance(name, said):
    assert ask_text(getattr(Shop, name), item="tea") == said
    assert ask_text(getattr(Shop("one"), name), item="tea") == said


def ask_text(made, **arguments):
    registry = ToolRegistry([made])
    return registry.call(ToolCall("c", registry.names[0], arguments))


def test_a_method_without_its_instance_is_refused():
    assert list(Shop.sell.parameters["properties"]) == ["item"]
    with pytest.raises(ToolDefinitionError, match="instance"):
        ToolRegistry([Shop.sell])


def test_a_method_that_uses_super_can_be_a_tool():
    class Chain(Shop):
        @tool
        def plain(self, item: str) -> str:
            return super().plain(item) + " everywhere"

    assert ask_text(Chain("one").plain, item="tea") == "one has tea everywhere"


def test_a_partial_shows_only_its_free_parameters():
    def scale(factor: int, value: int, unit: str = "m") -> str:
        return f"{factor * value} {unit}"

    made = tool(functools.partial(scale, 3, unit="km"))
    assert made.name == "scale"
    assert list(made.parameters["properties"]) == ["value"]
    assert made.run({"value": 2}).text == "6 km"


def test_a_callable_object_is_a_tool():
    class Counter:
        """Count words."""

        def __init__(self):
            self.calls = 0

        def __call__(self, text: str) -> int:
            self.calls += 1
            return len(text.split())

    counter = Counter()
    made = tool(name="count")(counter)
    assert list(made.parameters["properties"]) == ["text"]
    assert (made.run({"text": "a b"}).value, counter.calls, made.description) == (2, 1, "Count words.")


def test_a_wrapped_function_keeps_its_schema_and_runs_through_the_wrapper():
    seen = []

    def logged(func):
        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            seen.append(kwargs)
            return func(*args, **kwargs)

        return wrapper

    made = tool(logged(add))
    assert made.parameters == tool(add).parameters
    assert (made.run({"a": 1, "b": 2}).value, seen) == (3, [{"a": 1, "b": 2}])


async def fetch(city: str) -> str:
    """Fetch the weather."""
    await asyncio.sleep(0)
    return f"sunny in {city}"


def wrapped_fetch(city: str):
    return fetch(city)


@pytest.mark.parametrize("made", [tool(fetch), tool(wrapped_fetch), tool(functools.partial(fetch, city="Oslo"))])
def test_an_async_function_is_a_tool(made):
    arguments = {"city": "Oslo"} if made.parameters["properties"] else {}
    assert ToolRegistry([made]).call(ToolCall("c", made.name, arguments)) == "sunny in Oslo"


@pytest.mark.parametrize("made", [tool(fetch), tool(wrapped_fetch)], ids=["async", "gives a coroutine"])
def test_an_async_tool_runs_inside_a_running_event_loop(made):
    async def caller():
        return ToolRegistry([made]).call(ToolCall("c", made.name, {"city": "Oslo"}))

    assert asyncio.run(caller()) == "sunny in Oslo"


def test_an_async_tool_that_fails_inside_a_running_loop_is_a_result():
    async def broken() -> str:
        raise ValueError("no")

    async def caller():
        return tool(name="broken")(lambda: broken()).run({})

    assert asyncio.run(caller()).value == {"error": "ValueError: no", "retryable": True}


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
