"""The exit status of `callwright audiences import`, and what it says of rows that were not taken."""

from pathlib import Path
from typing import Any

import pytest
import typer

from callwright.server.commands.tool_commands import running
from callwright.server.commands.tool_commands.declared import declared_tools
from callwright.server.commands.tool_commands.invoked import ShellOptions, invoke

ROWS = {"id": "imp_1", "audience_id": "aud_1", "added": 5}


def status_of(monkeypatch: pytest.MonkeyPatch, folder: Path, data: dict[str, Any], **arguments: Any) -> int:
    """The exit status of the command whose tool gives this answer."""

    async def answer_of(*_: object, **__: object) -> running.ToolAnswer:
        return running.ToolAnswer("words", {**ROWS, **data}, refused=False)

    monkeypatch.setattr(running, "answer_of", answer_of)
    options = ShellOptions(
        data=folder / "data", database=None, as_json=True, reveal_numbers=False, for_people=True, save=None
    )
    try:
        invoke(declared_tools()["import_audience"], {"path": str(folder / "people.csv"), **arguments}, options)
    except typer.Exit as ended:
        return ended.exit_code
    return 0


@pytest.mark.parametrize("status", ["completed", "completed_with_errors"])
def test_a_list_that_was_taken_to_its_end_is_a_success(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str], status: str
) -> None:
    assert status_of(monkeypatch, tmp_path, {"status": status}) == 0
    assert capsys.readouterr().err == ""


def test_a_list_taken_in_part_says_where_to_go_on_and_is_no_success(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status_of(monkeypatch, tmp_path, {"status": "completed", "next_row": 8}) == 1
    assert capsys.readouterr().err == "Nothing from row 8 on was sent. Go on with --from-row 8.\n"


@pytest.mark.parametrize("status", ["pending", "importing", "uploading"])
def test_an_import_that_has_not_ended_is_no_success_and_names_the_command_that_looks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str], status: str
) -> None:
    assert status_of(monkeypatch, tmp_path, {"status": status}) == 1
    assert "callwright audiences get-import aud_1 imp_1" in capsys.readouterr().err


def test_who_asks_not_to_wait_gets_a_success_while_the_import_goes_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert status_of(monkeypatch, tmp_path, {"status": "importing"}, wait_seconds=0) == 0
    assert status_of(monkeypatch, tmp_path, {"status": "failed"}, wait_seconds=0) == 1
