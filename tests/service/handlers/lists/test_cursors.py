"""Cursors that are no cursors: changed ones, and those of another list."""

import base64
from random import Random
from typing import Any

import pytest

from callwright.contract.calls.calls import ListCalls, list_calls
from callwright.contract.declaration.filters import filter_of
from tests.support import resources
from tests.support.calls.many_calls import put_many
from tests.support.http.raw_requests import AsyncClient, refused
from tests.support.service import Tenant


async def first_cursor(tenant: Tenant, **asked: Any) -> str:
    """The cursor that a first page gives."""
    cursor = (await tenant.client.calls.list(per_page=5, **asked)).pagination.next_cursor
    assert cursor is not None
    return cursor


@pytest.mark.requirement("PAGE-06", "PAGE-14", "ERR-53")
async def test_a_cursor_with_any_byte_changed_is_refused(tenant: Tenant, http: AsyncClient) -> None:
    await put_many(tenant, 20, Random(7))
    cursor = await first_cursor(tenant)
    raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    changed = [
        base64.urlsafe_b64encode(raw[:place] + bytes([raw[place] ^ flipped]) + raw[place + 1 :]).decode().rstrip("=")
        for place in range(len(raw))
        for flipped in (1, 0x80, 0xFF)
    ]
    texts = [
        cursor[:place] + chr(ord(letter) ^ flipped) + cursor[place + 1 :]
        for place, letter in enumerate(cursor)
        for flipped in (1, 2, 0x20, 0x80)
    ]
    shorter = [cursor[:end] for end in range(1, len(cursor))]
    for each in (*changed, *texts, *shorter, cursor + "=", cursor + "A", cursor + "\n", " " + cursor):
        refused(await http.get("/v1/calls", params={"cursor": each}), 400, "invalid_cursor", "cursor")
    assert (await http.get("/v1/calls", params={"cursor": cursor})).status_code == 200


FILTERS: dict[str, str] = {
    "call_type": "outbound",
    "status": "completed",
    "outcome": "answered",
    "disposition": "goal_met",
    "created_from": "2026-01-01T00:00:00Z",
    "created_before": "2066-01-01T00:00:00Z",
    "ended_from": "2026-01-01T00:00:00Z",
    "ended_before": "2066-01-01T00:00:00Z",
}
"""A value of each filter that does not take any text."""


@pytest.mark.requirement("PAGE-15", "PAGE-16", "PAGE-17", "PAGE-18")
async def test_a_cursor_holds_for_the_list_it_was_given_for_and_no_other(
    tenant: Tenant, other: Tenant, http: AsyncClient
) -> None:
    await put_many(tenant, 20, Random(8))
    await put_many(other, 20, Random(9), deployment_id="dep_2")
    cursor, foreign = await first_cursor(tenant), await first_cursor(other)
    names = [name for name, field in ListCalls.model_fields.items() if filter_of(field)]
    asked = [{f"filter[{name}]": FILTERS.get(name, "x")} for name in names if name != "agent_version"]
    asked.append({"filter[agent_version]": "1", "filter[agent_id]": "x"})
    asked += [{"sort": f"{sign}{sort}"} for sort in list_calls.sorts for sign in ("", "-")]
    asked.remove({"sort": "-created_at"})
    for query in asked:
        answer = await http.get("/v1/calls", params={"cursor": cursor, **query})
        refused(answer, 400, "invalid_cursor", "cursor")
    refused(await http.get("/v1/calls", params={"cursor": foreign}), 400, "invalid_cursor", "cursor")
    for number in ("1", "2", "10000"):
        both = await http.get("/v1/calls", params={"cursor": cursor, "page": number})
        refused(both, 400, "invalid_field", "page")
    for per_page, shown in (("1", 1), ("10", 10), ("200", 15)):
        answer = await http.get("/v1/calls", params={"cursor": cursor, "per_page": per_page})
        assert len(answer.json()["data"]) == shown
    filtered = await first_cursor(tenant, outcome=["answered"])
    same = await http.get("/v1/calls", params={"cursor": filtered, "filter[outcome]": "answered"})
    assert same.status_code == 200
    other_value = await http.get("/v1/calls", params={"cursor": filtered, "filter[outcome]": "busy"})
    refused(other_value, 400, "invalid_cursor", "cursor")


async def test_the_longest_names_make_cursors_that_are_taken_again(tenant: Tenant) -> None:
    names = ['"' * 199 + letter for letter in "abc"] + ["🙂" * 199 + letter for letter in "abc"]
    for name in names:
        await resources.agent(tenant, name)
    sort = ",".join(["name", "-created_at", "updated_at"] + ["name"] * 25)
    assert [entry.name async for entry in tenant.client.agents.list(per_page=1, sort=sort)] == sorted(names)
