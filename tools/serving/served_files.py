"""Tools for the protocol server that use files: `import_audience` and `export_deployment` with the argument `path`.

Their definitions name the folders, so they are made at the start and are not in `definitions.json`.
"""

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from mcp.server.mcpserver.tools import Tool
from mcp.types import ToolAnnotations

from callwright.tools.arguments.file_arguments import (
    PATIENCE_S,
    READS_FILES,
    WRITES_FILES,
    with_file_arguments,
    with_saving_arguments,
)
from callwright.tools.arguments.files import MOST_BYTES, Folders
from callwright.tools.serving.served import ServedTool

if TYPE_CHECKING:
    from callwright.tools.runtime.tool import Tool as CatalogueTool


class ImportFromFolders(ServedTool):
    """`import_audience` that also takes the path of a file."""

    folders: Any
    patience_s: float

    def behind(self) -> "CatalogueTool":
        """The tool of the catalogue, with the argument `path`."""
        from callwright.tools.serving.file_import import import_tool

        return import_tool(self.folders, self.patience_s)


class ExportToFolders(ServedTool):
    """`export_deployment` that also writes a file."""

    folders: Any

    def behind(self) -> "CatalogueTool":
        """The tool of the catalogue, with the arguments `path` and `overwrite`."""
        from callwright.tools.serving.file_export import export_tool

        return export_tool(self.folders)


def with_files(
    tools: Iterable[Tool], folders: Folders, *, writes: bool = True, patience_s: float = PATIENCE_S
) -> list[Tool]:
    """The tools, with an `import_audience` that reads files of the folders, each call for about `patience_s`, and if it
    `writes` an `export_deployment` that writes them.
    """
    made = {READS_FILES: partial(_reading, patience_s=patience_s), **({WRITES_FILES: _writing} if writes else {})}
    return [
        made[tool.name](tool, folders) if isinstance(tool, ServedTool) and tool.name in made else tool for tool in tools
    ]


def _writing(tool: ServedTool, folders: Folders) -> ServedTool:
    answer = tool.fn_metadata.output_schema or {}
    said = {"path": {"type": "string"}, "size_bytes": {"type": "integer"}}
    schema = {**answer, "properties": {**answer.get("properties", {}), **said}}
    fields: dict[str, Any] = {
        **dict(tool),
        "description": f"{tool.description} With path it writes the file, and says how far it is.",
        "parameters": with_saving_arguments(tool.parameters, str(folders)),
        "fn_metadata": tool.fn_metadata.model_copy(update={"output_schema": schema}),
        "annotations": ToolAnnotations(
            read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
        ),
        "folders": folders,
    }
    return ExportToFolders(**fields)


def _reading(tool: ServedTool, folders: Folders, *, patience_s: float) -> ServedTool:
    answer = tool.fn_metadata.output_schema or {}
    said = {"parts": {"type": "array"}, "next_row": {"type": "integer"}}
    schema = {**answer, "properties": {**answer.get("properties", {}), **said}}
    fields: dict[str, Any] = {
        **dict(tool),
        "description": f"{tool.description} With path in place of csv it reads a file of the person's own, up to "
        f"{MOST_BYTES // 1_000_000_000} GB, uploads it and says how far it is.",
        "parameters": with_file_arguments(tool.parameters, str(folders)),
        "fn_metadata": tool.fn_metadata.model_copy(update={"output_schema": schema}),
        "folders": folders,
        "patience_s": patience_s,
    }
    return ImportFromFolders(**fields)
