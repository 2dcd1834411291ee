"""export_deployment with the path of a file, over the protocol in both eras."""

import os
from pathlib import Path
from typing import Any, cast

import pytest
from mcp.types import CallToolResult

from callwright.client.errors import ServiceUnreachable
from callwright.contract.deployments.exports import ExportDeployment
from callwright.server.mcp.app import build
from callwright.tools.arguments.files import Folders
from callwright.tools.arguments.schema import input_schema
from callwright.tools.serving.file_export import export_tool
from callwright.tools.serving.served import served_tools
from callwright.tools.serving.served_files import with_files
from tests.support.tools.fakes import ERAS, FakeCaller, FakeClock, FakeMedia, assistant, session
from tests.support.tools.results import text_of

ROWS = b"id,phone_number\r\n" + b"con_1,+12025550100\r\n" * 500


def service(**more: Any) -> FakeCaller:
    return FakeCaller(media=FakeMedia(ROWS, media_type="text/csv", **more))


async def exported(
    caller: FakeCaller, folder: Path, *, era: str = ERAS[-1], masks: bool = True, told: Any = None, **more: Any
) -> CallToolResult:
    held = session(caller, clock=FakeClock(), masks=masks)
    built = build(held.opened, tools=with_files(served_tools(), Folders([folder])))
    async with assistant(built, era) as client:
        arguments = {"deployment_id": "dep_1", "path": "people.csv", **more}
        return await client.call_tool("export_deployment", arguments, progress_callback=told)


def asked_of(caller: FakeCaller) -> ExportDeployment:
    return cast("ExportDeployment", caller.asked[-1].asked)


@pytest.mark.requirement("EXPORT-10")
@pytest.mark.parametrize("era", ERAS)
async def test_the_file_is_written_and_the_rows_do_not_pass_through_the_conversation(tmp_path: Path, era: str) -> None:
    caller, said = service(), []

    async def told(progress: float, total: float | None, message: str | None) -> None:
        said.append((progress, total, message))  # pyright: ignore[reportUnknownMemberType]  # a list of what comes

    result = await exported(caller, tmp_path, era=era, told=told, of="calls")
    assert not result.is_error, text_of(result)
    assert (tmp_path / "people.csv").read_bytes() == ROWS
    assert os.listdir(tmp_path) == ["people.csv"]
    data = cast("dict[str, Any]", result.structured_content)
    assert (data["path"], data["size_bytes"]) == (str(tmp_path / "people.csv"), len(ROWS))
    assert "2025550100" not in text_of(result)
    assert said == [(float(len(ROWS)), float(len(ROWS)), "0.0 MB written")]


@pytest.mark.requirement("EXPORT-05")
@pytest.mark.parametrize("masks", [True, False])
async def test_numbers_are_masked_unless_the_program_was_started_to_reveal_them(tmp_path: Path, masks: bool) -> None:
    caller = service()
    result = await exported(caller, tmp_path, masks=masks)
    assert asked_of(caller).masked is masks
    assert ("--reveal-numbers" in text_of(result)) is masks


@pytest.mark.requirement("EXPORT-10")
async def test_a_file_is_replaced_only_when_told_so(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(b"mine")
    caller = service()
    refused = await exported(caller, tmp_path)
    assert "is there already; ask the person" in text_of(refused)
    assert caller.asked == []
    assert (tmp_path / "people.csv").read_bytes() == b"mine"
    assert not (await exported(caller, tmp_path, overwrite=True)).is_error
    assert (tmp_path / "people.csv").read_bytes() == ROWS


@pytest.mark.requirement("EXPORT-10")
async def test_an_export_that_breaks_off_leaves_no_file_and_says_so(tmp_path: Path) -> None:
    gone = ServiceUnreachable("lost the connection to service.test", request_sent=True, repeatable=True)
    result = await exported(service(breaks=gone), tmp_path)
    assert result.is_error
    assert text_of(result).startswith("No file was written: ")
    assert os.listdir(tmp_path) == []


async def test_a_full_disk_leaves_no_file_and_says_so(tmp_path: Path) -> None:
    result = await exported(service(breaks=OSError(28, "No space left on device")), tmp_path)
    assert text_of(result) == "path: the file cannot be written, and is removed: No space left on device."
    assert os.listdir(tmp_path) == []


async def test_a_path_outside_is_refused(tmp_path: Path) -> None:
    assert "lies outside" in text_of(await exported(service(), tmp_path, path="../people.csv"))


async def test_without_a_path_it_says_where_the_file_can_be_had(tmp_path: Path) -> None:
    held = session(service())
    async with assistant(build(held.opened, tools=with_files(served_tools(), Folders([tmp_path]))), ERAS[-1]) as client:
        found = await client.call_tool("export_deployment", {"deployment_id": "dep_1", "of": "calls"})
        alone = await client.call_tool("export_deployment", {"deployment_id": "dep_1", "overwrite": True})
    assert "Fetch it over HTTP" in text_of(found)
    assert "overwrite: goes with path" in text_of(alone)
    assert os.listdir(tmp_path) == []


def test_the_definition_says_that_it_writes_and_its_schema_is_that_of_the_model(tmp_path: Path) -> None:
    folders = Folders([tmp_path])
    tool = next(tool for tool in with_files(served_tools(), folders) if tool.name == "export_deployment")
    assert tool.annotations is not None
    assert (tool.annotations.read_only_hint, tool.annotations.destructive_hint) == (False, True)
    assert str(tmp_path) in tool.parameters["properties"]["path"]["description"]
    checking = export_tool(folders)
    shown = {checking.shown(name) for name in input_schema(checking.arguments, descriptions={})["properties"]}
    assert set(tool.parameters["properties"]) == shown - {"masked"}


def test_a_server_that_only_reads_writes_no_file(tmp_path: Path) -> None:
    tools = with_files(served_tools(), Folders([tmp_path]), writes=False)
    tool = next(tool for tool in tools if tool.name == "export_deployment")
    assert "path" not in tool.parameters["properties"]
