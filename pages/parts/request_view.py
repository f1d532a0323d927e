"""The request of a step: exactly what the model was given, as a table, as JSON and as a command for a shell."""

from __future__ import annotations

import streamlit as st

from agent.asked import asked_in, body_of
from agent.asking import ASKED_WITH
from agent.errors import AgentError
from agent.events import Phase
from agent.models.openai_chat import OPENAI_URL
from agent.redact import redact, redact_text
from agent.trace import Trace, TraceStep
from pages.parts import address, selection
from pages.parts.message_view import text_block
from pages.parts.request_table import request_table
from pages.parts.request_words import difference_words
from pages.parts.runs import OpenRun
from pages.parts.words import loop_words, t
from traces.requests import body_text, curl_command, prompt_tokens, read_request


def request_view(run: OpenRun | None, trace: Trace, step: int | None, *, key: str) -> None:
    """Draw the request of one step, and a field to choose another one. Choosing redraws only this.

    Args:
        run: the open run that the trace is of, whose next request can be shown as well; None for a saved trace.
        trace: a trace that nobody changes meanwhile, without secrets.
        step: number of the step to begin with; None: the newest, or the request that is about to be sent.
        key: names the widgets.
    """

    @st.fragment
    def draw() -> None:
        try:
            coming = _coming(run, trace)
        except AgentError as error:
            coming = None
            st.warning(t("The phase prepare will find that there can be no request."))
            st.text(loop_words(redact_text(str(error), run.loop.secrets if run else ())))
        last = max(len(trace.steps), coming.index if coming else 0)
        if last == 0:
            st.caption(t("No request was made yet."))
            return
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            number = _chooser(last, step, key)
            ready = coming is not None and number == coming.index
            chosen = coming if coming is not None and ready else trace.steps[number - 1]
            _facts(run, trace, chosen, ready=ready)
        _request(trace, chosen, key=f"{key}-{number}")

    with st.container(gap="xsmall"):
        draw()


def _coming(run: OpenRun | None, trace: Trace) -> TraceStep | None:
    """The step that comes next, without secrets; None while it is open, or where the trace is of an earlier moment.

    Raises:
        AgentError: its request cannot be made.
    """
    if run is None or run.runner.busy:
        return None
    now = run.loop.trace
    if (len(trace.steps), len(trace.messages)) != (len(now.steps), len(now.messages)):
        return None
    step = run.loop.next_step()
    return None if step is None else TraceStep.from_dict(redact(step.to_dict(), run.loop.secrets))


def _chooser(last: int, given: int | None, key: str) -> int:
    """The number of the step to show. It follows the newest, or the one that the page gives, until one is chosen."""
    widget, follows = f"{key}-step", f"{key}-follows"
    if selection.chosen(follows) != given:
        selection.choose(follows, given)
        selection.choose(widget, None)
    default = last if given is None else max(1, min(given, last))
    address.put(widget, min(selection.chosen(widget) or default, last))

    def choose() -> None:
        number = address.setting(widget)
        selection.choose(widget, None if number == default else number)

    label = t("Request of step (1 to {n})", n=last)
    return int(st.number_input(label, 1, last, key=widget, disabled=last == 1, on_change=choose, width=220))


def _facts(run: OpenRun | None, trace: Trace, step: TraceStep, *, ready: bool) -> None:
    """Whether it was sent, and how many tokens it takes."""
    if ready and run is not None and run.loop.phase is Phase.PREPARE:
        st.markdown(f":gray-badge[◌ {t('preview: prepare will build it')}]", width="content")
    elif ready:
        st.markdown(f":orange-badge[▶ {t('about to be sent')}]", width="content")
    elif step.reply is None:
        st.markdown(f":gray-badge[… {t('no answer to it')}]", width="content")
    if step.request is not None:
        count, estimated = prompt_tokens(trace, step)
        kind = t("estimated") if estimated else t("reported")
        st.markdown(f"{t('Prompt tokens')}: {'≈ ' if estimated else ''}{count:,} ({kind})", width="content")


def _request(trace: Trace, step: TraceStep, *, key: str) -> None:
    sent = read_request(trace, step)
    if sent is None:
        st.info(t("The file does not say what was sent in this step."))
        return
    st.text(difference_words(sent, step.index))
    table, as_json, as_curl = st.tabs([t("Messages"), "JSON", "curl"], key=f"{key}-form", on_change="rerun")
    if table.open:
        with table:
            request_table(trace, sent, key=key)
    if as_json.open:
        with as_json:
            _remark(trace, step)
            text_block(body_text(body_of(trace, step) or {}), key=f"{key}-json", file_name=f"request-{step.index}.json")
    if as_curl.open:
        with as_curl:
            _remark(trace, step)
            url = asked_in(trace, step).form.base_url or OPENAI_URL
            command = curl_command(body_of(trace, step) or {}, url)
            text_block(command, key=f"{key}-curl", file_name=f"request-{step.index}.sh")


def _remark(trace: Trace, step: TraceStep) -> None:
    """What to know about a body that is not what went over a wire."""
    if not trace.config.get(ASKED_WITH):
        st.caption(t("The messages are as they were sent. Of the options, only what stands here is known."))
    elif asked_in(trace, step).form.base_url is None:
        st.caption(t("A script answered, and nothing was sent. To ask a server, put in the name of its model."))
