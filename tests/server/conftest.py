"""A service with the tool server beside it as fixtures."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.support.fixtures import held, service_options
from tests.support.http.raw_requests import AsyncClient
from tests.support.mcp.over_http import Served, open_served
from tests.support.processes.programs import Assistant


@pytest.fixture
async def served(request: pytest.FixtureRequest, database_url: str, tmp_path: Path) -> AsyncGenerator[Served]:
    """A service with one organization, served over HTTP."""
    async with held(open_served(database_url, tmp_path, **service_options(request))) as found:
        yield found


@pytest.fixture
async def hand(served: Served) -> AsyncGenerator[Assistant]:
    """The official client with the organization's key."""
    async with held(served.assistant()) as found:
        yield found


@pytest.fixture
async def http(served: Served) -> AsyncGenerator[AsyncClient]:
    """An HTTP client that sends the organization's key."""
    async with held(served.raw_client()) as found:
        yield found
