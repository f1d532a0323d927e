"""Every intervention, its group and its parameters have words, in both languages."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from agent.interventions import KINDS


def _page() -> None:
    import streamlit as st

    from agent.interventions import KINDS
    from pages.parts.intervention_words import kind_name, kind_words, param_words
    from pages.parts.request_words import who

    for kind, about in KINDS.items():
        st.text(kind_name(kind))
        st.text(kind_words(kind)[1])
        for name, param in about.params.items():
            st.text(param_words(name))
            for choice in param.choices:
                st.text(param_words(choice))
    st.text(who("drop_pairs"))


def _shown(language: str) -> list[str]:
    app = AppTest.from_function(_page)
    app.query_params["lang"] = language
    app.run()
    assert not app.exception
    return [text.value for text in app.text]


@pytest.fixture(scope="module")
def english() -> list[str]:
    return _shown("en")


def test_in_english_they_are_the_words_of_the_kinds(english: list[str]) -> None:
    assert {about.sentence for about in KINDS.values()} <= set(english)
    assert "Tool results: dropped with their calls" in english
    assert english[-1] == "“Tool results: dropped with their calls”"
    assert not any("_" in text for text in english)


def test_all_of_them_have_a_chinese_form(english: list[str]) -> None:
    chinese = _shown("zh")
    assert len(chinese) == len(english)
    assert [text for text in chinese if not any("\u4e00" <= letter <= "\u9fff" for letter in text)] == []
    assert chinese[-1] == "“工具结果：连同调用一起去掉”"
