"""The signing secrets of webhook subscriptions: given once, replaced without a gap, never shown again."""

import json
import re
from datetime import timedelta

import pytest

from callwright.service.tables.schema import audit_log, webhooks
from tests.support.clock_set_by_test import NOON_MS, Process
from tests.support.http.raw_requests import AsyncClient, raw_client, refused
from tests.support.resources import refusal
from tests.support.service import Tenant
from tests.support.webhooks.sent_events import URL, rows_of, subscribe

OWN_SECRET = "whsec_" + "a1B2-c3_" * 4
DAY_MS = 86_400_000


@pytest.mark.requirement("HOOK-07", "HOOK-10")
async def test_a_secret_of_one_s_own_is_taken_as_it_is(tenant: Tenant) -> None:
    made = await subscribe(tenant, secret=OWN_SECRET)
    assert (made.secret, made.secret_prefix) == (OWN_SECRET, "whsec_a1B2")
    (row,) = await rows_of(tenant, webhooks)
    assert row["secret"] == OWN_SECRET
    shortest = "whsec_" + "a" * 24
    assert (await subscribe(tenant, secret=shortest)).secret == shortest


@pytest.mark.requirement("HOOK-10")
@pytest.mark.parametrize(
    "secret",
    [
        "whsec_" + "a" * 23,
        "a" * 60,
        "whsec_" + "a" * 20 + " " + "a" * 20,
        "WHSEC_" + "a" * 40,
        "whsec_" + "a" * 195,
        "whsec_" + "a" * 30 + "\x00",
        "whsec_" + "a" * 30 + "\n",
        "",
    ],
    ids=["short", "no prefix", "blank", "capitals", "long", "nul", "newline", "empty"],
)
async def test_a_secret_of_another_form_is_refused_and_not_repeated(
    tenant: Tenant, http: AsyncClient, secret: str
) -> None:
    answer = await http.post("/v1/webhooks", json={"url": URL, "events": ["*"], "secret": secret})
    refused(answer, 400, "invalid_field", "secret")
    assert "aaaa" not in answer.text
    made = await subscribe(tenant)
    again = await http.post(f"/v1/webhooks/{made.id}/rotate_secret", json={"secret": secret})
    refused(again, 400, "invalid_field", "secret")
    assert len(await rows_of(tenant, webhooks)) == 1


async def test_the_same_creation_again_is_answered_with_the_same_secret(tenant: Tenant, http: AsyncClient) -> None:
    once = {"Idempotency-Key": "once"}
    body = {"url": URL, "events": ["*"]}
    first, second = [await http.post("/v1/webhooks", json=body, headers=once) for _ in range(2)]
    assert (first.status_code, second.content) == (201, first.content)
    assert second.headers["idempotent-replayed"] == "true"
    assert first.headers["location"] == f"/v1/webhooks/{first.json()['data']['id']}"
    path = f"/v1/webhooks/{first.json()['data']['id']}/rotate_secret"
    rotated, again = [await http.post(path, json={}, headers={"Idempotency-Key": "turn"}) for _ in range(2)]
    assert again.content == rotated.content
    assert rotated.json()["data"]["secret"] != first.json()["data"]["secret"]
    assert len(await rows_of(tenant, webhooks)) == 1


@pytest.mark.requirement("HOOK-08")
async def test_the_secret_before_signs_until_the_overlap_ends(tenant: Tenant, process: Process) -> None:
    path = "/v1/webhooks"
    made = (await process.http.post(path, json={"url": URL, "events": ["*"]})).json()["data"]
    at = f"{path}/{made['id']}"
    rotated = (await process.http.post(f"{at}/rotate_secret", json={})).json()["data"]
    assert re.fullmatch(r"whsec_[0-9A-Za-z_-]{43}", rotated["secret"])
    assert rotated["secret"] != made["secret"]
    assert rotated["previous_secret_until"] == "2026-11-22T12:00:00Z"
    (row,) = await rows_of(tenant, webhooks)
    assert row["secret"] == rotated["secret"]
    assert json.loads(row["earlier_secrets"]) == [[made["secret"], NOON_MS + DAY_MS]]
    shown = (await process.http.get(at)).json()["data"]
    assert "secret" not in shown
    assert shown["secret_prefix"] == rotated["secret"][:10]
    assert shown["previous_secret_until"] == "2026-11-22T12:00:00Z"
    process.clock.move(DAY_MS)
    assert (await process.http.get(at)).json()["data"]["previous_secret_until"] is None


