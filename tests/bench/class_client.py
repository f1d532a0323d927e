"""A tab of a browser without the drawing: the app's own protocol over a real websocket.

A tab keeps what a browser keeps: the elements on the page, what its widgets hold, the address, large messages that it
need not be sent again, and the timers of fragments that draw themselves again. It sends what a browser sends for them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

FINISHED = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)
"""How a drawing that was not broken off for the next one ends."""

Seen = Callable[[Element, Element | None], bool]
"""Takes an element that came and what stood in its place; says whether a person sees by it what the press did."""


@dataclass(slots=True)
class Answer:
    """What came of one press, in seconds from sending it."""

    finished: float
    """Until the page was drawn to its end."""
    seen: float | None = None
    """Until what the press did was there to see; None: the page says it in none of the elements that were looked at."""


@dataclass(slots=True)
class _Placed:
    element: Element
    drawing: str
    fragment: str


@dataclass(slots=True)
class Tab:
    """One tab of one browser.

    Args:
        server: address of the server, such as ``http://127.0.0.1:8501``.
        path: the page, with its query: ``/learn?lesson=history``.
        locale: what the browser asks for.
        keep_frames: remember every frame that came, as it was on the wire.
    """

    server: str
    path: str = "/"
    locale: str = "en-GB"
    keep_frames: bool = False
    frames: list[bytes] = field(default_factory=list)
    session: str = ""
    """The id that the server gave this tab; with it a dropped socket comes back to the same session."""
    query: str = ""
    """The query of the address now, without the question mark."""
    received: int = 0
    """Bytes, unpacked."""
    polls: int = 0
    errors: list[str] = field(default_factory=list)
    """What the server said of exceptions, and how the socket ended where it was not this side."""
    _socket: ClientConnection | None = None
    _page_hash: str = ""
    _drawing: str = ""
    _fragments: tuple[str, ...] = ()
    _placed: dict[tuple[int, ...], _Placed] = field(default_factory=dict)
    _values: dict[str, WidgetState] = field(default_factory=dict)
    _cached: dict[str, Element] = field(default_factory=dict)
    _timers: dict[str, tuple[float, asyncio.Task[None]]] = field(default_factory=dict)
    _reader: asyncio.Task[None] | None = None
    _last: str = ""
    """What the last frame was."""
    _asked: bool = False
    """A drawing was asked for and has not begun."""
    _rest: asyncio.Event = field(default_factory=asyncio.Event)
    _seen: Seen | None = None
    _seen_at: float | None = None
    _replies: dict[str, Any] = field(default_factory=dict)

    # ---- the tab ----

    async def open(self) -> Tab:
        """Connect and wait until the page is drawn. After :meth:`drop` it is the same session, else a new one."""
        parts = urlsplit(self.path)
        self.query = self.query or parts.query
        protocols = [Subprotocol("streamlit"), Subprotocol("none")]
        if self.session:
            protocols.append(Subprotocol(self.session))
        address = self.server.replace("http", "ws", 1) + "/_stcore/stream"
        self._socket = await connect(
            address,
            origin=self.server,
            subprotocols=protocols,
            max_size=None,
            open_timeout=60,  # type: ignore[arg-type]
        )
        self._reader = asyncio.create_task(self._read())
        await self._ask()
        await self.rest()
        return self

    async def drop(self) -> None:
        """Lose the socket, as a network does; what the tab keeps stays."""
        self._stop_timers()
        if self._reader is not None:
            self._reader.cancel()
        if self._socket is not None:
            await self._socket.close()

    async def close(self) -> None:
        """Close the tab."""
        await self.drop()
        self.session = ""

    async def reload(self) -> Tab:
        """F5: the address stays, everything else is new."""
        await self.close()
        path = urlsplit(self.path).path + (f"?{self.query}" if self.query else "")
        fresh = Tab(self.server, path, self.locale, self.keep_frames)
        return await fresh.open()

    @property
    def parameters(self) -> dict[str, str]:
        """What the query of the address says."""
        return {key: values[0] for key, values in parse_qs(self.query).items()}

    async def rest(self, timeout_s: float = 60.0) -> None:
        """Wait until the page is drawn to its end.

        Raises:
            TimeoutError: it is not, or the tab itself has failed; the text says what came last.
        """
        try:
            await asyncio.wait_for(self._rest.wait(), timeout_s)
        except TimeoutError as late:
            said = f"not drawn within {timeout_s:g} s at {self.path}?{self.query}, last came: {self._last or 'nothing'}"
            raise TimeoutError(said) from late

    # ---- the page ----

    def elements(self, kind: str) -> list[Any]:
        """What is on the page of this kind, in the order of their places."""
        placed = sorted(self._placed.items())
        return [getattr(each.element, kind) for _, each in placed if each.element.WhichOneof("type") == kind]

    def button(self, key: str) -> Any:
        """The button of this key; None where there is none."""
        return next((each for each in self.elements("button") if each.id.endswith(f"-{key}")), None)

    def can_press(self, key: str) -> bool:
        """Whether there is such a button, and it is not disabled."""
        button = self.button(key)
        return button is not None and not button.disabled

    async def press(self, key: str, seen: Seen | None = None) -> Answer:
        """Press a button and wait until the page is drawn.

        Args:
            key: of the button.
            seen: says of an element that came whether it shows what the press did.

        Raises:
            LookupError: there is no such button, or it is disabled.
        """
        if not self.can_press(key):
            raise LookupError(f"no button {key!r} to press at {self.path}?{self.query}")
        trigger = WidgetState(id=self.button(key).id, trigger_value=True)
        self.watch(seen)
        began = time.perf_counter()
        await self._ask(trigger=trigger)
        await self.rest()
        ended = time.perf_counter()
        self._seen = None
        return Answer(ended - began, None if self._seen_at is None else self._seen_at - began)

    def watch(self, seen: Seen | None) -> None:
        """From now on look out for an element that shows what somebody else's press did; None: do not."""
        self._seen, self._seen_at = seen, None

    @property
    def seen_at(self) -> float | None:
        """When it came, by :func:`time.perf_counter`; None: it has not."""
        return self._seen_at

    def key_of(self, beginning: str) -> str | None:
        """The key of the first button on the page whose key begins so, and which can be pressed."""
        for button in self.elements("button"):
            _, found, rest = button.id.partition(f"-{beginning}")
            if found and not button.disabled:
                return f"{beginning}{rest}"
        return None

    async def change(self, state: WidgetState) -> None:
        """Let a widget hold something else, and wait until the page is drawn."""
        self._values[state.id] = state
        await self._ask()
        await self.rest()

    async def request(self, message: BackMsg, reply: str) -> Any:
        """Ask for something else than a drawing; gives the reply of this type."""
        await self._send(message)
        while reply not in self._replies:
            await asyncio.sleep(0.01)
        return self._replies.pop(reply)

    # ---- sending ----

    async def _ask(self, *, trigger: WidgetState | None = None, fragment: str = "") -> None:
        """Ask for a drawing, of the whole page or of a fragment."""
        message = BackMsg()
        state = message.rerun_script
        state.query_string, state.page_script_hash = self.query, self._page_hash
        state.page_name = "" if self._page_hash else urlsplit(self.path).path.strip("/")
        state.fragment_id, state.is_auto_rerun = fragment, bool(fragment)
        state.widget_states.widgets.extend(self._values.values())
        if trigger is not None:
            state.widget_states.widgets.append(trigger)
        state.cached_message_hashes.extend(self._cached)
        context = state.context_info
        context.timezone, context.locale, context.color_scheme = "Europe/Berlin", self.locale, "light"
        context.url = f"{self.server}{urlsplit(self.path).path}?{self.query}"
        if not fragment:
            self._asked = True
            self._rest.clear()
        await self._send(message)

    async def _send(self, message: BackMsg) -> None:
        assert self._socket is not None
        await self._socket.send(message.SerializeToString())

    async def _every(self, interval_s: float, fragment: str) -> None:
        with suppress(ConnectionClosed):
            while True:
                await asyncio.sleep(interval_s)
                self.polls += 1
                await self._ask(fragment=fragment)

    def _stop_timers(self, *fragments: str) -> None:
        for fragment in fragments or list(self._timers):
            if (timer := self._timers.pop(fragment, None)) is not None:
                timer[1].cancel()

    # ---- receiving ----

    async def _read(self) -> None:
        assert self._socket is not None
        handlers: dict[str, Callable[[ForwardMsg], Awaitable[None] | None]] = {
            "new_session": self._begins,
            "delta": self._delta,
            "ref_hash": self._known,
            "script_finished": self._ends,
            "page_info_changed": self._address,
            "navigation": self._navigation,
            "auto_rerun": self._timer,
            "stop_auto_rerun": lambda message: self._stop_timers(*message.stop_auto_rerun.fragment_ids),
        }
        try:
            async for frame in self._socket:
                assert isinstance(frame, bytes)
                self.received += len(frame)
                if self.keep_frames:
                    self.frames.append(frame)
                message = ForwardMsg.FromString(frame)
                self._last = kind = message.WhichOneof("type") or ""
                if (handler := handlers.get(kind)) is not None:
                    handler(message)
                elif kind.endswith("_response"):
                    self._replies[kind] = getattr(message, kind)
        except ConnectionClosed as closed:
            self.errors.append(f"the socket was closed: {closed}")
        except (AssertionError, LookupError, ValueError) as error:
            self.errors.append(f"not what the protocol says: {error!r}")
            raise

    def _begins(self, message: ForwardMsg) -> None:
        new, run = message.new_session, message.metadata.run
        self.session = new.initialize.session_id or self.session
        self._drawing, self._fragments = run.script_run_id, tuple(run.fragment_ids)
        if self._fragments:
            return
        self._asked = False
        self._rest.clear()
        self._stop_timers()
        if new.page_script_hash != self._page_hash:
            self._placed.clear()
            self._page_hash = new.page_script_hash

    def _delta(self, message: ForwardMsg) -> None:
        if message.delta.WhichOneof("type") != "new_element":
            return
        element = message.delta.new_element
        if message.metadata.cacheable:
            self._cached[message.hash] = element
        self._place(message, element, message.delta.fragment_id)

    def _known(self, message: ForwardMsg) -> None:
        self._place(message, self._cached[message.ref_hash], "")

    def _place(self, message: ForwardMsg, element: Element, fragment: str) -> None:
        path = tuple(message.metadata.delta_path)
        before = self._placed.get(path)
        self._placed[path] = _Placed(element, self._drawing, fragment)
        kind = element.WhichOneof("type")
        if kind == "exception":
            self.errors.append(f"{element.exception.type}: {element.exception.message}")
        if self._seen is not None and self._seen_at is None and self._seen(element, before and before.element):
            self._seen_at = time.perf_counter()
        if (read := _HOLDS.get(kind or "")) is not None:
            widget = getattr(element, kind or "")
            if widget.set_value or widget.id not in self._values:
                self._values[widget.id] = read(widget)

    def _ends(self, message: ForwardMsg) -> None:
        if message.script_finished not in FINISHED:
            return
        run = message.metadata.run
        fragments = set(run.fragment_ids)
        stale = [
            path
            for path, each in self._placed.items()
            if each.drawing != run.script_run_id and (not fragments or each.fragment in fragments)
        ]
        for path in stale:
            del self._placed[path]
        if not fragments:
            alive = {getattr(each.element, each.element.WhichOneof("type") or "").id for each in self._widgets()}
            self._values = {key: value for key, value in self._values.items() if key in alive}
            if not self._asked:  # else this was the drawing before
                self._rest.set()

    def _widgets(self) -> list[_Placed]:
        return [each for each in self._placed.values() if each.element.WhichOneof("type") in _HOLDS]

    def _address(self, message: ForwardMsg) -> None:
        self.query = message.page_info_changed.query_string

    def _navigation(self, message: ForwardMsg) -> None:
        self._page_hash = message.navigation.page_script_hash

    def _timer(self, message: ForwardMsg) -> None:
        fragment, interval = message.auto_rerun.fragment_id, message.auto_rerun.interval
        if self._timers.get(fragment, (None,))[0] == interval:
            return
        self._stop_timers(fragment) if fragment in self._timers else None
        self._timers[fragment] = (interval, asyncio.create_task(self._every(interval, fragment)))


