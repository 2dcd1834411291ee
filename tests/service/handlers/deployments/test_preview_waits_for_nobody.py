"""A preview reads: whoever changes the deployment at the same moment neither holds it up nor makes it fail."""

import pytest

from tests.support import resources
from tests.support.database.statements import recorded
from tests.support.service import Tenant


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
async def test_a_preview_locks_nothing(tenant: Tenant) -> None:
    made = (await resources.draft(tenant, "Survey")).deployment
    with recorded() as ran:
        await tenant.client.deployments.preview(id=made.id)
    assert any("FROM deployments" in one.text for one in ran)
    assert not [one.text for one in ran if "FOR UPDATE" in one.text or "FOR SHARE" in one.text]
