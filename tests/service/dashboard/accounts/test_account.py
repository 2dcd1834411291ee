"""Your account: the name that others see."""

import pytest

from tests.support.dashboard import logged_in, text_of
from tests.support.service import Tenant


@pytest.mark.requirement("DASH-66")
@pytest.mark.parametrize("role", ["member", "viewer"])
async def test_a_user_changes_the_own_name_and_the_audit_log_has_both(tenant: Tenant, role: str) -> None:
    async with logged_in(tenant, role=role) as visit:
        path = "/settings/account"
        answer = await visit.send(f"{path}/name", shown_at=path, name="Ann Meyer")
        assert (answer.status_code, answer.headers["location"]) == (303, path)
        assert 'value="Ann Meyer"' in await visit.page(path)
        assert (await visit.send(f"{path}/name", shown_at=path, name="Ann Meyer")).status_code == 303
    renamed = [one async for one in tenant.client.audit_log.list(action="user.renamed")]
    assert [one.changes for one in renamed] == [{"name": {"before": role, "after": "Ann Meyer"}}]
    assert renamed[0].actor_id == renamed[0].subject_id == renamed[0].user_id


@pytest.mark.requirement("DASH-66")
@pytest.mark.parametrize("name", [" ", "a" * 201, "Ann\u202eMeyer"])
async def test_a_name_that_cannot_stand_is_refused_with_what_was_typed(tenant: Tenant, name: str) -> None:
    async with logged_in(tenant, role="member") as visit:
        answer = await visit.send("/settings/account/name", shown_at="/settings/account", name=name)
        assert answer.status_code == 400
        assert "The name" in text_of(answer.text)
        assert name.strip() in answer.text
    assert [one async for one in tenant.client.audit_log.list(action="user.renamed")] == []
