"""The data folder: who holds it, where its service answers, the key, and who may read all that."""

import json
import os
import stat
from pathlib import Path

import pytest
from filelock import FileLock

from callwright.service.platform.data_folder import ADDRESS, KEY, LOCK, Address, DataFolder, DataFolderInUse


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_folder_that_another_process_holds_cannot_be_held(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    with FileLock(tmp_path / LOCK, is_singleton=False):
        with pytest.raises(DataFolderInUse, match=str(tmp_path)):
            folder.hold()
    folder.hold()
    folder.let_go()


def test_holding_counts(tmp_path: Path) -> None:
    outer, inner = DataFolder(tmp_path), DataFolder(tmp_path)
    other = FileLock(tmp_path / LOCK, is_singleton=False, blocking=False)
    outer.hold()
    inner.hold()
    inner.let_go()
    with pytest.raises(TimeoutError):
        other.acquire()
    outer.let_go()
    with other:
        pass


def test_an_address_is_found_until_it_is_withdrawn(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    assert folder.address() is None
    folder.announce("http://127.0.0.1:8080/v1")
    assert DataFolder(tmp_path).address() == Address("http://127.0.0.1:8080/v1", os.getpid())
    folder.withdraw()
    assert folder.address() is None
    folder.withdraw()


def test_the_address_of_another_process_is_not_withdrawn(tmp_path: Path) -> None:
    (tmp_path / ADDRESS).write_text('{"base_url": "http://127.0.0.1:1/v1", "pid": 1}', encoding="utf-8")
    folder = DataFolder(tmp_path)
    folder.withdraw()
    assert folder.address() == Address("http://127.0.0.1:1/v1", 1)


def test_the_address_of_a_process_with_the_same_number_elsewhere_is_not_withdrawn(tmp_path: Path) -> None:
    said = {"base_url": "http://127.0.0.1:1/v1", "pid": os.getpid(), "host": "another-container"}
    (tmp_path / ADDRESS).write_text(json.dumps(said), encoding="utf-8")
    folder = DataFolder(tmp_path)
    folder.withdraw()
    assert folder.address() == Address("http://127.0.0.1:1/v1", os.getpid())


def test_the_address_of_a_process_that_died_is_gone_once_the_folder_is_held(tmp_path: Path) -> None:
    (tmp_path / ADDRESS).write_text('{"base_url": "http://127.0.0.1:1/v1", "pid": 1}', encoding="utf-8")
    folder = DataFolder(tmp_path)
    folder.hold()
    assert folder.address() is None
    folder.announce("http://127.0.0.1:8080/v1")
    folder.hold()
    assert folder.address() is not None
    folder.let_go()
    folder.let_go()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"base_url": "x"}', '{"base_url": "x", "pid": "none"}', "\x00"]
)
def test_a_broken_address_counts_as_none(tmp_path: Path, text: str) -> None:
    (tmp_path / ADDRESS).write_text(text, encoding="utf-8")
    assert DataFolder(tmp_path).address() is None


def test_a_key_is_kept(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    assert folder.key() is None
    folder.keep_key("svc_live_1")
    folder.keep_key("svc_live_2")
    assert DataFolder(tmp_path).key() == "svc_live_2"
    (tmp_path / KEY).write_text("\n", encoding="utf-8")
    assert folder.key() is None


def test_nothing_is_left_beside_the_files(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    folder.announce("http://127.0.0.1:8080/v1")
    folder.keep_key("svc_live_1")
    assert {path.name for path in tmp_path.iterdir()} == {ADDRESS, KEY}


def test_only_the_owner_can_read_the_folder_the_key_and_the_address(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        folder = DataFolder(tmp_path / "new")
        folder.announce("http://127.0.0.1:8080/v1")
        folder.keep_key("svc_live_1")
    finally:
        os.umask(before)
    assert mode(folder.path) == 0o700
    assert [mode(folder.path / name) for name in (ADDRESS, KEY)] == [0o600, 0o600]


def test_a_file_in_the_place_of_the_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        DataFolder(tmp_path / "file")
