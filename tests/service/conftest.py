"""Ways to a service and to a database as fixtures."""

from collections.abc import AsyncGenerator

import pytest

from callwright.service.platform.database.database import Database
from tests.support.clock_set_by_test import Process, process_with_fixed_clock
from tests.support.fixtures import held
from tests.support.http.raw_requests import AsyncClient, raw_client
from tests.support.service import Tenant


@pytest.fixture
async def http(tenant: Tenant) -> AsyncGenerator[AsyncClient]:
    """An HTTP client that sends the tenant's key."""
    async with held(raw_client(tenant)) as found:
        yield found


@pytest.fixture
async def database(database_url: str) -> AsyncGenerator[Database]:
    """A database, opened."""
    async with held(Database.opened(database_url)) as found:
        yield found


@pytest.fixture
async def process(tenant: Tenant) -> AsyncGenerator[Process]:
    """Another process of the service, whose clock stands."""
    async with held(process_with_fixed_clock(tenant)) as found:
        yield found
