"""The form with which a teacher lends a live model to the class, and takes it back.

The key goes from its field into the memory of this process, and the field is emptied. It reaches no student's session,
no address, no page and no file.
"""

from __future__ import annotations

import os

import streamlit as st

from agent.errors import InputError
from pages.parts import address, address_class
from pages.parts.class_rooms import rooms, wake
from pages.parts.live_model import key_for
from pages.parts.polling import of_this_drawing
from pages.parts.runs import registry
from pages.parts.setup import without_secrets
from pages.parts.words import loop_words, t
from traces.classroom.klass import Klass, Terms
from traces.classroom.lending import Lent, Server

_CALLS, _TOKENS = 40, 50_000
"""What each student may use at first."""
_MOST = 100_000_000
_POLL_S = 1.0


def lending_panel(klass: Klass) -> None:
    """Draw the loan as it is, and the form for it.

    Args:
        klass: the class.
    """
    lent = rooms().lendings.of(klass.id)
    _state(klass, lent)
    _fields(klass.terms)
    with st.container(horizontal=True, gap="small"):
        st.button(t("Try one call"), key="class-lend-try", on_click=_try, args=(klass,))
        label = t("Lend it anew") if lent is not None else t("Lend it")
        st.button(label, key="class-lend-it", type="primary", on_click=_lend, args=(klass,))
        if lent is not None:
            st.button(t("Change the shares"), key="class-lend-quota", on_click=_set_quota, args=(klass,))
        if klass.terms is not None:
            st.button(
                t("Take it back"),
                key="class-lend-back",
                type="tertiary",
                on_click=take_back,
                args=(klass,),
                help=t("At once: calls that are being made end too. The key is forgotten."),
            )
    _trial(klass)


def take_back(klass: Klass) -> None:
    """End the loan at once. Runs with it that rest wait until a model is lent again.

    Args:
        klass: the class.
    """
    rooms().lendings.take_back(klass.id)
    _asleep(klass)
    _keep(klass, None)


def _state(klass: Klass, lent: Lent | None) -> None:
    if lent is not None:
        st.markdown(f":green-badge[:material/check: {t('On loan')}]")
        st.text(lent.terms.model)
    elif klass.terms is not None:
        st.markdown(f":orange-badge[:material/bedtime: {t('Asleep')}]")
        st.caption(t("The server was started anew and keeps no key. Type it again and lend the model again."))
    else:
        st.caption(
            t(
                "Students choose it on the Run page as the model of the class. They see its name, and neither the key "
                "nor the server; each has a share of calls and tokens."
            )
        )
        st.caption(t("Whoever joins twice has two shares. Once all are there, let nobody else join."))


def _fields(terms: Terms | None) -> None:
    """What is lent, and how much of it."""
    address.seed(address_class.LEND_MODEL, terms.model if terms else os.environ.get("OPENAI_MODEL", ""))
    address.seed(address_class.LEND_URL, terms.base_url if terms else os.environ.get("OPENAI_BASE_URL", ""))
    address.seed(address_class.LEND_CALLS, terms.calls if terms else _CALLS)
    address.seed(address_class.LEND_TOKENS, terms.tokens if terms else _TOKENS)
    left, middle, right = st.columns(3)
    left.text_input(t("Model name"), key=address_class.LEND_MODEL)
    middle.text_input(
        t("Base URL"),
        key=address_class.LEND_URL,
        placeholder="https://api.openai.com/v1",
        help=t("Any server that speaks the OpenAI Chat API."),
    )
    right.text_input(
        t("API key"),
        key=address_class.LEND_KEY,
        type="password",
        autocomplete="off",
        placeholder=t("from the environment, or none"),
        help=t("Kept in the memory of this server alone; never saved, logged, shown or sent to a student."),
    )
    left.number_input(t("Calls for each student"), 1, _MOST, step=10, key=address_class.LEND_CALLS)
    middle.number_input(t("Tokens for each student"), 1, _MOST, step=10_000, key=address_class.LEND_TOKENS)


def _server() -> Server:
    """What the fields hold."""
    url = str(address.setting(address_class.LEND_URL) or "").strip()
    typed = str(address.setting(address_class.LEND_KEY) or "").strip()
    model = str(address.setting(address_class.LEND_MODEL) or "").strip()
    return Server(model, url, key_for(url, typed, os.environ))


def _terms(server: Server) -> Terms:
    calls, tokens = address.setting(address_class.LEND_CALLS), address.setting(address_class.LEND_TOKENS)
    return Terms(server.model, without_secrets(server.base_url), int(calls or _CALLS), int(tokens or _TOKENS))


def _try(klass: Klass) -> None:
    try:
        rooms().lendings.try_out(klass.id, _server())
    except InputError as error:
        address.tell(loop_words(str(error)))


def _lend(klass: Klass) -> None:
    here, server = rooms(), _server()
    terms = _terms(server)
    try:
        server.open()  # what no call could succeed with is told now
    except InputError as error:
        address.tell(loop_words(str(error)))
        return
    here.lendings.lend(klass.id, Lent(server, terms, here.classes.used(klass.id), here.keep_used))
    address.put(address_class.LEND_KEY, "")
    _asleep(klass)
    _keep(klass, terms)


def _set_quota(klass: Klass) -> None:
    lent = rooms().lendings.of(klass.id)
    if lent is not None:
        asked = _terms(_server())
        lent.set_quota(Terms(lent.terms.model, lent.terms.base_url, asked.calls, asked.tokens))
        _keep(klass, lent.terms)


def _keep(klass: Klass, terms: Terms | None) -> None:
    try:
        rooms().classes.lend(klass.id, terms)
    except InputError as error:
        address.tell(loop_words(str(error)))
    wake(klass)


def _asleep(klass: Klass) -> None:
    """Runs of the class that rest get the model anew when somebody of the class looks at them."""
    for run in registry().listed():
        if run.setup.lent and run.setup.klass == klass.id and not run.runner.busy and not run.done:
            run.asleep = True


def _trial(klass: Klass) -> None:
    trial = rooms().lendings.trial(klass.id)
    if trial is None:
        return

    @st.fragment(run_every=None if trial.done else _POLL_S)
    @of_this_drawing
    def watch() -> None:
        if not trial.done:
            st.caption(t("The model is being asked for one word."))
            return
        mark = f":green-badge[✓ {t('It answered')}]" if trial.ok else f":red-badge[✗ {t('It did not answer')}]"
        st.markdown(mark)
        st.text(trial.text if trial.ok else loop_words(trial.text))

    watch()
