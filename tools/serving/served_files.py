"""Tools for the protocol server that read files: `import_audience` with the argument `path`.

Its definition names the folders, so it is made at the start and is not in `definitions.json`.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from mcp.server.mcpserver.tools import Tool

from callwright.tools.arguments.file_arguments import READS_FILES, with_file_arguments
from callwright.tools.arguments.files import MOST_BYTES, Folders
from callwright.tools.serving.served import ServedTool

if TYPE_CHECKING:
    from callwright.tools.runtime.tool import Tool as CatalogueTool


class ImportFromFolders(ServedTool):
    """`import_audience` that also takes the path of a file."""

    folders: Any

    def behind(self) -> "CatalogueTool":
        """The tool of the catalogue, with the argument `path`."""
        from callwright.tools.serving.file_import import import_tool

        return import_tool(self.folders)


def with_files(tools: Iterable[Tool], folders: Folders) -> list[Tool]:
    """The tools, with an `import_audience` that reads files of the folders."""
    return [
        _reading(tool, folders) if isinstance(tool, ServedTool) and tool.name == READS_FILES else tool for tool in tools
    ]


def _reading(tool: ServedTool, folders: Folders) -> ImportFromFolders:
    answer = tool.fn_metadata.output_schema or {}
    said = {"parts": {"type": "array"}, "next_row": {"type": "integer"}}
    schema = {**answer, "properties": {**answer.get("properties", {}), **said}}
    fields: dict[str, Any] = {
        **dict(tool),
        "description": f"{tool.description} With path in place of csv it reads a file of the person's own, up to "
        f"{MOST_BYTES // 1_000_000} MB, and sends it in parts.",
        "parameters": with_file_arguments(tool.parameters, str(folders)),
        "fn_metadata": tool.fn_metadata.model_copy(update={"output_schema": schema}),
        "folders": folders,
    }
    return ImportFromFolders(**fields)
