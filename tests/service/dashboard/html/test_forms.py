"""Forms are taken from pages of this service alone, once, and roles hold."""

import re

import pytest

from tests.support.campaigns import draft, people
from tests.support.dashboard import ORIGIN, logged_in, text_of
from tests.support.service import Tenant


@pytest.mark.requirement("DASH-07")
@pytest.mark.parametrize(
    ("origin", "token"),
    [
        ("https://evil.example", "own"),
        ("null", "own"),
        ("http://service.evil.example", "own"),
        (ORIGIN, ""),
        (ORIGIN, "0" * 64),
        (ORIGIN, "of another"),
        (None, "own"),
    ],
)
async def test_a_form_of_another_site_or_session_is_refused(tenant: Tenant, origin: str | None, token: str) -> None:
    async with logged_in(tenant) as visit, logged_in(tenant) as other:
        sent = {"own": await visit.token(), "of another": await other.token()}.get(token, token)
        headers = {"Origin": origin} if origin is not None else {"Sec-Fetch-Site": "cross-site"}
        fields = {"form_token": sent, "kind": "live", "label": "stolen"}
        answer = await visit.http.post("/settings/api-keys", data=fields, headers=headers)
        assert answer.status_code == 403
        assert "stolen" not in await visit.page("/settings/api-keys")


@pytest.mark.requirement("DASH-08")
async def test_a_viewer_sees_everything_and_changes_nothing(tenant: Tenant) -> None:
    made = await draft(tenant, people(3))
    async with logged_in(tenant, role="viewer") as visit:
        page = await visit.page(f"/campaigns/{made.id}")
        assert f"/campaigns/{made.id}/start" not in page
        answer = await visit.send(f"/campaigns/{made.id}/start")
        assert answer.status_code == 403
        assert "viewer" in text_of(answer.text)
        for kind in ("live", "personal"):
            fields = {"form_token": await visit.token(), "kind": kind, "label": "mine"}
            refused = await visit.http.post("/settings/api-keys", data=fields, headers={"Origin": ORIGIN})
            assert (refused.status_code, "Only an owner" in refused.text) == (403, True)
    assert (await tenant.client.deployments.get(id=made.id)).status == "draft"


@pytest.mark.requirement("DASH-08")
async def test_a_member_runs_campaigns_and_makes_no_keys(tenant: Tenant) -> None:
    async with logged_in(tenant, role="member") as visit:
        fields = {"form_token": await visit.token(), "kind": "live", "label": "mine"}
        refused = await visit.http.post("/settings/api-keys", data=fields, headers={"Origin": ORIGIN})
        assert refused.status_code == 403
        made = await draft(tenant, people(3))
        assert (await visit.send(f"/campaigns/{made.id}/start")).status_code == 303
    assert (await tenant.client.deployments.get(id=made.id)).status in ("scheduled", "active", "completed")


@pytest.mark.requirement("DASH-09")
async def test_a_form_that_is_sent_twice_makes_one_campaign(tenant: Tenant) -> None:
    made = await draft(tenant, people(3))
    async with logged_in(tenant) as visit:
        html = await visit.page("/campaigns/new")
        once = re.search(r'name="once" value="([0-9a-f]+)"', html)
        assert once is not None
        fields = {
            "form_token": await visit.token(),
            "once": once[1],
            "name": "Twice",
            "agent_id": made.agent_id,
            "audience_id": str(made.audience_id),
            "phone_number_ids": made.phone_number_ids[0],
        }
        answers = [await visit.http.post("/campaigns/new", data=fields, headers={"Origin": ORIGIN}) for _ in range(2)]
        assert [answer.status_code for answer in answers] == [303, 303], text_of(answers[0].text)
        assert answers[0].headers["location"] == answers[1].headers["location"]
        assert (await visit.page("/campaigns?name=Twice")).count('data-label="Name"><a href') == 1


async def test_a_form_with_a_mistake_keeps_what_was_typed_and_says_what_is_wrong(tenant: Tenant) -> None:
    made = await draft(tenant, people(3))
    async with logged_in(tenant) as visit:
        answer = await visit.send(
            "/campaigns/new",
            name="Recall of autumn",
            agent_id=made.agent_id,
            audience_id=str(made.audience_id),
            max_attempts="eleven",
        )
    assert answer.status_code == 400
    assert 'value="Recall of autumn"' in answer.text
    assert 'value="eleven"' in answer.text
    assert 'id="fault-retry_policy"' in answer.text
