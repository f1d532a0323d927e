"""Pages that open offline as a tree of elements: what is text in it can never become HTML."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from xml.etree.ElementTree import Element, tostring

Piece = Element | str | None
"""What an element may hold; None: nothing."""
_TAGS = {"zh": "zh-Hans"}
"""How a page names a language, where that is not its code."""


def whole_page(title: str, policy: str, style: str, body: Element, language: str) -> bytes:
    """A page in UTF-8 that requests nothing.

    Args:
        title: of the page.
        policy: what it may run and load.
        style: the text of its style sheet.
        body: what it shows.
        language: of its words, ``en`` or ``zh``.
    """
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("link", rel="icon", href="data:,"),
        element("title", title),
        element("style"),
    )
    head[-1].text = style
    page = element("html", head, body, lang=_TAGS.get(language, language))
    return b"<!doctype html>\n" + tostring(page, encoding="unicode", method="html").encode() + b"\n"


def element(tag: str, *pieces: Piece, **attributes: str) -> Element:
    """An element with what it holds. A trailing underscore of an attribute's name is left out: ``class_``."""
    made = Element(tag, {name.rstrip("_").replace("_", "-"): clean(value) for name, value in attributes.items()})
    for piece in pieces:
        if isinstance(piece, Element):
            made.append(piece)
        elif piece and len(made):
            made[-1].tail = (made[-1].tail or "") + clean(piece)
        elif piece:
            made.text = (made.text or "") + clean(piece)
    return made


def clean(text: str) -> str:
    """``text`` without what no page can hold: control characters and half surrogates become U+FFFD."""
    if text.isprintable():
        return text
    return "".join("\ufffd" if unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t" else c for c in text)


def table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[Piece]], numbers: int = 0) -> Element:
    """A table that scrolls by itself where there is little room.

    Args:
        caption: what it is, above it.
        heads: of the columns.
        rows: the cells.
        numbers: from which column on they are numbers and stand to the right; 0: none.
    """
    first = numbers or len(heads)
    head = element("tr", *(element("th", text, scope="col", **_kind(at, first)) for at, text in enumerate(heads)))
    body = [element("tr", *(element("td", cell, **_kind(at, first)) for at, cell in enumerate(row))) for row in rows]
    whole = element("table", element("caption", caption), element("thead", head), element("tbody", *body))
    return element("div", whole, class_="scroll", tabindex="0", role="region", aria_label=caption)


def _kind(column: int, first: int) -> dict[str, str]:
    return {"class_": "n"} if column >= first else {}


def facts(pairs: Iterable[tuple[str, Piece]]) -> Element:
    """Names with what they are."""
    made = element("dl")
    for name, value in pairs:
        made.append(element("dt", name))
        made.append(element("dd", value))
    return made


def section(title: str, *pieces: Piece, id: str) -> Element:
    """A part of a page under its heading."""
    return element("section", element("h2", title), *pieces, id=id)


def paragraphs(texts: Iterable[str], class_: str = "") -> list[Piece]:
    """One paragraph a text."""
    return [element("p", text, **({"class_": class_} if class_ else {})) for text in texts]


def items(texts: Iterable[Piece]) -> Element:
    """A list."""
    return element("ul", *(element("li", text) for text in texts))
