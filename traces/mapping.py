"""A file of an unknown shape, read by columns that a person names: which key holds the role, which the words, ...

A path is made of keys with points between them; ``*`` stands for every item of a list or of an object. The path of the
records leads to lists, each of which is one conversation: ``""`` is the file's own list, ``*.turns`` the list that each
of its rows holds; an object that holds objects alone counts as the list of them. Paths of columns start at a record.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from agent import jsontext
from agent.errors import InputError
from traces.container import Document
from traces.importing import ImportBuilder
from traces.keeping import exclusive, write_whole
from traces.mapped_record import messages_of
from traces.report import ImportReport

FORMAT = "mapped"
SCHEMA = "agent-columns/1"
FILE_NAME = ".columns.json"
"""Where columns are kept, in the data folder."""
_LOOKED_AT = 20
_MOST_KEPT = 100
_MOST_CONVERSATIONS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Where a file of an unknown shape has what. An empty path: nowhere."""

    records: str = ""
    """Path of the lists of records."""
    role: str = ""
    """Who speaks. Without it a record is what the model said, or what it was asked where there is an answer."""
    content: str = ""
    answer: str = ""
    """The model's words, in files that keep question and answer in one record."""
    reasoning: str = ""
    calls: str = ""
    result: str = ""
    """What a tool gave, in files that keep a call and its result in one record."""
    call_id: str = ""
    """The call that a record of its own with a result answers."""
    name: str = ""
    """The name of who speaks, or of the tool."""
    time: str = ""
    model: str = ""
    prompt_tokens: str = ""
    completion_tokens: str = ""
    roles: Mapping[str, str] = field(default_factory=dict)
    """What the file's words for roles mean: system, user, assistant, tool, or ``""`` for records to leave out."""

    @property
    def usable(self) -> bool:
        """Whether some column holds words."""
        return bool(self.content or self.answer or self.calls)

    @property
    def paths(self) -> dict[str, str]:
        """The columns that are named, by what they hold."""
        return {name: path for name in COLUMNS if (path := getattr(self, name))}

    def to_dict(self) -> dict[str, Any]:
        """JSON data."""
        return {"schema": SCHEMA, **asdict(self)}

    @classmethod
    def from_dict(cls, data: Any) -> Columns:
        """Read JSON data.

        Raises:
            InputError: they are no columns, or one is not text.
        """
        if not isinstance(data, Mapping) or data.get("schema") != SCHEMA:
            raise InputError(f'these are no columns: "schema" should be "{SCHEMA}"')
        roles = data.get("roles", {})
        texts = {name: data.get(name, "") for name in ("records", *COLUMNS)}
        wrong = [name for name, path in texts.items() if not isinstance(path, str)]
        if wrong or not isinstance(roles, Mapping) or not all(isinstance(role, str) for role in roles.values()):
            raise InputError(f"the columns cannot be read: {', '.join(wrong or ['roles'])} should be text")
        return cls(**texts, roles=dict(roles))

    @classmethod
    def from_json(cls, data: bytes) -> Columns:
        """Read what :meth:`to_json` wrote.

        Raises:
            InputError: it is something else.
        """
        try:
            return cls.from_dict(json.loads(data))
        except (ValueError, RecursionError) as error:
            raise InputError("the columns cannot be read: the file is not JSON") from error

    def to_json(self) -> bytes:
        """The columns as a small file, to be used again elsewhere."""
        return jsontext.dumps(self.to_dict(), indent=True).encode()


COLUMNS = tuple(f.name for f in fields(Columns) if f.name not in ("records", "roles"))
"""The names of the columns."""


# -- reading by columns --------------------------------------------------------------------------------------------


def mapped(report: ImportReport, columns: Columns, *, first: int | None = None) -> ImportReport:
    """The conversations that the columns find in a file that no reader knows.

    Args:
        report: the file; its ``tree`` holds the JSON.
        columns: where the file has what.
        first: only so many records of the first conversation, for a look at what will come out.
    """
    document = Document(name=report.file, container=report.container, data=b"", value=report.tree)
    out = ImportBuilder(document, report.file, FORMAT, lambda: report.id or report.file)
    for number, records in enumerate(conversations(report.tree, columns.records)):
        if number >= (_MOST_CONVERSATIONS if first is None else 1):
            out.warn("only the first conversations were read; the path of the records finds more of them")
            break
        _read_conversation(records[:first], columns, out)
    made = out.finish()
    made.bad_lines, made.tree = [*report.bad_lines], report.tree
    made.warnings = [*report.warnings, *made.warnings]
    return made


