"""Live runs on the Run page: shown after a restart as they are, continued only with the server and a key they had."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import streamlit as st
from streamlit import config
from streamlit.testing.v1 import AppTest

from pages.parts.live_model import missing
from pages.parts.runs import registry
from pages.parts.setup import Setup
from tests.pages.conftest import refused
from tests.pages.provider import Provider

Visit = Callable[..., AppTest]
Press = Callable[..., AppTest]
SECRET = "sk-test-1234567890abcdef"


@pytest.fixture
def provider(provider: Provider) -> Provider:
    """It adds once, then answers."""
    provider.adds, provider.says = True, "It is 5."
    return provider


def shown(app: AppTest) -> str:
    return "\n".join(str(each.value) for kind in ("markdown", "text", "code", "caption") for each in app.get(kind))


def started(visit: Visit, press: Press, url: str, key: str = "") -> AppTest:
    """A live run that has made its first step."""
    app = visit(model="live")
    app.text_input(key="model_name").input("some-model")
    app.text_input(key="base_url").input(url)
    app.text_input(key="api_key").input(key).run()
    return press(app, "step_over")


def restarted(app: AppTest, visit: Visit) -> AppTest:
    """A new session at the same address, of a server that knows nothing of the run."""
    run_id = app.query_params["run"]
    st.cache_resource.clear()
    return visit(run=run_id)


def test_an_interrupted_run_is_shown_and_goes_on_with_its_key(visit: Visit, press: Press, provider: Provider) -> None:
    again = restarted(started(visit, press, provider.url, SECRET), visit)
    assert len(again.dataframe[0].value) == 4
    assert f"This run used the model some-model at {provider.url}." in shown(again)
    assert "To go on, fill in on the left: API key." in shown(again)
    assert again.text_input(key="model_name").value == "some-model"
    assert again.text_input(key="base_url").value == provider.url
    assert all(refused(again, key) for key in ("step", "step_over", "continue"))
    assert again.button(key="stop").disabled
    again.text_input(key="api_key").input(SECRET)
    again = press(again, "continue")  # straight from the field to the button
    assert "The model answered and asked for nothing more." in shown(again)
    assert provider.keys == [SECRET, SECRET]


def test_an_interrupted_run_without_a_key_goes_on_at_once(visit: Visit, press: Press, provider: Provider) -> None:
    again = press(restarted(started(visit, press, provider.url), visit), "continue")
    assert "The model answered and asked for nothing more." in shown(again)
    assert provider.keys == ["no-key", "no-key"]


def test_looking_at_an_interrupted_run_changes_nothing_on_disk(
    visit: Visit, press: Press, provider: Provider, data: Path
) -> None:
    app = started(visit, press, provider.url, SECRET)
    before = {path.name: path.read_bytes() for path in data.iterdir()}
    restarted(app, visit)
    assert {path.name: path.read_bytes() for path in data.iterdir()} == before


def test_elsewhere_the_server_of_a_run_is_told_but_has_to_be_typed(
    visit: Visit, press: Press, provider: Provider
) -> None:
    app = started(visit, press, provider.url, SECRET)
    config.set_option("server.address", "0.0.0.0")
    try:
        again = restarted(app, visit)
        assert again.text_input(key="base_url").value == ""
        again.text_input(key="api_key").input(SECRET).run()
        assert "To go on, fill in on the left: Base URL." in shown(again)
        assert refused(again)
    finally:
        config.set_option("server.address", "127.0.0.1")


def test_an_empty_field_never_means_another_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    now = Setup(kind="live", model="m")
    assert missing(Setup(kind="live", model="m", base_url="https://api.openai.com/v1"), now) is None
    assert "Base URL" in (missing(Setup(kind="live", model="m", base_url="http://127.0.0.1:9/v1"), now) or "")
    assert "Base URL" in (missing(Setup(kind="live", model="m"), now) or "")


def test_the_server_is_kept_without_anything_secret() -> None:
    kept = Setup(kind="live", model="m", base_url="http://me:secret@127.0.0.1:9/v1?api-key=secret").to_dict()
    assert kept["base_url"] == "http://127.0.0.1:9/v1"


def test_a_wrong_key_can_be_replaced_and_the_call_tried_again(visit: Visit, press: Press, provider: Provider) -> None:
    provider.refuse = "wrong"
    app = started(visit, press, provider.url, "wrong")
    assert "The model call failed." in shown(app)
    app.text_input(key="api_key").input(SECRET).run()
    app = press(app, "extend")
    assert "The model answered and asked for nothing more." in shown(app)
    assert provider.keys == ["wrong", SECRET, SECRET]


def test_a_run_that_stays_open_needs_no_key_again_after_a_visit_to_the_other_page(
    visit: Visit, press: Press, provider: Provider
) -> None:
    app = started(visit, press, provider.url, SECRET)
    app.switch_page("pages/traces.py").run()
    app.switch_page("pages/run.py").run()
    assert app.text_input(key="api_key").value == ""
    press(app, "continue")
    assert provider.keys == [SECRET, SECRET]


def test_a_key_for_one_run_is_not_sent_to_the_server_of_another(visit: Visit, press: Press, provider: Provider) -> None:
    first = started(visit, press, provider.url)
    run_id = first.query_params["run"]
    st.cache_resource.clear()
    app = visit(model="live")
    app.text_input(key="model_name").input("other")
    app.text_input(key="base_url").input("http://127.0.0.1:9/v1")
    app.text_input(key="api_key").input(SECRET).run()
    app.query_params["run"] = run_id
    press(app.run(), "continue")
    assert SECRET not in provider.keys


def test_a_changed_server_begins_a_new_run(visit: Visit, press: Press, provider: Provider) -> None:
    app = started(visit, press, provider.url)
    app.text_input(key="base_url").input("http://127.0.0.1:9/v1").run()
    assert "run" not in app.query_params
    assert "The next press starts a new run." in app.toast[0].value
    assert len(registry().listed()) == 1


def test_a_task_of_ones_own_has_its_system_text_and_a_script_has_none_to_change(
    visit: Visit, press: Press, provider: Provider
) -> None:
    app = visit(scenario="own")
    app.text_area(key="task").input("What is 2 + 3?")
    app.text_area(key="system").input("Use the tools.")
    app.text_input(key="model_name").input("some-model")
    app.text_input(key="base_url").input(provider.url).run()
    assert app.dataframe[0].value["text"].tolist() == ["Use the tools.", "What is 2 + 3?"]
    app = press(app, "continue")
    (run,) = registry().listed()
    assert [message.role for message in run.loop.messages] == ["system", "user", "assistant", "tool", "assistant"]
    app.selectbox(key="scenario").select("calc").run()
    assert [area.key for area in app.text_area] == []
