"""The arguments that `import_audience` and `export_deployment` have where they may use files, as JSON Schema.

They name the folders, so they are made at the start and are not in `definitions.json`.
"""

from collections.abc import Mapping
from typing import Any

READS_FILES = "import_audience"
"""The tool that reads files."""
WRITES_FILES = "export_deployment"
"""The tool that writes them."""
PATIENCE_S = 40.0
"""A call with a file ends after about this time and says how to continue: hosts give up after a minute."""


def with_file_arguments(schema: Mapping[str, Any], folders: str) -> dict[str, Any]:
    """The schema of its arguments with those for a file, of which `csv` is then one of two ways."""
    required = [name for name in schema.get("required", []) if name != "csv"]
    return {**schema, "properties": {**schema["properties"], **_arguments(schema, folders)}, "required": required}


def with_saving_arguments(schema: Mapping[str, Any], folders: str) -> dict[str, Any]:
    """The schema of the arguments of `export_deployment` with those for a file to write."""
    more = {
        "path": {
            "type": "string",
            "description": f"The file to write, whole path or relative to {folders}. Left out: only where to get it.",
        },
        "overwrite": {
            "type": "boolean",
            "default": False,
            "description": "With path: replaces a file of that name. Only if the person says so.",
        },
    }
    return {**schema, "properties": {**schema["properties"], **more}}


def _arguments(schema: Mapping[str, Any], folders: str) -> dict[str, Any]:
    return {
        "path": {
            "type": "string",
            "description": "In place of csv: a CSV file, which may be packed with gzip, or an XLSX file; whole path or "
            f"relative to {folders}.",
        },
        "from_row": {
            "type": "integer",
            "default": 1,
            "description": "With path: the first data row to import. An answer that stopped early says where to go on.",
        },
        "wait_seconds": {
            **schema["properties"]["wait_seconds"],
            "description": f"How long to wait for its end; with path {PATIENCE_S:.0f} if left out.",
        },
    }
