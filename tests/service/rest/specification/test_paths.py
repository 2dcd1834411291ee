"""Where operations are: prefixes, spellings, parameters."""

import pytest

from callwright.contract.surface import OPERATIONS
from tests.support.http.raw_requests import AsyncClient, refused, sample_path
from tests.support.isolation import one_of_everything
from tests.support.service import Tenant
from tests.support.webhooks.sent_events import URL


@pytest.mark.requirement("PATH-01", "PATH-02", "VER-01")
async def test_every_operation_is_there_under_both_prefixes_and_spellings(http: AsyncClient) -> None:
    for operation in OPERATIONS.values():
        path = sample_path(operation.path)
        for prefix in ("/v1", "/api/v1"):
            for spelled in {path, path.replace("/phone_numbers", "/phone-numbers")}:
                answer = await http.options(f"{prefix}{spelled}")
                assert answer.status_code == 405
                assert operation.method in answer.headers["allow"].split(", "), (operation.name, spelled)
    refused(await http.options("/v2/agents"), 404, "not_found")


@pytest.mark.requirement("PATH-01", "PATH-19")
async def test_both_prefixes_give_the_same_bytes_and_none_redirects(tenant: Tenant, http: AsyncClient) -> None:
    mine = await one_of_everything(tenant)
    for path in (
        "/agents",
        "/wallet",
        "/voices",
        "/phone_numbers",
        f"/deployments/{mine.ids['deployment']}/contacts",
        f"/calls/{mine.ids['call']}/transcript",
    ):
        first, second = [await http.get(f"{prefix}{path}", follow_redirects=False) for prefix in ("/v1", "/api/v1")]
        assert (first.status_code, second.status_code) == (200, 200)
        assert first.content == second.content
    described = (await http.get("/openapi.json")).json()["paths"]
    assert {path.split("/")[1] for path in described} == {"v1"}


@pytest.mark.requirement("PATH-21")
async def test_subscriptions_to_events_are_one_collection(http: AsyncClient) -> None:
    described = (await http.get("/openapi.json")).json()["paths"]
    about = {path for path in described if "webhook" in path or "subscription" in path}
    assert {"/v1/webhooks", "/v1/webhooks/{id}"} <= about
    assert {path.split("/")[2] for path in about} == {"webhooks"}
    for other in ("event_subscriptions", "event-subscriptions", "subscriptions", "webhook_subscriptions"):
        refused(await http.get(f"/v1/{other}"), 404, "not_found")
        refused(await http.post(f"/v1/{other}", json={"url": URL, "events": ["*"]}), 404, "not_found")
    made = await http.post("/v1/webhooks", json={"url": URL, "events": ["*"]})
    assert [each["id"] for each in (await http.get("/v1/webhooks")).json()["data"]] == [made.json()["data"]["id"]]
