"""Files that a tool makes: only in the folders that were named, whole or not at all, and never over another unasked."""

import os
from pathlib import Path

import pytest
from mcp.server.mcpserver.exceptions import ToolError

from callwright.tools.arguments.files import Folders


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "mine"
    (made / "march").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    return made


def written(folder: Path, path: str, *, overwrites: bool = False, content: bytes = b"rows") -> Path:
    file = Folders([folder]).created(path, overwrites=overwrites, tag="t")
    file.write(content)
    file.keep()
    return file.path


def refusal(folder: Path, path: str, *, overwrites: bool = False) -> str:
    with pytest.raises(ToolError) as caught:
        Folders([folder]).created(path, overwrites=overwrites, tag="t")
    return str(caught.value)


def names_in(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


@pytest.mark.parametrize("path", ["people.csv", "march/people.csv", "march/../people.csv"])
def test_a_file_is_written_in_a_folder_and_has_its_name_only_when_it_is_whole(folder: Path, path: str) -> None:
    file = Folders([folder]).created(path, overwrites=False, tag="t")
    file.write(b"ro")
    place = file.path.parent
    assert "people.csv.t.part" in names_in(place)
    assert "people.csv" not in names_in(place)
    file.write(b"ws")
    file.keep()
    file.drop()
    assert file.path.read_bytes() == b"rows"
    assert "people.csv.t.part" not in names_in(place)
    assert file.path.stat().st_mode & 0o777 == 0o600


def test_a_whole_path_in_a_folder_works(folder: Path) -> None:
    assert written(folder, str(folder / "people.csv")).read_bytes() == b"rows"


def test_what_is_dropped_leaves_nothing(folder: Path) -> None:
    file = Folders([folder]).created("people.csv", overwrites=False, tag="t")
    file.write(b"ro")
    file.drop()
    assert names_in(folder) == ["march"]


@pytest.mark.parametrize(
    "path", ["../people.csv", "/etc/people.csv", "../elsewhere/people.csv", "march/../../people.csv"]
)
def test_nothing_is_written_outside(folder: Path, path: str) -> None:
    assert "lies outside" in refusal(folder, path)
    assert names_in(folder.parent) == ["elsewhere", "mine"]


@pytest.mark.parametrize("path", [".", "..", "march/", "", "a\x00b", "x" * 300, "absent/people.csv", "march"])
def test_a_path_that_names_no_file_to_be_is_refused(folder: Path, path: str) -> None:
    assert "Invalid arguments: path: " in refusal(folder, path)


def test_a_file_that_is_there_is_replaced_only_when_told_so(folder: Path) -> None:
    (folder / "people.csv").write_bytes(b"mine")
    assert "overwrite=true" in refusal(folder, "people.csv")
    assert (folder / "people.csv").read_bytes() == b"mine"
    assert written(folder, "people.csv", overwrites=True).read_bytes() == b"rows"


def test_a_file_that_appears_while_another_is_written_is_not_replaced(folder: Path) -> None:
    file = Folders([folder]).created("people.csv", overwrites=False, tag="t")
    file.write(b"rows")
    (folder / "people.csv").write_bytes(b"mine")
    with pytest.raises(ToolError, match="is there already"):
        file.keep()
    assert (folder / "people.csv").read_bytes() == b"mine"
    assert names_in(folder) == ["march", "people.csv"]


def test_no_link_is_written_through(folder: Path) -> None:
    (folder / "out.csv").symlink_to(folder.parent / "elsewhere" / "people.csv")
    (folder / "away").symlink_to(folder.parent / "elsewhere")
    assert "no ordinary file" in refusal(folder, "out.csv", overwrites=True)
    assert "lies outside" in refusal(folder, "away/people.csv", overwrites=True)
    assert names_in(folder.parent / "elsewhere") == []


def test_a_folder_that_is_swapped_for_a_link_meanwhile_is_not_followed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = os.path.lexists

    def swapped(path: Path) -> bool:
        (folder / "march").rename(folder / "april")
        (folder / "march").symlink_to(folder.parent / "elsewhere")
        return there(path)

    monkeypatch.setattr(os.path, "lexists", swapped)
    assert "cannot be written" in refusal(folder, "march/people.csv")
    assert names_in(folder.parent / "elsewhere") == []
