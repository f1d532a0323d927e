"""Scripts of one's own are kept in the data folder, under names that cannot be guessed and lead nowhere else."""

import pytest

from agent.errors import InputError
from agent.tools import tool
from traces.script_store import ScriptStore
from traces.store import Store

TEXT = "title: Sums\nsummary: Adds.\ntools: [add]\nturns: [{calls: [{name: add, arguments: {a: 1, b: 2}}]}, done]\n"


@pytest.fixture
def store(tmp_path):
    return ScriptStore(tmp_path)


def test_a_script_is_kept_and_listed_with_what_it_is(store):
    kept = store.save("Tea & <Cups>!", TEXT)
    assert kept.startswith("tea-cups-") and len(kept) == len("tea-cups-") + 12
    (info,) = store.list()
    assert (info.id, info.title, info.summary, info.turns, info.tools) == (kept, "Sums", "Adds.", 2, ("add",))
    assert (info.rules, info.recorded, info.problem) == (False, None, "")
    assert store.read(kept) == TEXT


def test_two_scripts_of_one_name_are_two(store):
    assert store.save("tea", TEXT) != store.save("tea", TEXT)
    assert len(store.list()) == 2


def test_saving_again_takes_the_same_place_and_the_list_follows(store):
    kept = store.save("tea", TEXT)
    assert store.list()[0].title == "Sums"
    assert store.save("another", TEXT.replace("Sums", "Other sums"), kept) == kept
    assert [info.title for info in store.list()] == ["Other sums"]


def test_half_a_script_is_kept_and_says_what_is_wrong(store):
    kept = store.save("tea", "turns:\n\t- x")
    (info,) = store.list()
    assert "line 2" in info.problem
    assert store.read(kept) == "turns:\n\t- x"


def test_json_is_kept_as_json(store):
    kept = store.save("tea", '{"turns": ["done"]}')
    assert store.find(kept).suffix == ".json"
    assert store.list()[0].problem == ""


@pytest.mark.parametrize("odd", ["../x", "a/b", "", ".", "x" * 100, "a\0b"])
def test_an_id_never_leads_out_of_the_folder(store, tmp_path, odd):
    (tmp_path / "x.yaml").write_text(TEXT)
    assert store.find(odd) is None
    with pytest.raises(InputError, match="there is no script"):
        store.read(odd)
    with pytest.raises(InputError, match="there is no script"):
        store.save("n", TEXT, odd)


def test_what_was_deleted_can_be_brought_back(store):
    kept = store.save("tea", TEXT)
    deleted = store.delete(kept)
    assert store.list() == []
    store.restore(deleted)
    assert store.read(kept) == TEXT


def test_scripts_are_no_traces(store, tmp_path):
    store.save("tea", '{"turns": ["done"]}')
    samples = tmp_path / "none"
    samples.mkdir()
    assert Store(tmp_path, samples=samples).list() == []


def test_a_script_may_name_tools_of_ones_own(store, tmp_path):
    @tool
    def greet() -> str:
        """Say hello."""
        return "hello"

    store.save("tea", "tools: [greet]\nturns: [done]")
    assert "greet" in store.list()[0].problem
    assert ScriptStore(tmp_path, [greet]).list()[0].problem == ""
    assert "greet" in store.list()[0].problem
