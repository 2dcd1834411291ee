"""export_deployment with the path of a file: written as it comes, and there under its name once it is whole."""

from dataclasses import replace
from functools import partial
from typing import Annotated

import anyio
from anyio import to_thread
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from callwright.client.errors import CallwrightError
from callwright.contract.deployments.exports import ExportDeployment, export_deployment
from callwright.tools.arguments.arguments import narrowed
from callwright.tools.arguments.files import Folders, NewFile
from callwright.tools.catalogue.exports import ExportedRows, asked_of_service, command_for
from callwright.tools.catalogue.registry import tool_named
from callwright.tools.replies.errors import explained_to
from callwright.tools.runtime.tool import CHANGES, Reply, Tool, data_of
from callwright.tools.runtime.tool_context import ToolContext
from callwright.tools.wording.cleaning import cleaned
from callwright.tools.wording.text import lines

EXPORT_LIMIT_S = 600.0
"""Seconds that writing a file may take."""
_SAID_EVERY_S = 1.0
_TAG_LETTERS = 8


class ExportToFile(ExportDeployment):
    """What to export, and the file to write it to."""

    path: Annotated[str | None, Field(min_length=1, max_length=4_096, description="The file to write.")] = None
    overwrite: Annotated[bool, Field(description="Replaces a file of that name.")] = False


class SavedRows(ExportedRows):
    """The file that was written."""

    path: str
    size_bytes: int


def export_tool(folders: Folders) -> Tool:
    """`export_deployment` that also writes a file in these folders."""
    tool = tool_named(export_deployment.name)
    return replace(tool, input_model=ExportToFile, handler=partial(_exported, folders), hints=CHANGES)


async def _exported(folders: Folders, context: ToolContext, asked: ExportToFile) -> Reply:
    wanted = narrowed(asked, ExportDeployment)
    if asked.path is None:
        if asked.overwrite:
            raise ToolError("Invalid arguments: overwrite: goes with path, which names the file to write.")
        return await asked_of_service(context, wanted)
    if context.session.masks:
        wanted = ExportDeployment.model_validate({**wanted.model_dump(exclude_unset=True), "masked": True})
    tag = context.session.ids()[:_TAG_LETTERS]
    file = await to_thread.run_sync(lambda: folders.created(asked.path or "", overwrites=asked.overwrite, tag=tag))
    try:
        with anyio.fail_after(EXPORT_LIMIT_S):
            media_type = await _write(context, wanted, file)
    except TimeoutError as error:
        raise ToolError(
            f"The file was not whole after {EXPORT_LIMIT_S / 60:.0f} minutes, and is removed. "
            f"A person can write it with the command: {command_for(wanted)}"
        ) from error
    except CallwrightError as error:
        said = explained_to(context.session, error, tool_named(export_deployment.name))
        raise ToolError(f"No file was written: {said}") from error
    except OSError as error:
        raise ToolError(f"path: the file cannot be written, and is removed: {error.strerror or error}.") from error
    finally:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(file.drop)
    return _reply(wanted, file, media_type)


async def _write(context: ToolContext, wanted: ExportDeployment, file: NewFile) -> str:
    clock = context.session.clock
    begun_s = said_s = clock.monotonic()
    async with context.client.open(export_deployment, wanted) as download:
        async for chunk in download.aiter_bytes():
            await to_thread.run_sync(file.write, chunk)
            now_s = clock.monotonic()
            if now_s - said_s >= _SAID_EVERY_S:
                said_s = now_s
                speed = file.size / (now_s - begun_s)
                await context.progress(float(file.size), None, f"{_mb(file.size)} MB written, {_mb(speed)} MB a second")
        media_type = download.media_type
    await to_thread.run_sync(file.keep)
    await context.progress(float(file.size), float(file.size), f"{_mb(file.size)} MB written")
    return media_type


def _reply(wanted: ExportDeployment, file: NewFile, media_type: str) -> Reply:
    saved = SavedRows(media_type=media_type, path=str(file.path), size_bytes=file.size)
    text = lines(
        f"The {wanted.of} are in {cleaned(str(file.path))}, {_mb(file.size)} MB.",
        "Numbers have their middle masked, and there are no columns with what lists and people say. A person gets "
        f"all of it with the command: {command_for(wanted)} --reveal-numbers"
        if wanted.masked
        else None,
    )
    return Reply(text=text, data=data_of(saved))


def _mb(size: float) -> str:
    return f"{size / 1_000_000:,.1f}"