def _chosen(widget: Any) -> WidgetState:
    """What a list to choose one of holds."""
    if widget.set_value:
        return _holding(widget, "string_value", "raw_value")
    if widget.options and widget.HasField("default"):
        return WidgetState(id=widget.id, string_value=widget.options[widget.default])
    return WidgetState(id=widget.id)


def _several(widget: Any) -> WidgetState:
    state = WidgetState(id=widget.id)
    chosen = widget.raw_values if widget.set_value else [widget.options[at] for at in widget.default]
    state.string_array_value.data.extend(chosen)
    return state


def _typed(widget: Any) -> WidgetState:
    return _holding(widget, "string_value", "value" if widget.set_value else "default")


def _number(widget: Any) -> WidgetState:
    return _holding(widget, "double_value", "value" if widget.set_value else "default")


def _holding(widget: Any, kind: str, field: str) -> WidgetState:
    """The state of a widget with what a field of its element says; where that says nothing, it is empty."""
    return WidgetState(id=widget.id, **({kind: getattr(widget, field)} if widget.HasField(field) else {}))


def _ticked(widget: Any) -> WidgetState:
    return WidgetState(id=widget.id, bool_value=widget.value if widget.set_value else widget.default)


_HOLDS: dict[str, Callable[[Any], WidgetState]] = {
    "selectbox": _chosen,
    "radio": _chosen,
    "multiselect": _several,
    "text_input": _typed,
    "text_area": _typed,
    "number_input": _number,
    "checkbox": _ticked,
}
"""Widgets that tell the server what they hold with every drawing, and how that is read off their element."""
