"""The order of the checks: a request with everything wrong, put right one thing after the other."""

import json
from typing import Any

import pytest

from callwright.service import accounts
from callwright.service.platform.clock.clock import SECOND
from tests.support import resources
from tests.support.clock_set_by_test import process_with_fixed_clock
from tests.support.http.raw_requests import Response
from tests.support.service import Tenant

pytestmark = pytest.mark.service(plan="starter")

FOREIGN = {"Origin": "https://elsewhere.example"}
PATH = "/v1/deployments"


def said(response: Response) -> tuple[int, str, str | None]:
    """Status, code and field of a problem in either envelope."""
    error = response.json()["error"]
    if isinstance(error, str):
        return response.status_code, error, None
    return response.status_code, error["code"], error.get("field")


async def key_of_one_who_left(tenant: Tenant) -> str:
    """A key whose creator is no longer in the organization."""
    services = tenant.services
    now_ms, write = services.clock.now_ms(), services.database.write
    user_id = await write(accounts.add_member, services.ids, tenant.org_id, "ann@example.com", now_ms)
    named: dict[str, Any] = {"created_by_user_id": user_id}
    key = await write(accounts.create_key, services.ids, tenant.org_id, "hers", now_ms, **named)
    await write(accounts.leave, services.ids, tenant.org_id, user_id, now_ms)
    return key.secret


@pytest.mark.requirement("BODY-09", "AUTH-40", "AUTH-28", "BODY-02", "ERR-22")
async def test_each_check_comes_in_its_turn(tenant: Tenant) -> None:
    campaign = await resources.draft(tenant)
    good = {"name": "Fresh", **campaign.parts}
    greedy = {**good, "name": campaign.deployment.name, "max_concurrency": 1_000}
    wrong = {**greedy, "colour": "red"}
    left = {"Authorization": f"Bearer {await key_of_one_who_left(tenant)}"}
    used = {"Idempotency-Key": "used"}
    async with process_with_fixed_clock(tenant) as process:

        async def post(body: Any, *headers: dict[str, str]) -> tuple[int, str, str | None]:
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            sent = {name: value for each in headers for name, value in each.items()}
            return said(await process.http.post(PATH, content=content, headers=sent))

        other_prefix = {"Authorization": "Bearer other"}
        unknown = {"Authorization": "Bearer svc_live_" + "0" * 48}
        assert await post(b"{" * 1_000_001, FOREIGN, other_prefix) == (413, "payload_too_large", None)
        assert await post(b"{", FOREIGN, other_prefix) == (403, "origin_not_allowed", None)
        assert await post(b"{", other_prefix) == (400, "invalid_json", None)
        assert await post(wrong, other_prefix) == (401, "api_key_required", None)
        assert await post(wrong, unknown) == (401, "invalid_api_key", None)

        made = await process.http.post(PATH, json={**good, "name": "First"}, headers=used)
        assert made.status_code == 201
        answers = [(await process.http.get(PATH)).status_code for _ in range(5)]
        assert (answers[0], answers[-1]) == (200, 429)
        assert await post(wrong, used) == (429, "rate_limited", None)
        process.clock.move(10 * SECOND)
        assert await post(wrong, used) == (422, "idempotency_key_reused", "Idempotency-Key")

        assert await post(wrong, left) == (400, "invalid_field", "colour")
        assert await post(greedy, left) == (409, "api_key_owner_required", None)
        assert await post(greedy) == (409, "duplicate_name", "name")
        assert await post({**greedy, "name": "Fresh"}) == (422, "plan_limit_reached", "max_concurrency")
        process.clock.move(10 * SECOND)
        assert (await process.http.post(PATH, json=good)).status_code == 201
