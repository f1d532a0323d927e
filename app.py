"""The entry point of the app: page settings, menu and language; each page is a file of pages/."""

import streamlit as st

from pages.parts.menu import begin_at_top, let_go_of_fields, menu
from pages.parts.words import language_switch

st.set_page_config(page_title="Agent Loop Lab", page_icon="🔁", layout="wide", initial_sidebar_state=276)
page = menu()
begin_at_top()
page.run()
language_switch()
let_go_of_fields()
