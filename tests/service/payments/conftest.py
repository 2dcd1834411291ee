"""A service whose top-ups go through an imitation of Stripe, as a fixture."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.support.fixtures import held
from tests.support.stripe.paying import Paying, paying


@pytest.fixture
async def paid(database_url: str, tmp_path: Path) -> AsyncGenerator[Paying]:
    """The service, the account at Stripe, and an organization with real money."""
    async with held(paying(database_url, tmp_path)) as found:
        yield found