@pytest.mark.requirement("HOOK-14", "ERR-84")
async def test_each_replaced_secret_keeps_its_own_end_and_a_fourth_rotation_names_the_moment(
    tenant: Tenant, process: Process
) -> None:
    made = (await process.http.post("/v1/webhooks", json={"url": URL, "events": ["*"]})).json()["data"]
    path = f"/v1/webhooks/{made['id']}/rotate_secret"

    async def rotate(**given: int | str) -> dict[str, str]:
        answer = await process.http.post(path, json=given)
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]

    async def earlier() -> list[list[str | int]]:
        (row,) = await rows_of(tenant, webhooks)
        return json.loads(row["earlier_secrets"])

    secrets = [made["secret"]]
    for overlap_s in (3_600, 86_400, 7_200):
        secrets.append((await rotate(overlap_seconds=overlap_s))["secret"])
    kept = [[secrets[2], NOON_MS + 7_200_000], [secrets[1], NOON_MS + DAY_MS], [secrets[0], NOON_MS + 3_600_000]]
    assert await earlier() == kept
    shown = (await process.http.get(f"/v1/webhooks/{made['id']}")).json()["data"]
    assert shown["previous_secret_until"] == "2026-11-22T12:00:00Z"

    answer = await process.http.post(path, json={})
    refused(answer, 409, "secrets_still_sign")
    assert answer.json()["error"]["possible_from"] == "2026-11-21T13:00:00Z"
    assert "2026-11-21T13:00:00Z" in answer.json()["error"]["message"]
    (row,) = await rows_of(tenant, webhooks)
    assert (row["secret"], json.loads(row["earlier_secrets"])) == (secrets[3], kept)

    process.clock.move(3_600_000)
    fifth = await rotate()
    assert await earlier() == [[secrets[3], NOON_MS + 3_600_000 + DAY_MS], *kept[:2]]
    at_once = await rotate(overlap_seconds=0)
    assert at_once["secret"] not in (fifth["secret"], *secrets)
    assert await earlier() == [[secrets[3], NOON_MS + 3_600_000 + DAY_MS], *kept[:2]]
    assert (await rotate(secret=secrets[1]))["secret"] == secrets[1]  # back to an earlier one: it signs once
    assert [secret for secret, _ in await earlier()] == [at_once["secret"], secrets[3], secrets[2]]


async def test_a_rotation_without_overlap_ends_the_secret_at_once(tenant: Tenant) -> None:
    made = await subscribe(tenant)
    turned = await tenant.client.webhooks.rotate_secret(id=made.id, overlap_seconds=0)
    assert turned.previous_secret_until is None
    (row,) = await rows_of(tenant, webhooks)
    assert (row["secret"], row["earlier_secrets"]) == (turned.secret, "[]")
    third = await tenant.client.webhooks.rotate_secret(id=made.id, secret=OWN_SECRET, overlap_seconds=60)
    assert third.previous_secret_until == third.updated_at + timedelta(seconds=60)


async def test_the_secret_that_there_is_cannot_replace_itself(tenant: Tenant, http: AsyncClient) -> None:
    made = await subscribe(tenant, secret=OWN_SECRET)
    async with refusal(400, "invalid_field", "secret"):
        await tenant.client.webhooks.rotate_secret(id=made.id, secret=OWN_SECRET)
    for overlap in (-1, 7 * 86_400 + 1, "x"):
        path = f"/v1/webhooks/{made.id}/rotate_secret"
        refused(await http.post(path, json={"overlap_seconds": overlap}), 400, "invalid_field", "overlap_seconds")
    longest = await tenant.client.webhooks.rotate_secret(id=made.id, overlap_seconds=7 * 86_400)
    assert longest.previous_secret_until == longest.updated_at + timedelta(days=7)


async def test_no_secret_is_in_the_audit_log(tenant: Tenant) -> None:
    made = await subscribe(tenant, secret=OWN_SECRET)
    rotated = await tenant.client.webhooks.rotate_secret(id=made.id)
    await tenant.client.webhooks.update(id=made.id, description="changed")
    await tenant.client.webhooks.delete(id=made.id)
    entries = {entry["action"]: entry for entry in await rows_of(tenant, audit_log, subject=made.id)}
    text = repr(entries)
    assert not [part for part in (OWN_SECRET[6:], OWN_SECRET[6:10], rotated.secret[6:]) if part in text]
    created = json.loads(entries["create_webhook"]["changes"])
    assert created["secret"] == {"after": "(secret)"}
    assert (created["url"], created["status"]) == ({"after": URL}, {"after": "active"})
    turned = json.loads(entries["rotate_webhook_secret"]["changes"])
    assert set(turned) == {"secret", "secret_prefix", "previous_secret_until"}
    assert set(json.loads(entries["update_webhook"]["changes"])) == {"description"}


@pytest.mark.requirement("HOOK-09", "AUTH-35")
async def test_a_signing_secret_is_no_api_key(tenant: Tenant) -> None:
    made = await subscribe(tenant)
    async with raw_client(tenant, key=made.secret) as http:
        answer = await http.get("/v1/webhooks")
    assert (answer.status_code, answer.json()["error"]) == (401, "api_key_required")
    api_key = tenant.api_key
    async with raw_client(tenant) as http:
        answer = await http.post("/v1/webhooks", json={"url": URL, "events": ["*"], "secret": api_key})
        refused(answer, 400, "invalid_field", "secret")
        answer = await http.post(f"/v1/webhooks/{made.id}/rotate_secret", json={"secret": api_key})
        refused(answer, 400, "invalid_field", "secret")
