"""Edit and fork: change what stands before a point of a run and go on from there as a new run; the family of forks."""

from __future__ import annotations

import streamlit as st

from agent.cutting import head
from agent.errors import AgentError
from agent.events import Phase
from agent.extension import extension
from agent.limits import HARD_CAP
from agent.moments import Moment, moments
from agent.trace import Trace
from pages.parts import address
from pages.parts.data import listed, private
from pages.parts.drafts import Draft, change, changes_of, discard, draft_of, system_text, told
from pages.parts.limit_fields import limit_fields
from pages.parts.live_model import missing
from pages.parts.offered import known_names
from pages.parts.phases import phase_words
from pages.parts.resuming import forked
from pages.parts.roles import role_look
from pages.parts.runs import OpenRun
from pages.parts.setup_form import chosen
from pages.parts.tabs import tabs
from pages.parts.words import loop_words, t
from traces.lineage import Member, family

_SHOWN = 48
"""Characters of a message in the list of messages."""
_DEEPEST = 10
"""Levels of the tree that are set in; deeper ones stand under the last of them."""


def fork_panel(run: OpenRun, moment: Moment) -> None:
    """Draw the fields for edits, what is changed so far, and the button that forks.

    Args:
        run: the open run; it stays as it is.
        moment: where the page looks. The new run begins there, or at the last prepare before it: at an end without a
            way on, since after the last model call there is nothing that an edit could change; and with edits where a
            request is ready.
    """
    trace, draft = run.trace(), draft_of(run.id)
    st.caption(t("Change what you like, then fork: a new run begins at this point, and this one stays as it is."))
    begins = _beginning(run, trace, moment, draft)
    if begins != moment and moment.phase is None:
        st.caption(
            t("The run is over here, so the fork begins before its last model call. Back leads to other points.")
        )
    elif begins != moment:
        st.caption(t("The request is ready here. What is changed goes into a new one, so the fork begins before it."))
    _message_fields(run, trace, begins, draft)
    with st.expander(t("System text, tools and limits"), type="compact", key=f"fork-more-{run.id}"):
        _other_fields(run, trace, draft)
    lines = told(draft, trace)
    if lines:
        st.caption(t("Changed so far:"))
        st.text("\n".join(lines))
    else:
        st.caption(t("Nothing is changed: the same once more from here, on its own way."))
    obstacle = _obstacle(run, trace, begins, draft)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            _fork_label(begins),
            key="fork",
            icon=":material/call_split:",
            type="primary",
            on_click=_fork,
            args=(run, moment),
        )
        st.button(
            t("Discard the changes"),
            key="fork-discard",
            icon=":material/undo:",
            disabled=not lines,
            on_click=discard,
            args=(run.id,),
        )
    if obstacle:
        st.text(obstacle)


def _beginning(run: OpenRun, trace: Trace, moment: Moment, draft: Draft) -> Moment:
    """Where the fork really begins. This is what the button says, and what the new run is told of its origin."""
    ready = moment.phase is Phase.CALL and not draft.empty
    if ready or (moment.phase is None and not _goes_on(run, moment)):
        earlier = moments(trace, run.loop.phase)[: moment.number]
        return next((each for each in reversed(earlier) if each.phase is Phase.PREPARE), moment)
    return moment


def _goes_on(run: OpenRun, end: Moment) -> bool:
    """Whether a fork from this end can go on by itself: it is that of a limit, and the run still stands there."""
    loop = run.loop
    here = loop.phase is None and end.number == len(moments(loop.trace)) - 1
    return here and extension(loop.stop_reason, loop.settings, loop.run.iteration) is not None


def _fork_label(moment: Moment) -> str:
    if moment.phase is None:
        return t("Fork from here: step {n}, at the end", n=moment.step)
    return t("Fork from here: step {n}, before {phase}", n=moment.step, phase=phase_words(moment.phase).word)


def _obstacle(run: OpenRun, trace: Trace, moment: Moment, draft: Draft) -> str | None:
    """What keeps the run from being forked now, as a sentence."""
    if run.runner.busy:
        return t("The run is moving. Pause it to fork it.")
    if draft.last() >= moment.messages:
        return t("Message {n} is changed, but it is not there yet at this point.", n=draft.last() + 1)
    try:
        changes_of(draft, run.loop, trace)
    except AgentError as error:
        return loop_words(str(error))
    return missing(run.setup, chosen()) if run.asleep or run.setup.live else None


def _fork(run: OpenRun, moment: Moment) -> None:
    """Make the new run and show it. A second press on a page that shows the new one already makes no other."""
    if address.run_id() != run.id:
        return
    with run.lock:  # so that no other tab moves it meanwhile
        trace, draft = run.trace(), draft_of(run.id)  # with what was still being typed when the button was pressed
        begins = _beginning(run, trace, moment, draft)
        if obstacle := _obstacle(run, trace, begins, draft):
            address.tell(obstacle)
            return
        try:
            new = forked(run, begins, changes_of(draft, run.loop, trace))
        except (AgentError, OSError) as error:
            address.tell(loop_words(str(error)))
            return
    discard(run.id)
    address.open_run(new.id)
    tabs().wake_others(run.id)


# ---- the fields ----


