"""What the columns of a file of an unknown shape may be, guessed from the names of its keys and from what they hold.

The guess only fills in a form: a person sees what comes out of it and changes it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from traces.mapped_record import KNOWN_ROLES, role_of
from traces.mapping import Columns, conversations, value_at
from traces.readers.fields import amount, moment
from traces.repair import as_text

ROLE_WORDS = 12
"""Most words that a column of roles has; one with more holds something else."""
_LOOKED_AT = 50
_DEEPEST = 6
_KEY_DEPTH = 3
_MOST_LISTS = 200
_NAMES: dict[str, tuple[str, ...]] = {
    "role": ("role", "from", "speaker", "author", "sender", "who", "actor", "source", "type", "kind"),
    "content": (
        "content",
        "text",
        "value",
        "message",
        "body",
        "utterance",
        "msg",
        "prompt",
        "question",
        "input",
        "parts",
    ),
    "answer": ("answer", "response", "completion", "reply", "output", "generation", "llm_response", "model_output"),
    "reasoning": ("reasoning", "reasoning_content", "thinking", "thought", "thoughts", "rationale", "cot"),
    "calls": ("tool_calls", "calls", "tool_call", "function_call", "action", "actions", "tool_use"),
    "result": ("observation", "observations", "result", "tool_result", "tool_output", "env_response", "feedback"),
    "call_id": ("tool_call_id", "call_id", "tool_use_id"),
    "name": ("name", "agent", "agent_name", "tool_name"),
    "time": ("timestamp", "time", "created_at", "created", "at", "date", "datetime", "start_time", "ts"),
    "model": ("model", "model_name", "model_id"),
    "prompt_tokens": ("prompt_tokens", "input_tokens", "prompttokencount", "tokens_in"),
    "completion_tokens": ("completion_tokens", "output_tokens", "candidatestokencount", "tokens_out"),
}
"""What keys are called that hold a column, the likeliest first."""
_WORTH = {"role": 6, "content": 4, "answer": 4, "calls": 3, "result": 2, "reasoning": 2}


def guess(tree: Any) -> Columns:
    """The columns that look most like a conversation; without any path where nothing does."""
    best, most = Columns(), 0.0
    for path in _lists(tree):
        columns = columns_at(tree, path)
        score = _score(columns, sample(tree, path))
        if score > most:
            best, most = columns, score
    return best


def sample(tree: Any, path: str) -> list[Mapping[str, Any]]:
    """The first records that a path leads to, of several conversations where there are."""
    return _sample_of([tree], path)


def _sample_of(nodes: list[Any], path: str = "") -> list[Mapping[str, Any]]:
    """The same for several values that have the same shape."""
    found: list[Mapping[str, Any]] = []
    for records in (records for node in nodes for records in conversations(node, path)):
        found += [record for record in records[:_LOOKED_AT] if isinstance(record, Mapping)]
        if len(found) >= _LOOKED_AT:
            break
    return found[:_LOOKED_AT]


def keys_of(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """The paths of the columns that records have: their keys, and those of objects inside them."""
    found: dict[str, None] = {}
    for record in records:
        level: list[tuple[str, Mapping[str, Any]]] = [("", record)]
        for _ in range(_KEY_DEPTH):
            inner = [(f"{before}{key}", value) for before, values in level for key, value in values.items()]
            found.update(dict.fromkeys(key for key, _ in inner))
            level = [(f"{key}.", value) for key, value in inner if isinstance(value, Mapping)]
    return list(found)


def role_words(records: Sequence[Mapping[str, Any]], path: str) -> list[str]:
    """The words that stand in a column of roles, the commonest first; empty where it has too many to be one."""
    values = (value_at(record, path) for record in records)
    words = Counter(as_text(value) for value in values if isinstance(value, (str, int)))
    return [word for word, _ in words.most_common()] if len(words) <= ROLE_WORDS else []


def list_paths(tree: Any) -> list[str]:
    """The paths at which a file has lists of objects, as the form offers them."""
    return list(_lists(tree))


def _lists(tree: Any) -> Iterator[str]:
    """Breadth first, so that what stands further out comes first."""
    level: list[tuple[str, list[Any]]] = [("", [tree])]
    given: set[str] = set()
    for _ in range(_DEEPEST):
        below: dict[str, list[Any]] = {}
        for path, nodes in level:
            if _sample_of(nodes):
                given.add(path)
                yield path
            for part, child in _inside(nodes):
                below.setdefault(f"{path}.{part}" if path else part, []).append(child)
            if len(given) >= _MOST_LISTS:
                return
        level = [(path, nodes[:_LOOKED_AT]) for path, nodes in list(below.items())[:_MOST_LISTS]]


def _inside(nodes: list[Any]) -> Iterator[tuple[str, Any]]:
    for node in nodes:
        if isinstance(node, list):
            yield from (("*", item) for item in node[:_LOOKED_AT] if isinstance(item, (list, Mapping)))
        elif isinstance(node, Mapping):
            children = [(str(key), value) for key, value in node.items() if isinstance(value, (list, Mapping))]
            yield from (each for each in children[:_LOOKED_AT] if "." not in each[0])


# -- columns of one list -------------------------------------------------------------------------------------------


def columns_at(tree: Any, path: str) -> Columns:
    """The columns that the records at this path most likely have."""
    records = sample(tree, path)
    keys = keys_of(records)
    found = {name: _find(name, keys, records) for name in _NAMES}
    if found["role"]:  # with roles a record is one message, and everything that it says is its content
        if not found["content"]:
            found["content"] = found["answer"] or found["result"]
        found |= {"answer": "", "result": "" if found["content"] == found["result"] else found["result"]}
    words = role_words(records, found["role"]) if found["role"] else []
    return Columns(records=path, **found, roles={word: role_of(word, {}) for word in words})


def _find(name: str, keys: list[str], records: list[Mapping[str, Any]]) -> str:
    """The key that is called like such a column and holds such values, the likeliest name and the outer key first."""
    ranks = {called: rank for rank, called in enumerate(_NAMES[name])}
    candidates = [key for key in keys if _called(key) in ranks]
    if name == "name":  # an inner one is the name of something else
        candidates = [key for key in candidates if "." not in key]
    candidates.sort(key=lambda key: (ranks[_called(key)], key.count(".")))
    return next((key for key in candidates if _holds(name, key, records)), "")


def _called(key: str) -> str:
    return key.rpartition(".")[2].lower().replace("-", "_")


def _holds(name: str, key: str, records: list[Mapping[str, Any]]) -> bool:
    values = [value for record in records if (value := value_at(record, key)) not in (None, "", [], {})]
    if not values:
        return False
    if name == "role":
        words = role_words(records, key)
        return any(word.strip().lower() in KNOWN_ROLES for word in words)
    if name == "time":
        return moment(values[0]) is not None
    if name.endswith("_tokens"):
        return all(amount(value) is not None for value in values)
    if name in ("name", "model", "call_id", "reasoning"):
        return isinstance(values[0], str)
    if name in ("content", "answer"):
        return not isinstance(values[0], (bool, int, float, Mapping))
    return True


def _score(columns: Columns, records: list[Mapping[str, Any]]) -> float:
    """How much a list looks like a conversation: by its columns first, then by how many records have words."""
    if not columns.usable or not records:
        return 0
    worth = sum(value for name, value in _WORTH.items() if getattr(columns, name))
    words = [path for path in (columns.content, columns.answer, columns.calls) if path]
    spoken = sum(any(value_at(record, path) is not None for path in words) for record in records)
    return worth + spoken / len(records) - 0.1 * columns.records.count(".")
