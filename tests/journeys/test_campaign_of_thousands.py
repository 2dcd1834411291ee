from collections import Counter
from pathlib import Path

import pytest

from callwright.contract.deployments.dialling import RetryPolicy
from tests.support.campaign_invariants import campaign_records, check_everything
from tests.support.campaigns import draft, people
from tests.support.database.databases import RunDatabases
from tests.support.service import open_service


@pytest.mark.parametrize("contacts", [2_000, pytest.param(10_000, marks=pytest.mark.long)])
async def test_each_person_has_exactly_the_attempts_the_policy_allows(contacts: int, tmp_path: Path) -> None:
    url = RunDatabases(tmp_path).sqlite(tmp_path, migrated=False)
    async with open_service(url, tmp_path, extra_dollars=500) as tenant:
        made = await draft(tenant, people(contacts), max_concurrency=100, calls_per_second=100.0)
        await tenant.client.deployments.start(id=made.id)
        ended = await tenant.ended(made.id, within_s=120)
        assert (ended.status, ended.status_reason) == ("completed", "audience_exhausted")
        found = await campaign_records(tenant.service.services.database, made.id)
        assert Counter(contact.phone for contact in found.contacts).total() == contacts
        assert {contact.status for contact in found.contacts} <= {"completed", "exhausted", "suppressed"}
        assert {contact.attempts for contact in found.contacts} == {1, 2, 3}
        check_everything(found, RetryPolicy(), lines=100, calls_per_second=100.0, extra_dollars=500)
