"""Folders whose files may be read: the setting, and the program that was started with it."""

import os
from pathlib import Path

import anyio
import pytest

from callwright.server.settings import BadSetting, read_settings
from tests.support.processes.programs import assistant

CSV = "phone_number,first_name\n+12025550100,Maria\n"


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "lists").mkdir()
    (tmp_path / "other lists").mkdir()
    return tmp_path / "lists", tmp_path / "other lists"


def test_without_the_setting_there_is_no_folder() -> None:
    assert read_settings({}).files == ()


def test_several_folders_are_separated_as_in_path(folders: tuple[Path, Path]) -> None:
    given = os.pathsep.join(["", *map(str, folders), ""])
    assert read_settings({"CALLWRIGHT_FILES": given}).files == folders


def test_flags_win_over_the_environment(folders: tuple[Path, Path]) -> None:
    assert read_settings({"CALLWRIGHT_FILES": str(folders[0])}, files=[folders[1]]).files == (folders[1],)


def test_a_folder_that_is_none_is_named(folders: tuple[Path, Path]) -> None:
    (folders[0] / "people.csv").write_text(CSV, encoding="utf-8")
    for wrong in (folders[0] / "absent", folders[0] / "people.csv"):
        with pytest.raises(BadSetting, match="CALLWRIGHT_FILES, or --files, must name folders that exist"):
            read_settings({"CALLWRIGHT_FILES": str(wrong)})


@pytest.mark.parametrize("by_flag", [True, False])
async def test_the_program_reads_files_of_its_folders(
    folders: tuple[Path, Path], tmp_path: Path, by_flag: bool
) -> None:
    (folders[1] / "people.csv").write_text(CSV, encoding="utf-8")
    given = [part for folder in folders for part in ("--files", folder)] if by_flag else []
    settings = {} if by_flag else {"CALLWRIGHT_FILES": os.pathsep.join(map(str, folders))}
    with anyio.fail_after(60):
        async with assistant(tmp_path, "--data", tmp_path / "data", *given, settings=settings) as found:
            await found.use("create_audience", name="March")
            begun = await found.use("import_audience", audience_id="March", path="people.csv")
            assert (begun["status"], begun["added"]) == ("completed", 1)
            outside = await found.refused(
                "import_audience", audience_id="March", path=str(tmp_path / "data" / "callwright.db")
            )
            assert "lies outside" in outside
