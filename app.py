"""The entry point of the app: page settings, language and the menu; each page is a file of pages/."""

import streamlit as st

from pages.parts.words import language_switch, t

st.set_page_config(page_title="Agent Loop Lab", page_icon="🔁", layout="wide", initial_sidebar_state=260)

page = st.navigation(
    [
        st.Page("pages/run.py", title=t("Run"), icon=":material/play_circle:", url_path="run", default=True),
        st.Page("pages/traces.py", title=t("Traces"), icon=":material/receipt_long:", url_path="traces"),
    ],
    position="top",
)
page.run()
language_switch()
