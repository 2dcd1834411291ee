"""An export over a real socket whose key is revoked while it is sent."""

import os
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import anyio
import httpx2 as httpx
import pytest

from callwright.client import Client
from callwright.client.errors import CallwrightError
from callwright.service.handlers.exports import exports
from callwright.service.handlers.request_context import TableRequest
from callwright.service.platform.database.database import Database
from callwright.service.rest.tables import pieces, streams
from tests.support.campaigns import ONCE, people, run
from tests.support.mcp.over_http import LIFE_S, open_served


class HeldPieces:
    """The pieces of some tables, of which the second ones come only when the test says so."""

    def __init__(self, tables: int) -> None:
        self._begun, self._tables = 0, tables
        self.first_are_sent, self.go_on = anyio.Event(), anyio.Event()

    async def __call__(self, database: Database, wanted: TableRequest) -> AsyncGenerator[bytes]:
        async with aclosing(pieces.pieces_of(database, wanted)) as table:
            yield await anext(table)
            self._begun += 1
            if self._begun == self._tables:
                self.first_are_sent.set()
            await self.go_on.wait()
            async for piece in table:
                yield piece


@pytest.mark.requirement("EXPORT-09")
@pytest.mark.parametrize("form", ["csv", "parquet"])
async def test_an_export_whose_key_is_revoked_is_cut_off_and_no_file_appears(
    monkeypatch: pytest.MonkeyPatch, database_url: str, tmp_path: Path, form: Any
) -> None:
    monkeypatch.setattr(exports, "PAGE_ROWS", 2)
    monkeypatch.setattr(streams, "pieces_of", held := HeldPieces(tables=2))
    saved = tmp_path / f"people.{form}"
    with anyio.fail_after(LIFE_S):
        async with open_served(database_url, tmp_path) as served:
            campaign = await run(served.tenant, people(6), retry_policy=ONCE)
            key = await served.live_key()
            failures: list[type[Exception]] = []

            async def saves() -> None:
                async with Client(f"{served.root}/v1", key.secret) as client:
                    try:
                        async with client.deployments.export(id=campaign.id, format=form) as download:
                            await download.save(saved)
                    except CallwrightError as error:
                        failures.append(type(error))

            async def reads() -> None:
                async with served.raw_client(key.secret) as http:
                    try:
                        await http.get(f"/v1/deployments/{campaign.id}/export?format={form}")
                    except httpx.RemoteProtocolError as error:
                        failures.append(type(error))

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(saves)
                tasks.start_soon(reads)
                await held.first_are_sent.wait()
                await served.revoke(key.id)
                held.go_on.set()
            assert len(failures) == 2
            assert httpx.RemoteProtocolError in failures
            assert [name for name in os.listdir(tmp_path) if name.startswith("people")] == []
            async with served.tenant.client.deployments.export(id=campaign.id) as whole:
                assert (await whole.read(100_000)).count(b"\n") == 7
