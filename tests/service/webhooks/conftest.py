"""Deliveries and an endpoint as fixtures."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.support.fixtures import held
from tests.support.webhooks.delivering import Delivering, delivering
from tests.support.webhooks.endpoints import Sink, sink


@pytest.fixture
async def at(database_url: str, tmp_path: Path) -> AsyncGenerator[Delivering]:
    """A service that delivers when it is told to."""
    async with held(delivering(database_url, tmp_path)) as found:
        yield found


@pytest.fixture
async def target() -> AsyncGenerator[Sink]:
    """An endpoint that takes everything."""
    async with held(sink()) as found:
        yield found
