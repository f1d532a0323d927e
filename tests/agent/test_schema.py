import json

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.errors import ArgumentError, ToolDefinitionError
from agent.schema import RECURSION_DEPTH, ArgumentSchema, portable

SHOP = {
    "type": "object",
    "properties": {
        "count": {"type": "integer", "minimum": 1},
        "price": {"type": ["number", "null"]},
        "gift": {"type": "boolean"},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}},
        "box": {"type": "object", "properties": {"width": {"type": "integer"}}, "required": ["width"]},
        "either": {"oneOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]},
        "name": {"type": "string"},
    },
    "required": ["count"],
    "additionalProperties": False,
}
shop = ArgumentSchema(SHOP)


@pytest.mark.parametrize(
    ("sent", "taken"),
    [
        ({"count": 2}, {"count": 2}),
        ({"count": "2"}, {"count": 2}),
        ({"count": 1, "price": "1.5"}, {"count": 1, "price": 1.5}),
        ({"count": 1, "price": "null"}, {"count": 1, "price": None}),
        ({"count": 1, "gift": "False"}, {"count": 1, "gift": False}),
        ({"count": 1, "gift": "true"}, {"count": 1, "gift": True}),
        ({"count": 1, "tags": '["a"]'}, {"count": 1, "tags": ["a"]}),
        ({"count": 1, "box": '{"width": "3"}'}, {"count": 1, "box": {"width": 3}}),
        ({"count": 1, "either": "[1]"}, {"count": 1, "either": [1]}),
        ({"count": 1, "name": "5"}, {"count": 1, "name": "5"}),
    ],
)
def test_a_string_is_read_only_where_the_schema_wants_another_type(sent, taken):
    before = json.dumps(sent)
    assert shop.check(sent) == taken
    assert json.dumps(sent) == before


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({}, "count is missing"),
        ({"count": "two"}, "count takes"),
        ({"count": "2.5"}, "count takes"),
        ({"count": 0}, "minimum of 1"),
        ({"count": "0"}, "minimum of 1"),
        ({"count": True}, '"integer"'),
        ({"count": 1, "gift": "yes"}, '"boolean"'),
        ({"count": 1, "gift": 0}, '"boolean"'),
        ({"count": 1, "name": 5}, '"string"'),
        ({"count": 1, "price": "NaN"}, "price"),
        ({"count": 1, "price": "Infinity"}, "price"),
        ({"count": 1, "tags": ["c"]}, 'tags[0]: "c" is not one of "a" or "b"'),
        ({"count": 1, "tags": "a, b"}, '"array"'),
        ({"count": 1, "box": {}}, "box.width is missing"),
        ({"count": 1, "box": {"width": "wide"}}, "box.width"),
        ({"count": 1, "colour": "red"}, "unknown parameter 'colour'; the parameters are count, price"),
    ],
)
def test_what_does_not_fit_is_named(sent, said):
    with pytest.raises(ArgumentError, match=r"^wrong arguments: ") as caught:
        shop.check(sent)
    assert said in str(caught.value)


def test_an_error_does_not_repeat_a_large_argument():
    with pytest.raises(ArgumentError) as caught:
        shop.check({"count": "x" * 100_000})
    assert len(str(caught.value)) < 1_000


def test_references_inside_a_hand_written_schema_work_and_others_are_never_fetched():
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}, "additionalProperties": False}
    schema = {"type": "object", "properties": {"head": {"$ref": "#/$defs/node"}}, "$defs": {"node": node}}
    checked = ArgumentSchema(schema)
    assert checked.check({"head": {"next": {"next": {}}}})
    with pytest.raises(ArgumentError):
        checked.check({"head": {"next": {"last": {}}}})
    with pytest.raises(ToolDefinitionError, match="disabled"):
        ArgumentSchema({"type": "object", "properties": {"head": {"$ref": "http://127.0.0.1:9/node.json"}}})


def test_a_recursive_type_is_written_out_to_the_stated_depth():
    node = {"type": "object", "properties": {"name": {"type": "string"}, "next": {"$ref": "#/$defs/node"}}}
    schema = portable({"type": "object", "properties": {"head": {"$ref": "#/$defs/node"}}, "$defs": {"node": node}})
    inner = schema["properties"]["head"]
    for _ in range(RECURSION_DEPTH):
        inner = inner["properties"]["next"]
    assert inner["properties"]["next"] == {"type": "object"}
    assert "$" not in json.dumps(schema)


def test_a_schema_that_refers_to_itself_as_a_whole_ends_at_that_depth_too():
    schema = portable({"type": "object", "properties": {"next": {"$ref": "#"}, "many": {"items": [{"$ref": "#"}]}}})
    depth = 0
    while "properties" in schema:
        assert schema["properties"]["many"]["items"][0]["type"] == "object"
        schema, depth = schema["properties"]["next"], depth + 1
    assert (schema, depth) == ({"type": "object"}, RECURSION_DEPTH + 2)


def test_a_description_beside_a_reference_stays():
    schema = {
        "properties": {"p": {"$ref": "#/$defs/a~1b", "description": "mine"}},
        "$defs": {"a/b": {"type": "string"}},
    }
    assert portable(schema)["properties"]["p"] == {"type": "string", "description": "mine"}


def test_parameters_and_values_that_look_like_keywords_are_left_alone():
    schema = {
        "type": "object",
        "properties": {
            "title": {"type": "string", "title": "Title"},
            "$ref": {"type": "string"},
            "items": {"type": "array"},
            "const": {"enum": [{"title": "x", "$ref": "y"}]},
        },
    }
    assert portable(schema)["properties"] == {
        "title": {"type": "string"},
        "$ref": {"type": "string"},
        "items": {"type": "array", "items": {}},
        "const": {"enum": [{"title": "x", "$ref": "y"}]},
    }


def test_one_allowed_value_is_a_list_of_one():
    assert portable({"anyOf": [{"const": "a"}, {"const": None}]}) == {"anyOf": [{"enum": ["a"]}, {"enum": [None]}]}


leaves = st.sampled_from([{"type": "integer"}, {"type": "string"}, {"const": 1}, {"enum": ["a", 2]}, True])
schemas = st.recursive(
    leaves,
    lambda inner: (
        st.builds(lambda a: {"type": "array", "items": a}, inner)
        | st.builds(lambda a: {"anyOf": a}, st.lists(inner, min_size=1, max_size=2))
        | st.builds(
            lambda a: {"type": "array", "prefixItems": a, "maxItems": len(a)}, st.lists(inner, min_size=1, max_size=2)
        )
        | st.builds(
            lambda a: {"type": "object", "properties": a, "title": "T"}, st.dictionaries(st.text(max_size=3), inner)
        )
    ),
    max_leaves=6,
)
instances = st.recursive(
    st.sampled_from([1, 2, "a", "b", None, True, 1.5]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)


@settings(deadline=None)
@given(schemas, instances)
def test_the_portable_form_accepts_exactly_the_same_values(schema, instance):
    before = json.dumps(schema)
    written = portable(schema)
    assert jsonschema_rs.is_valid(written, instance) == jsonschema_rs.is_valid(schema, instance)
    assert json.dumps(schema) == before
