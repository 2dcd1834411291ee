"""The arguments that `import_audience` has where it may read files, as JSON Schema.

They name the folders, so they are made at the start and are not in `definitions.json`.
"""

from collections.abc import Mapping
from typing import Any

READS_FILES = "import_audience"
"""The tool that reads files."""


def with_file_arguments(schema: Mapping[str, Any], folders: str) -> dict[str, Any]:
    """The schema of its arguments with those for a file, of which `csv` is then one of two ways."""
    required = [name for name in schema.get("required", []) if name != "csv"]
    return {**schema, "properties": {**schema["properties"], **_arguments(folders)}, "required": required}


def _arguments(folders: str) -> dict[str, Any]:
    return {
        "path": {
            "type": "string",
            "description": f"In place of csv: a CSV or XLSX file, whole path or relative to {folders}.",
        },
        "from_row": {
            "type": "integer",
            "default": 1,
            "description": "With path: the first data row to import. An answer that stopped early says where to go on.",
        },
    }
