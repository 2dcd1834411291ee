"""Which operation a path means."""

from pathlib import Path
from typing import Any

import pytest

from callwright.contract.surface import OPERATIONS
from callwright.service.rest.routes import RouteTable
from callwright.service.settings import ServiceSettings
from tests.support.http.raw_requests import AsyncClient, raw_client, refused
from tests.support.service import open_service

TABLE = RouteTable(OPERATIONS.values())
ONCE = ("errors", "upload_url")
"""What only the answer to the creation has: refused rows, and where a file is uploaded."""


@pytest.mark.parametrize("name", list(OPERATIONS))
def test_every_operation_is_found_at_its_path_with_its_values(name: str) -> None:
    operation = OPERATIONS[name]
    path, values = operation.path, {field: f"{field}_1" for field in operation.path_fields}
    for field, value in values.items():
        path = path.replace("{" + field + "}", value)
    found = TABLE.find(operation.method, path)
    assert found.operation is operation
    assert dict(found.path) == values
    assert found.canonical == path


def test_a_literal_segment_wins_over_a_value() -> None:
    found = TABLE.find("GET", "/phone_numbers/available")
    assert found.operation is not None
    assert found.operation.name == "search_available_numbers"
    assert TABLE.find("DELETE", "/phone_numbers/available").allowed == ("GET",)
    assert TABLE.find("PATCH", "/phone_numbers/available").operation is None


@pytest.mark.requirement("PATH-02")
def test_both_spellings_of_phone_numbers_are_one_path() -> None:
    for path in ("/phone-numbers", "/phone_numbers"):
        found = TABLE.find("GET", path)
        assert found.operation is not None
        assert (found.operation.name, found.canonical) == ("list_phone_numbers", "/phone_numbers")
    assert TABLE.find("GET", "/agents/phone-numbers").path == {"id": "phone-numbers"}


@pytest.mark.parametrize("path", ["", "/", "/agent", "/agents/a/b", "/Agents", "/calls//transcript", "/agents/a/b/c/d"])
def test_other_paths_lead_nowhere(path: str) -> None:
    found = TABLE.find("GET", path)
    assert (found.operation, found.allowed) == (None, ())


def test_a_value_is_taken_as_it_is_and_not_decoded_again() -> None:
    assert TABLE.find("GET", "/agents/a%41").path == {"id": "a%41"}


@pytest.mark.requirement("PATH-02", "PATH-19", "VER-01")
async def test_both_prefixes_answer_the_same_and_locations_are_canonical(http: AsyncClient) -> None:
    made = await http.post("/api/v1/phone-numbers", json={"country": "US"})
    assert made.status_code == 201
    location = made.headers["location"]
    assert location == f"/v1/phone_numbers/{made.json()['data']['id']}"
    answers = [
        await http.get(location.replace("/v1/phone_numbers", prefix))
        for prefix in ("/v1/phone_numbers", "/v1/phone-numbers", "/api/v1/phone_numbers", "/api/v1/phone-numbers")
    ]
    assert {answer.content for answer in answers} == {made.content}
    refused(await http.get("/v1/"), 404, "not_found")
    refused(await http.get("/api/v1/nowhere"), 404, "not_found")
    assert (await http.get("/v2/agents")).status_code == 404


@pytest.mark.requirement("CONV-15")
async def test_every_creation_names_where_the_new_thing_is(http: AsyncClient) -> None:
    ids: dict[str, str] = {}

    async def make(path: str, body: dict[str, Any]) -> None:
        made = await http.post(path, json=body)
        assert made.status_code in (201, 202), made.text
        told = {name: value for name, value in made.json()["data"].items() if name not in ONCE}
        assert (await http.get(made.headers["location"])).json() == {"data": told}
        ids[path] = made.json()["data"]["id"]

    speaker = {"name": "A", "voice_id": "en-US-ada", "language": "en-US", "system_prompt": "Say hello."}
    await make("/v1/agents", speaker)
    await make("/v1/audiences", {"name": "A", "rows": [{"phone_number": "+12125550100"}]})
    await make("/v1/phone_numbers", {"country": "US"})
    parts = {"agent_id": ids["/v1/agents"], "audience_id": ids["/v1/audiences"]}
    await make("/v1/deployments", {"name": "D", "phone_number_id": ids["/v1/phone_numbers"], **parts})
    await make(f"/v1/audiences/{ids['/v1/audiences']}/imports", {"csv": "phone\n+12125550101\n"})


@pytest.mark.parametrize("path", ["", "/", "/sub/path/"])
async def test_a_location_begins_with_the_path_of_the_public_address(
    database_url: str, tmp_path: Path, path: str
) -> None:
    public = f"https://voice.example.com{path}"
    settings = ServiceSettings(data=tmp_path, database_url=database_url, public_url=public)
    async with (
        open_service(database_url, tmp_path, workers=False, settings=settings) as tenant,
        raw_client(tenant) as http,
    ):
        for _ in range(2):
            made = await http.post("/v1/audiences", json={"name": "Once"}, headers={"Idempotency-Key": "once"})
            assert made.headers["location"] == f"{path.rstrip('/')}/v1/audiences/{made.json()['data']['id']}"
