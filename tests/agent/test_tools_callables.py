"""What can be a tool beside a plain function: methods, partials, objects, wrapped and async functions."""

import asyncio
import functools

import pytest

from agent.errors import ToolDefinitionError
from agent.messages import ToolCall
from agent.tools import ToolRegistry, tool


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def ask_text(made, **arguments):
    registry = ToolRegistry([made])
    return registry.call(ToolCall("c", registry.names[0], arguments))


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
