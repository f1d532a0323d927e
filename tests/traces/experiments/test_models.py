"""The model of a run: the fake one of its script, or a live one with its settings, which shares its connections."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from agent.errors import InputError
from agent.models.json_action import JsonActionModel
from tests.traces.experiments.rerun import SCRIPT, begun, condition, recorded, task_of
from traces.experiments.design.experiment import NOTHING_CHANGED, ModelSpec, Subject
from traces.experiments.subjects.models import make_model
from traces.experiments.subjects.task import load_subject

SAID = {"choices": [{"message": {"role": "assistant", "content": "It is BANANA."}, "finish_reason": "stop"}]}


@pytest.fixture
def server():
    """A server that keeps what it was asked: the key, the body and the address of who asked."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            asked.append((self.headers["authorization"], body, self.client_address))
            data = json.dumps(SAID).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    here = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=here.serve_forever, daemon=True).start()
    here.asked = asked
    yield here
    here.shutdown()
    here.server_close()


def live(server=None, **more):
    url = f"http://127.0.0.1:{server.server_port}/v1" if server else ""
    return ModelSpec(**{"name": "small", "kind": "live", "model": "tiny", "base_url": url, **more})


@pytest.fixture
def task():
    return load_subject(Subject(name="word", scenario="code_word"), None)


def ask(spec, task, seed=1, key=None, under=NOTHING_CHANGED):
    started = begun(task, under, make_model(spec, task, seed=seed, key=key))
    started.loop.finish()
    return started


def test_a_live_model_is_asked_with_the_settings_of_the_design(server, task):
    spec = live(server, temperature=0.7, max_tokens=150, send_seed=True)
    started = ask(spec, task, seed=4, key="secret-key-1")
    key, body, _ = server.asked[0]
    assert key == "Bearer secret-key-1"
    assert {name: body.get(name) for name in ("model", "temperature", "max_tokens", "seed")} == {
        "model": "tiny", "temperature": 0.7, "max_tokens": 150, "seed": 4,
    }  # fmt: skip
    assert [m["role"] for m in body["messages"]] == ["system", "user"]
    assert [each["function"]["name"] for each in body["tools"]] == ["read_file"]
    assert not started.script
    assert "secret-key-1" not in json.dumps(started.loop.snapshot())


def test_what_is_not_set_is_not_sent(server, task):
    ask(live(server), task)
    assert server.asked[0][1].keys() <= {"model", "messages", "tools"}


def test_runs_share_connections_and_each_sends_its_own_seed(server, task):
    spec = live(server, send_seed=True)
    for seed in (1, 2, 3):
        ask(spec, task, seed=seed)
    assert [body["seed"] for _, body, _ in server.asked] == [1, 2, 3]
    assert len({address for _, _, address in server.asked}) == 1


def test_an_intervention_reaches_the_wire(server, tmp_path):
    task = task_of(recorded("code_word"), tmp_path, step=2, mode="decision")
    ask(live(server), task, under=condition("blank_results"))
    assert [m["content"] for m in server.asked[0][1]["messages"] if m["role"] == "tool"] == [""]


def test_the_key_comes_from_the_environment_where_none_is_given(server, task, monkeypatch):
    monkeypatch.setenv("LAB_KEY", "from-outside")
    ask(live(server, key_env="LAB_KEY"), task)
    ask(live(server, key_env="LAB_KEY"), task, key="")
    assert [key for key, _, _ in server.asked] == ["Bearer from-outside", "Bearer no-key"]


def test_the_server_comes_from_the_environment_where_none_is_named(server, task, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.server_port}/v1")
    ask(live(), task)
    assert len(server.asked) == 1


def test_json_actions_are_spoken_where_the_design_says_so(task):
    model = make_model(live(base_url="http://127.0.0.1:9/v1", protocol="json_action"), task, seed=1)
    assert isinstance(model, JsonActionModel)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (
            {},
            "the model 'small' needs the base_url of its server; or, for OpenAI, a key in the environment variable OP",
        ),
        ({"base_url": "https://api.openai.com/v1"}, "the model 'small' needs the base_url"),
        ({"base_url": "http://127.0.0.1:9/v1", "key_env": "LAB_KEY"}, "environment variable LAB_KEY, which is not set"),
        ({"base_url": "nonsense"}, "the model 'small': The base URL must look like"),
        ({"base_url": "http://127.0.0.1:9/v1", "model": " "}, "the model 'small' needs model: the name"),
    ],
)
def test_what_is_missing_is_a_sentence_with_the_name_of_the_model(more, words, task, monkeypatch):
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "LAB_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InputError) as raised:
        make_model(live(**more), task, seed=1)
    assert words in str(raised.value)


def test_ones_own_words_need_a_live_model():
    task = load_subject(Subject(name="own", task="Hello."), None)
    with pytest.raises(InputError, match=r"'own' has no script.*'script'.*give it a live model"):
        make_model(SCRIPT, task, seed=1)


def test_the_seed_of_a_run_draws_the_chances_of_its_script(tmp_path):
    (tmp_path / "dice.yaml").write_text("task: x\nrules:\n  - {when: {chance: 0.5}, text: heads}\ndefault: tails\n")
    task = load_subject(Subject(name="dice", script="dice.yaml"), tmp_path)
    answers = [ask(SCRIPT, task, seed=seed).loop.trace.outcome.final for seed in range(20)]
    assert set(answers) == {"heads", "tails"}
    assert answers == [ask(SCRIPT, task, seed=seed).loop.trace.outcome.final for seed in range(20)]
