"""Files of the folders that were named, and of no other."""

import os
from pathlib import Path
from typing import BinaryIO

import pytest
from mcp.server.mcpserver.exceptions import ToolError

from callwright.tools.arguments.files import MOST_BYTES, Folders


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "mine"
    (made / "march").mkdir(parents=True)
    (made / "people.csv").write_bytes(b"mine")
    (made / "march" / "people.csv").write_bytes(b"march")
    (tmp_path / "secret.csv").write_bytes(b"secret")
    (tmp_path / "mine too").mkdir()
    (tmp_path / "mine too" / "people.csv").write_bytes(b"too")
    return made


def read(folders: Folders, path: str) -> bytes:
    file: BinaryIO = folders.opened(path)
    with file:
        return file.read()


def refusal(folders: Folders, path: str) -> str:
    with pytest.raises(ToolError) as caught:
        folders.opened(path)
    return str(caught.value)


def test_a_file_is_found_by_its_whole_and_by_its_relative_path(folder: Path) -> None:
    folders = Folders([folder])
    assert read(folders, str(folder / "people.csv")) == b"mine"
    assert read(folders, "march/people.csv") == b"march"
    assert read(folders, "march/../people.csv") == b"mine"


@pytest.mark.parametrize(
    "path", ["../secret.csv", "march/../../secret.csv", "/etc/passwd", "../mine too/people.csv", "..", "~/secret.csv"]
)
def test_nothing_outside_is_read(folder: Path, path: str) -> None:
    said = refusal(Folders([folder]), path)
    assert "lies outside" in said or "there is no such file" in said


def test_a_file_outside_is_refused_in_the_same_words_whether_it_is_there_or_not(folder: Path) -> None:
    folders = Folders([folder])
    there, absent = str(folder.parent / "secret.csv"), str(folder.parent / "absent.csv")
    assert refusal(folders, there) == refusal(folders, absent)


def test_a_folder_whose_name_begins_alike_is_another_folder(folder: Path) -> None:
    assert "lies outside" in refusal(Folders([folder]), str(folder.parent / "mine too" / "people.csv"))


def test_a_link_inside_is_followed_and_one_that_leads_out_is_refused(folder: Path) -> None:
    (folder / "inside.csv").symlink_to(folder / "people.csv")
    (folder / "out.csv").symlink_to(folder.parent / "secret.csv")
    (folder / "away").symlink_to(folder.parent)
    folders = Folders([folder])
    assert read(folders, "inside.csv") == b"mine"
    assert "lies outside" in refusal(folders, "out.csv")
    assert "lies outside" in refusal(folders, "away/secret.csv")


def test_a_folder_may_itself_be_reached_by_a_link(folder: Path) -> None:
    (folder.parent / "link").symlink_to(folder)
    folders = Folders([folder.parent / "link"])
    assert read(folders, str(folder.parent / "link" / "people.csv")) == b"mine"
    assert read(folders, str(folder / "people.csv")) == b"mine"


def test_a_folder_that_is_swapped_for_a_link_meanwhile_is_not_followed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder.parent / "elsewhere").mkdir()
    (folder.parent / "elsewhere" / "people.csv").write_bytes(b"secret")
    there = os.path.lexists

    def swapped(path: Path) -> bool:
        (folder / "march").rename(folder / "april")
        (folder / "march").symlink_to(folder.parent / "elsewhere")
        return there(path)

    monkeypatch.setattr(os.path, "lexists", swapped)
    assert "cannot be opened" in refusal(Folders([folder]), "march/people.csv")


def test_a_circle_of_links_is_refused(folder: Path) -> None:
    (folder / "one").symlink_to(folder / "two")
    (folder / "two").symlink_to(folder / "one")
    assert "Invalid arguments: path: " in refusal(Folders([folder]), "one")


def test_only_ordinary_files_are_read_and_a_pipe_does_not_make_anybody_wait(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    folders = Folders([folder])
    assert "no ordinary file" in refusal(folders, "pipe")
    assert "no ordinary file" in refusal(folders, "march")
    assert "no ordinary file" in refusal(folders, ".")


def test_a_path_in_two_folders_has_to_be_whole(folder: Path) -> None:
    folders = Folders([folder, folder / "march", folder.parent / "mine too"])
    assert "more than one folder" in refusal(folders, "people.csv")
    assert read(folders, "march/people.csv") == b"march"


def test_an_empty_file_and_one_that_is_too_large_are_refused(folder: Path) -> None:
    (folder / "empty.csv").touch()
    with (folder / "large.csv").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    folders = Folders([folder])
    assert "is empty" in refusal(folders, "empty.csv")
    assert "larger than 2 GB" in refusal(folders, "large.csv")


def test_a_file_that_is_not_there_is_said_to_be_missing(folder: Path) -> None:
    assert f"there is no such file in {folder}" in refusal(Folders([folder]), "april.csv")


def test_a_path_with_nul_is_refused(folder: Path) -> None:
    assert "NUL" in refusal(Folders([folder]), "people\x00.csv")


def test_a_folder_that_is_missing_is_an_error_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="absent"):
        Folders([tmp_path / "absent"])