def _read_conversation(records: Sequence[Any], columns: Columns, out: ImportBuilder) -> None:
    trace = out.trace()
    for record in records:
        if isinstance(record, str) and not columns.role:
            record = {columns.content or "content": record}
        if not isinstance(record, Mapping):
            out.unread("a record that is no object")
            continue
        values = {name: value_at(record, path) for name, path in columns.paths.items()}
        made = list(messages_of(values, columns.roles))
        if not made:
            out.unread("a record that has nothing under the columns, or whose role is left out")
        for message in made:
            position = trace.message(message.data, at=message.at, maker=message.maker, raw=dict(record))
            if message.reply is not None:
                trace.numbers(message.reply)
            if message.for_all:
                trace.shared_result(position)


def conversations(tree: Any, path: str) -> Iterator[list[Any]]:
    """The lists that a path of records leads to, in the order of the file."""
    nodes: list[Any] = [tree]
    for part in path.split(".") if path else []:
        nodes = [child for node in nodes for child in _children(node, part)]
    for node in nodes:
        if isinstance(node, list):
            yield node
        elif isinstance(node, Mapping) and len(node) > 1 and all(isinstance(item, Mapping) for item in node.values()):
            yield list(node.values())


def _children(node: Any, part: str) -> list[Any]:
    if part == "*":
        return node if isinstance(node, list) else list(node.values()) if isinstance(node, Mapping) else []
    if isinstance(node, Mapping) and part in node:
        return [node[part]]
    return []


def value_at(record: Any, path: str) -> Any:
    """The value at the end of a path; None where it leads nowhere. A key may have points in it itself."""
    if isinstance(record, Mapping):
        if path in record:
            return record[path]
        for place in (place for place, letter in enumerate(path) if letter == "."):
            if path[:place] in record:
                return value_at(record[path[:place]], path[place + 1 :])
    if isinstance(record, list):
        head, _, rest = path.partition(".")
        if head.isascii() and head.isdigit() and len(head) < 6 and int(head) < len(record):
            return value_at(record[int(head)], rest) if rest else record[int(head)]
    return None


# -- columns that are kept -----------------------------------------------------------------------------------------


def fits(tree: Any, columns: Columns) -> bool:
    """Whether a file has the shape that the columns were made for: most of its first records have the words there."""
    if not columns.usable:
        return False
    first = next((records for records in conversations(tree, columns.records) if records), [])[:_LOOKED_AT]
    words = [path for path in (columns.content, columns.answer, columns.calls) if path]
    found = sum(any(value_at(record, path) is not None for path in words) for record in first)
    has_roles = not columns.role or any(value_at(record, columns.role) is not None for record in first)
    return bool(first) and has_roles and 2 * found >= len(first)


def kept(folder: Path) -> list[Columns]:
    """The columns that are kept in a data folder, the newest first. What cannot be read is left out."""
    try:
        listed = json.loads((folder / FILE_NAME).read_bytes())
    except (OSError, ValueError, RecursionError):
        return []
    found: list[Columns] = []
    for data in listed if isinstance(listed, list) else []:
        try:
            found.append(Columns.from_dict(data))
        except InputError:
            continue
    return found


def keep(folder: Path, columns: Columns) -> None:
    """Keep columns for files of the same shape, before those that were kept earlier.

    Raises:
        InputError: the folder cannot be written.
    """
    _write(folder, lambda known: [columns, *(each for each in known if each != columns)])


def forget(folder: Path, columns: Columns) -> None:
    """Keep these columns no longer.

    Raises:
        InputError: the folder cannot be written.
    """
    _write(folder, lambda known: [each for each in known if each != columns])


def _write(folder: Path, change: Callable[[list[Columns]], list[Columns]]) -> None:
    with exclusive(folder):
        data = [columns.to_dict() for columns in change(kept(folder))[:_MOST_KEPT]]
        write_whole(folder / FILE_NAME, jsontext.dumps(data, indent=True).encode())
