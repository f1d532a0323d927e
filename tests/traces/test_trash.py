import os
import time

import pytest

from agent.errors import InputError
from traces import trash
from traces.trash import Trash


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "saved"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.json").write_text("A")
    (folder / "sub" / "b.json").write_text("B")
    return folder


def names(folder):
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.json")
        if trash.FOLDER not in path.relative_to(folder).parts
    )


def test_deleted_files_come_back_under_their_names(folder):
    deleted = Trash(folder).delete([folder / "a.json", folder / "sub" / "b.json"])
    assert names(folder) == [] and deleted.names == ("a.json", "b.json")
    assert Trash(folder).restore(deleted.id).files == deleted.files
    assert names(folder) == ["a.json", "sub/b.json"]
    assert (folder / "sub" / "b.json").read_text() == "B"
    with pytest.raises(InputError, match="not in the trash"):
        Trash(folder).restore(deleted.id)


def test_a_whole_folder_goes_and_comes_back(folder):
    deleted = Trash(folder).delete([folder / "sub"], folders=True)
    assert names(folder) == ["a.json"] and deleted.names == ("sub",)
    Trash(folder).restore(deleted.id)
    assert names(folder) == ["a.json", "sub/b.json"]
    with pytest.raises(InputError, match="not there any more"):
        Trash(folder).delete([folder / "a.json"], folders=True)


def test_undo_never_overwrites_and_brings_back_all_or_nothing(folder):
    deleted = Trash(folder).delete([folder / "a.json", folder / "sub" / "b.json"])
    (folder / "sub" / "b.json").write_text("new")
    with pytest.raises(InputError, match=r"b\.json: there is another file of that name now"):
        Trash(folder).restore(deleted.id)
    assert names(folder) == ["sub/b.json"] and (folder / "sub" / "b.json").read_text() == "new"
    (folder / "sub" / "b.json").unlink()
    Trash(folder).restore(deleted.id)
    assert (folder / "sub" / "b.json").read_text() == "B"


def test_where_there_are_no_links_files_move_all_the_same(folder, monkeypatch):
    def refuse(*names, **options):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    deleted = Trash(folder).delete([folder / "a.json"])
    (folder / "a.json").write_text("new")
    with pytest.raises(InputError, match="another file"):
        Trash(folder).restore(deleted.id)
    (folder / "a.json").unlink()
    Trash(folder).restore(deleted.id)
    assert (folder / "a.json").read_text() == "A"


@pytest.mark.parametrize(
    "name", ["../outside.json", ".index.sqlite", ".trash/x", "sub/../../outside.json", "linked/c.json"]
)
def test_only_files_of_the_data_folder_can_be_deleted(folder, name):
    outside = folder.parent / "elsewhere"
    outside.mkdir()
    (outside / "c.json").write_text("C")
    (folder.parent / "outside.json").write_text("O")
    (folder / ".index.sqlite").write_text("I")
    (folder / "linked").symlink_to(outside)
    with pytest.raises(InputError):
        Trash(folder).delete([folder / "a.json", folder / name])
    assert (folder / "a.json").exists() and (outside / "c.json").exists() and (folder / ".index.sqlite").exists()


def test_a_link_is_moved_and_what_it_leads_to_stays(folder, tmp_path):
    (tmp_path / "real.json").write_text("R")
    (folder / "link.json").symlink_to(tmp_path / "real.json")
    deleted = Trash(folder).delete([folder / "link.json"])
    assert not (folder / "link.json").exists() and (tmp_path / "real.json").read_text() == "R"
    Trash(folder).restore(deleted.id)
    assert (folder / "link.json").is_symlink()


@pytest.mark.parametrize("wrong", ["gone.json", "sub"])
def test_what_is_no_file_is_named_and_nothing_moves(folder, wrong):
    with pytest.raises(InputError, match=wrong):
        Trash(folder).delete([folder / "a.json", folder / wrong])
    assert (folder / "a.json").exists()


@pytest.mark.parametrize("deleted", ["", "..", "../saved", "nothing", "a.json"])
def test_an_id_that_is_none_restores_nothing(folder, deleted):
    with pytest.raises(InputError, match="not in the trash"):
        Trash(folder).restore(deleted)
    assert names(folder) == ["a.json", "sub/b.json"]


def test_the_trash_is_emptied_after_thirty_days(folder):
    assert Trash(folder).empty() == 0
    old, new = (Trash(folder).delete([folder / name]) for name in ("a.json", "sub/b.json"))
    long_ago = time.time() - 31 * 86_400
    os.utime(folder / trash.FOLDER / old.id, (long_ago, long_ago))
    assert Trash(folder).empty() == 1
    with pytest.raises(InputError):
        Trash(folder).restore(old.id)
    Trash(folder).restore(new.id)
    assert names(folder) == ["sub/b.json"]
