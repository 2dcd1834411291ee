"""Exports, read for tests."""

import csv
import io
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from tests.support.service import Tenant

MOST = 50_000_000


async def exported(tenant: Tenant, deployment_id: str, **asked: Any) -> list[dict[str, str]]:
    """The rows of a CSV export by column."""
    async with tenant.client.deployments.export(id=deployment_id, **asked) as download:
        assert download.media_type == "text/csv"
        return rows_of((await download.read(MOST)).decode())


def rows_of(text: str) -> list[dict[str, str]]:
    """The rows of a CSV file by column; each has as many cells as the first line has names."""
    names, *rows = csv.reader(io.StringIO(text.removeprefix("\ufeff")))
    return [dict(zip(names, row, strict=True)) for row in rows]


def text_of(row: Mapping[str, str]) -> str:
    """All cells of a row."""
    return "\n".join(row.values())


def parquet_file(content: bytes) -> Any:
    """A Parquet file, read by the package that writes them, whose types are not complete."""
    return import_module("pyarrow.parquet").ParquetFile(io.BytesIO(content))
