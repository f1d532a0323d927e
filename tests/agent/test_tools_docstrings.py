import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.docstrings import read_doc
from agent.tools import tool


def documented(text):
    def function(city="", headers="", xs="", mode="", x="", y=""):
        return None

    function.__doc__ = text
    return function


UNDER_THE_SUMMARY = """Get weather.
Args:
    city: The city.
"""
AFTER_A_BLANK = """Get weather.

    Args:

        city: The city.
    """
AFTER_A_NOTE = """Get weather.

    Note:
        Be careful.
    Args:
        city: The city.
    Returns:
        Words.
    """
FIRST_THING = """Args:
        city: The city.
    """
FIRST_THING_REST = ":param city: The city."
FIRST_THING_NUMPY = """Parameters
    ----------
    city : str
        The city.
    """


@pytest.mark.parametrize(
    "text", [UNDER_THE_SUMMARY, AFTER_A_BLANK, AFTER_A_NOTE, FIRST_THING, FIRST_THING_REST, FIRST_THING_NUMPY]
)
def test_a_parameter_section_is_found_wherever_it_stands(text):
    made = tool(documented(text))
    assert made.parameters["properties"]["city"]["description"] == "The city."
    assert all(word not in made.description for word in ("Args", "city", "Returns", "---", "_"))
    assert made.description.startswith("Get weather." if "Get" in text else "")
    assert ("Be careful." in made.description) == ("Be careful." in text)


GOOGLE = """Send it.

    Args:
        headers:
            Optional dict.
        xs (list[int], optional): defaults to: a, b
            second line
        mode (Literal['a',
            'b']): one of:
            Note: pick
        nope: not a parameter
    Returns:
        x: the result
    """


def test_descriptions_are_whole_and_on_one_line():
    properties = tool(documented(GOOGLE)).parameters["properties"]
    assert {name: spec["description"] for name, spec in properties.items() if "description" in spec} == {
        "headers": "Optional dict.",
        "xs": "defaults to: a, b second line",
        "mode": "one of: Note: pick",
    }
    assert "nope" not in properties


NUMPY = """Send it.

    Longer: text.

    Parameters
    ----------
    x, y : int
        Where: on the map,
        in metres.
    city : str, optional
        The city.

    Returns
    -------
    int
        Nothing of interest.
    """
REST = """Send it.

    Longer: text.

    :param x: Where: on the map,
        in metres.
    :param int y: Where: on the map, in metres.
    :param city: The city.
    :returns: Nothing of interest.
    """


@pytest.mark.parametrize("text", [NUMPY, REST])
def test_numpy_and_rest_docstrings_say_the_same(text):
    doc = read_doc(documented(text))
    assert doc.summary == "Send it.\n\nLonger: text."
    assert doc.parameters == dict.fromkeys("xy", "Where: on the map, in metres.") | {"city": "The city."}


def test_a_function_without_a_docstring_has_no_description():
    assert tool(documented(None)).description == ""
    assert tool(description="Mine.")(documented("Theirs.")).description == "Mine."


pieces = st.sampled_from(
    ["Args:", "Returns:", "    x: a", "  y (int): b", ":param x: c", ":param", "Parameters", "---", ""]
)


@settings(deadline=None)
@given(st.lists(pieces | st.text(max_size=12)).map("\n".join))
def test_no_docstring_is_too_odd_to_read(text):
    doc = read_doc(documented(text))
    assert all("\n" not in words for words in doc.parameters.values())
