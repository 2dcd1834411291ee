"""Columns of tables that are written as files, and the cells in them."""

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal

from callwright.contract.deployments.exports import CSV, PARQUET, ExportFormat

ColumnKind = Literal["text", "integer", "number", "truth", "moment"]
MEDIA_TYPES: dict[ExportFormat, str] = {"csv": CSV, "parquet": PARQUET}
Cells = tuple[Any, ...]
"""A row: a value for each column, None where there is none. A moment is text, as it is in JSON."""


@dataclass(frozen=True)
class Column:
    """A column by its name, with the kind of its values."""

    name: str
    kind: ColumnKind = "text"


def writes_parquet() -> bool:
    """Whether the package that writes Parquet is installed, by the extra `parquet`. It is not imported for that."""
    return find_spec("pyarrow") is not None
