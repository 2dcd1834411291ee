"""A large file, imported by its path through `callwright mcp`: in one call, also where another process serves."""

from pathlib import Path
from typing import Any, cast

import anyio
import pytest

from tests.support.campaigns import phone
from tests.support.processes.programs import assistant

ROWS = 30_000


def list_of(rows: int) -> bytes:
    return b"phone_number,first_name\n" + b"".join(
        b"%s,Person %d of all\n" % (phone(row).encode(), row) for row in range(rows)
    )


@pytest.mark.requirement("UP-09")
async def test_one_call_uploads_and_imports_a_file_larger_than_a_request(tmp_path: Path) -> None:
    (tmp_path / "lists").mkdir()
    data = list_of(ROWS)
    assert len(data) > 900_000
    (tmp_path / "lists" / "people.csv").write_bytes(data)
    flags = ("--data", tmp_path / "data", "--files", tmp_path / "lists", "--reveal-numbers")
    said: list[str] = []

    async def told(progress: float, total: float | None, message: str | None) -> None:
        said.append(f"{progress} of {total}: {message}")

    with anyio.fail_after(150):
        async with assistant(tmp_path, *flags) as first, assistant(tmp_path, *flags) as second:
            for number, host in enumerate((first, second)):
                await host.use("create_audience", name=f"March {number}")
                arguments = {"audience_id": f"March {number}", "path": "people.csv"}
                result = await host.client.call_tool("import_audience", arguments, progress_callback=told)
                assert not result.is_error, result
                found = cast("dict[str, Any]", result.structured_content)
                while found["status"] != "completed":
                    assert found["status"] in ("pending", "importing"), found
                    found = await host.use("get_audience_import", audience_id=f"March {number}", import_id=found["id"])
                assert found["added"] == ROWS
    assert any("MB uploaded" in words for words in said)
    assert any("rows read" in words for words in said)