def _message_fields(run: OpenRun, trace: Trace, moment: Moment, draft: Draft) -> None:
    """One message to choose, and its text or its calls to write anew. The system text has a field of its own."""
    positions = [at for at in range(moment.messages) if at or not system_text(trace)]
    if not positions:
        return
    key = f"fork-message-{run.id}"
    if address.setting(key) not in positions:
        address.put(key, positions[-1])
    position = st.selectbox(
        t("Message to change"), positions, key=key, format_func=lambda at: _message_words(trace, at), filter_mode=None
    )
    message = trace.messages[position]
    field = f"fork-text-{run.id}-{position}-{draft.number}"
    address.seed(field, draft.texts.get(position, message.text))
    st.text_area(
        t("Text of message {n}", n=position + 1),
        key=field,
        height=120,
        on_change=_text_changed,
        args=(run.id, position, message.text, field),
    )
    for number, call in enumerate(message.tool_calls):
        st.text(f"{call.name}   {call.id}")
        field, place = f"fork-call-{run.id}-{position}-{number}-{draft.number}", (position, number)
        address.seed(field, draft.arguments.get(place, call.arguments_text()))
        st.text_area(
            t("Arguments of call {n}, as JSON", n=number + 1),
            key=field,
            height=80,
            on_change=_arguments_changed,
            args=(run.id, place, call.arguments_text(), field),
        )


def _message_words(trace: Trace, position: int) -> str:
    message = trace.messages[position]
    names = ", ".join(call.name for call in message.tool_calls)
    return f"{position + 1} · {role_look(message.role).label} · {head(message.text or names, _SHOWN)}"


def _text_changed(run_id: str, position: int, before: str, field: str) -> None:
    text, texts = str(address.setting(field)), dict(draft_of(run_id).texts)
    texts[position] = text
    change(run_id, texts={at: new for at, new in texts.items() if at != position or new != before})


def _arguments_changed(run_id: str, place: tuple[int, int], before: str, field: str) -> None:
    text, arguments = str(address.setting(field)), dict(draft_of(run_id).arguments)
    arguments[place] = text
    change(run_id, arguments={at: new for at, new in arguments.items() if at != place or new != before})


def _other_fields(run: OpenRun, trace: Trace, draft: Draft) -> None:
    key, before = f"fork-system-{run.id}-{draft.number}", system_text(trace)
    address.seed(key, before if draft.system is None else draft.system)
    st.text_area(
        t("System text"),
        key=key,
        height=80,
        placeholder=t("none"),
        on_change=_system_changed,
        args=(run.id, before, key),
    )
    key, offered = f"fork-tools-{run.id}-{draft.number}", tuple(run.loop.tools.names)
    address.seed(key, list(offered if draft.tools is None else draft.tools))
    choices = list(dict.fromkeys([*known_names(), *offered]))
    st.multiselect(t("Tools on offer"), choices, key=key, on_change=_tools_changed, args=(run.id, offered, key))
    key, limit = f"fork-steps-{run.id}-{draft.number}", run.loop.settings.max_steps or HARD_CAP
    address.seed(key, limit if draft.max_steps is None else draft.max_steps)
    st.number_input(
        t("Step limit"),
        min_value=1,
        max_value=max(HARD_CAP, limit),  # a recording may have gone on for longer
        key=key,
        on_change=_limit_changed,
        args=(run.id, limit, key),
    )
    limit_fields(run.id, run.loop.settings.limits, draft)


def _system_changed(run_id: str, before: str, field: str) -> None:
    text = str(address.setting(field))
    change(run_id, system=None if text == before else text)


def _tools_changed(run_id: str, before: tuple[str, ...], field: str) -> None:
    names = tuple(address.setting(field))
    change(run_id, tools=None if set(names) == set(before) else names)


def _limit_changed(run_id: str, before: int, field: str) -> None:
    limit = int(address.setting(field))
    change(run_id, max_steps=None if limit == before else limit)


# ---- the tree ----


def fork_tree(run: OpenRun) -> None:
    """Draw all runs that were forked from one another, the current one marked; the others open with a press.

    On a server that others can reach, only those that this browser opened: the id of a run is its secret.
    """
    members = [member for member in family(listed(), run.id) if member.info or member.id == run.id or private()]
    if len(members) == 1:
        st.caption(t("No other run was forked from this one."))
        return
    st.caption(t("Runs that were forked from one another: {n}", n=len(members)))
    with st.container(gap=None, key="fork-tree"):
        for member in members:
            _member_button(member, here=member.id == run.id)


def _member_button(member: Member, *, here: bool) -> None:
    icon = ":material/call_split:" if member.depth else ":material/flag:"
    st.button(
        _member_words(member),
        key=f"fork-open-{member.id}",
        type="tertiary",
        icon=":material/my_location:" if here else icon,
        help=t("This is the run that you see") if here else None,
        disabled=here or member.info is None,
        on_click=address.open_run,
        args=(member.id,),
    )


def _member_words(member: Member) -> str:
    """Our own words and numbers alone: the title of a run is data and no part of a label."""
    indent, info, short = "\u2003" * min(member.depth, _DEEPEST), member.info, member.id[:4]
    if info is None:
        return indent + t("a run that is not here any more ({id})", id=short)
    where = _point_words(member.step, member.phase) if member.depth else t("the first run")
    state = t("over") if info.outcome else t("goes on")
    return indent + t("{where} · {n} messages · {state} · {id}", where=where, n=info.messages, state=state, id=short)


def _point_words(step: int | None, phase: Phase | None) -> str:
    if step is None:
        return t("unknown point")
    if phase is None:
        return t("step {n}, at the end", n=step)
    return t("step {n}, before {phase}", n=step, phase=phase_words(phase).word)
