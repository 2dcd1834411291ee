"""What every list takes and gives: pages, cursors, filters, order."""

from collections.abc import Mapping
from typing import Any

import pytest

from callwright.contract.do_not_call import NewEntry
from callwright.contract.surface import OPERATIONS
from tests.support import resources
from tests.support.calls.stored_calls import put_call, put_conversation
from tests.support.deployments.states import deployment_in_state
from tests.support.http.raw_requests import AsyncClient
from tests.support.imports import carry_out_import
from tests.support.resources import row
from tests.support.reviews import open_review
from tests.support.service import Tenant
from tests.support.webhooks.routing import GOOD, bad, logged
from tests.support.webhooks.sent_events import subscribe


async def listed(http: AsyncClient, path: str, **query: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The entries and the pagination of a list. `filter_x` stands for `filter[x]`."""
    sent = {f"filter[{name[7:]}]" if name.startswith("filter_") else name: value for name, value in query.items()}
    answer = await http.get(f"/v1{path}", params=sent)
    assert answer.status_code == 200, answer.text
    return answer.json()["data"], answer.json()["pagination"]


@pytest.mark.requirement("PAGE-01", "PAGE-02", "PAGE-07", "LIMIT-02")
async def test_without_parameters_a_list_gives_the_first_page_of_fifty(tenant: Tenant, http: AsyncClient) -> None:
    for index in range(51):
        await tenant.client.audiences.create(name=f"{index}")
    entries, pagination = await listed(http, "/audiences")
    assert [entry["name"] for entry in entries] == [f"{50 - index}" for index in range(50)]
    assert {name: pagination[name] for name in ("page", "per_page", "total", "has_more")} == {
        "page": 1,
        "per_page": 50,
        "total": 51,
        "has_more": True,
    }
    last, pagination = await listed(http, "/audiences", page="2")
    assert [entry["name"] for entry in last] == ["0"]
    assert (pagination["page"], pagination["has_more"]) == (2, False)
    whole, pagination = await listed(http, "/audiences", per_page="200")
    assert (len(whole), pagination["per_page"]) == (51, 200)


@pytest.mark.requirement("PATH-04")
async def test_agents_are_listed_with_every_parameter_of_a_list(tenant: Tenant, http: AsyncClient) -> None:
    for name, voice in (("A", "en-US-ada"), ("B", "en-US-ben"), ("C", "en-US-ada"), ("D", "en-US-ada")):
        await resources.agent(tenant, name, voice_id=voice)
    asked = {"filter_voice_id": "en-US-ada", "sort": "-name", "per_page": "1"}
    first, pagination = await listed(http, "/agents", page="1", **asked)
    second, _ = await listed(http, "/agents", cursor=pagination["next_cursor"], **asked)
    third, _ = await listed(http, "/agents", page="3", **asked)
    assert [entry["name"] for entry in (*first, *second, *third)] == ["D", "C", "A"]


@pytest.mark.requirement("PAGE-04", "PATH-13")
async def test_a_cursor_continues_a_list_of_calls_in_place_of_a_page(tenant: Tenant, http: AsyncClient) -> None:
    made = [await put_call(tenant, created_at=1_800_000_000_000 + index // 2) for index in range(7)]
    seen: list[str] = []
    cursor: dict[str, str] = {}
    for number in (1, 2, 3, 4):
        entries, pagination = await listed(http, "/calls", per_page="2", **cursor)
        assert (pagination["page"], pagination["total"]) == (number, 7)
        seen += [entry["id"] for entry in entries]
        cursor = {"cursor": pagination["next_cursor"]}
    assert cursor == {"cursor": None}
    assert (len(seen), set(seen)) == (7, set(made))


@pytest.mark.requirement("PAGE-10", "PAGE-11", "PAGE-12")
async def test_every_list_offers_a_cursor_with_its_first_page(tenant: Tenant, http: AsyncClient) -> None:
    campaign, second = await resources.draft(tenant), await resources.draft(tenant, "Other")
    audience_id = campaign.audience.id
    await tenant.client.audiences.add_rows(id=audience_id, rows=[row(1)])
    await tenant.client.agents.update(id=campaign.agent.id, welcome_message="Another hello.")
    done = await carry_out_import(tenant, "phone_number\nx\ny\n", audience_id=audience_id)
    await tenant.client.deployments.start(id=campaign.deployment.id)
    for _ in range(2):
        await put_conversation(tenant, ("agent", "Hello."), deployment_id=campaign.deployment.id)
    for each in (campaign, second):
        await open_review(tenant, each.deployment.id)
    await tenant.client.do_not_call.add(entries=[NewEntry(number="+12125550161"), NewEntry(number="+12125550162")])
    tried = await tenant.client.webhooks.test(id=(await subscribe(tenant)).id)
    await tenant.client.events.replay(id=tried.event_id)
    await subscribe(tenant)
    await logged(tenant, campaign.number.id, GOOD, bad())
    for provider in ("ours", "theirs"):
        await tenant.client.providers.set(name=provider, kind="deepgram", key="a-key-of-the-tests")
    own = {
        "/agents/{id}/versions": f"/agents/{campaign.agent.id}/versions",
        "/phone_numbers/{id}/routing_requests": f"/phone_numbers/{campaign.number.id}/routing_requests",
        "/webhooks/{id}/deliveries": f"/webhooks/{tried.webhook_id}/deliveries",
        "/events/{id}/deliveries": f"/events/{tried.event_id}/deliveries",
        "/deployments/{id}/contacts": f"/deployments/{campaign.deployment.id}/contacts",
        "/deployments/{id}/evidence": f"/deployments/{campaign.deployment.id}/evidence",
        "/audiences/{id}/rows": f"/audiences/{audience_id}/rows",
        "/audiences/{id}/imports/{import_id}/errors": f"/audiences/{audience_id}/imports/{done.id}/errors",
    }
    asked: Mapping[str, dict[str, str]] = {
        "search_transcripts": {"query": "hello"},
        "search_available_numbers": {"filter[country]": "US"},
    }
    for name, operation in OPERATIONS.items():
        if operation.shape != "many":
            continue
        path = own.get(operation.path, operation.path)
        first, pagination = await listed(http, path, per_page="1", **asked.get(name, {}))
        assert pagination["has_more"], name
        given = pagination["next_cursor"]
        second, after = await listed(http, path, per_page="200", cursor=given, **asked.get(name, {}))
        assert (len(first), pagination["page"], after["page"]) == (1, 1, 2), name
        assert first[0] not in second
        assert 1 + len(second) == pagination["total"] == after["total"], name
        assert (after["has_more"], after["next_cursor"]) == (False, None), name


@pytest.mark.requirement("FILTER-02", "FILTER-03", "STATE-01", "STATE-02")
async def test_states_are_filtered_by_one_or_several_separated_by_commas(tenant: Tenant, http: AsyncClient) -> None:
    made = {status: await deployment_in_state(tenant, status) for status in ("draft", "active", "paused", "cancelled")}
    for asked in ("active", "paused", "active,paused", "paused,active,draft"):
        entries, _ = await listed(http, "/deployments", filter_status=asked, filter_call_type="outbound")
        assert {entry["id"] for entry in entries} == {made[status] for status in asked.split(",")}
        assert {entry["status"] for entry in entries} == set(asked.split(","))
    assert (await listed(http, "/deployments", filter_status="completed"))[0] == []
    for path, asked in (("/audiences", "ready"), ("/phone_numbers", "active"), ("/calls", "completed")):
        await put_call(tenant)
        entries, _ = await listed(http, path, filter_status=asked)
        assert {entry["status"] for entry in entries} == {asked}


@pytest.mark.requirement("FILTER-04", "STATE-02")
async def test_calls_and_deployments_are_filtered_by_their_kind(tenant: Tenant, http: AsyncClient) -> None:
    made = {kind: await put_call(tenant, call_type=kind) for kind in ("outbound", "inbound")}
    for kind, call_id in made.items():
        entries, _ = await listed(http, "/calls", filter_call_type=kind)
        assert [(entry["id"], entry["call_type"]) for entry in entries] == [(call_id, kind)]
    campaign = (await resources.draft(tenant)).deployment.id
    outbound, _ = await listed(http, "/deployments", filter_call_type="outbound")
    inbound, _ = await listed(http, "/deployments", filter_call_type="inbound")
    assert ([entry["id"] for entry in outbound], inbound) == ([campaign], [])


@pytest.mark.requirement("FILTER-01", "FILTER-11")
async def test_a_filter_matches_exactly_and_a_span_of_time_is_half_open(tenant: Tenant, http: AsyncClient) -> None:
    for index in range(3):
        await put_call(tenant, created_at=1_800_000_000_000 + index * 1_000, to_number=f"+1212555010{index}")
    entries, _ = await listed(http, "/calls", filter_to="+12125550101")
    assert [entry["to"] for entry in entries] == ["+12125550101"]
    for near in ("+1212555010", "12125550101", "+12125550101 "):
        assert (await listed(http, "/calls", filter_to=near))[0] == []
    span = {"filter_created_from": "2027-01-15T08:00:01Z", "filter_created_before": "2027-01-15T08:00:02Z"}
    entries, _ = await listed(http, "/calls", **span)
    assert [entry["created_at"] for entry in entries] == ["2027-01-15T08:00:01Z"]


@pytest.mark.requirement("FILTER-05", "FILTER-06", "FILTER-07")
async def test_lists_are_sorted_upwards_downwards_and_by_several_fields(tenant: Tenant, http: AsyncClient) -> None:
    for name, at_ms, talked_ms in (("a", 1, 30_000), ("b", 2, 10_000), ("c", 3, 30_000)):
        await put_call(tenant, id=f"cal_{name}", created_at=1_800_000_000_000 + at_ms, duration_ms=talked_ms)
    for sort, expected in (
        ("created_at", "abc"),
        ("-created_at", "cba"),
        ("duration_seconds,-created_at", "bca"),
        ("-duration_seconds,created_at", "acb"),
    ):
        entries, _ = await listed(http, "/calls", sort=sort)
        assert "".join(entry["id"][-1] for entry in entries) == expected, sort
