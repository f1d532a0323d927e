"""The class page: the teacher's own. Without the secret of a class in the address it shows how to begin one."""

from __future__ import annotations

import streamlit as st

from agent.errors import InputError
from pages.parts import address, address_class
from pages.parts.class_begin import begin_panel, hands_switch
from pages.parts.class_lending import lending_panel, take_back
from pages.parts.class_links import links_panel, teacher_link
from pages.parts.class_rooms import rooms, wake
from pages.parts.class_show import answers_panel, show_panel
from pages.parts.class_table import class_table
from pages.parts.menu import ensure_menu
from pages.parts.notices import notices
from pages.parts.tabs import tabs
from pages.parts.words import loop_words, t
from traces.classroom.klass import Klass


def page() -> None:
    """Draw the page."""
    tabs().show(None)
    notices()
    secret = address_class.class_secret()
    klass = rooms().classes.of_teacher(secret) if secret is not None else None
    if secret is not None and klass is None:
        st.info(t("This server knows no class with the link in the address."), icon=":material/groups:")
    if klass is None:
        begin_panel()
    elif klass.ended:
        _over(klass)
    else:
        address_class.teach(klass)
        _class(klass)


def _class(klass: Klass) -> None:
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="class-head"):
        st.badge(t("Class"), icon=":material/groups:", color="green")
        st.text(klass.title, width="content")
        st.button(t("All classes"), key="class-all", type="tertiary", on_click=address_class.close_class)
        teacher_link(klass)
        with st.popover(t("End the class"), icon=":material/logout:", type="tertiary"):
            st.caption(t("The students are told, and a model that is lent is taken back. Answers are kept."))
            st.button(t("End it"), key="class-end", type="primary", on_click=_end, args=(klass,))
    links_panel(klass)
    left, right = st.columns(2, gap="small")
    with left.expander(t("What the class answers"), icon=":material/how_to_vote:", expanded=True):
        answers_panel(klass)
        hands_switch()
    with right.expander(t("Show to all"), icon=":material/cast_for_education:", expanded=True):
        show_panel(klass)
    with st.expander(t("Lend a model"), icon=":material/key:"):
        lending_panel(klass)
    st.markdown(f"**{t('Who is where')}**")
    class_table(klass)  # last, because it grows with the class


def _over(klass: Klass) -> None:
    st.info(t("This class is over."), icon=":material/groups:")
    st.text(klass.title)
    st.button(t("All classes"), key="class-all", on_click=address_class.close_class)


def _end(klass: Klass) -> None:
    take_back(klass)
    try:
        rooms().classes.end(klass.id)
    except InputError as error:
        address.tell(loop_words(str(error)))
        return
    address_class.stop_teaching()
    wake(klass)


ensure_menu()
page()
