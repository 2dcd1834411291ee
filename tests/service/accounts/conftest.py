"""An organization as a fixture."""

import pytest

from callwright.service import accounts
from callwright.service.platform.database.database import Database
from tests.support.accounts import IDS, NOW_MS


@pytest.fixture
async def org_id(database: Database) -> str:
    """The organization Clinic, which the operator owns."""
    return await database.write(accounts.create_organization, IDS, "Clinic", "starter", NOW_MS)
