"""What is too large is refused by its length, and of many problems the first ones are named."""

from typing import Any

import pytest

from tests.support.http.raw_requests import AsyncClient, refused
from tests.support.service import Tenant

AGENT = {"name": "Ada", "voice_id": "en-US-ada", "language": "en-US", "system_prompt": "Be kind."}


@pytest.mark.requirement("BODY-10")
async def test_the_first_twenty_problems_are_named_and_the_others_counted(http: AsyncClient) -> None:
    many = await http.post("/v1/audiences", json={f"f{number}": 1 for number in range(80_000)})
    found = refused(many, 400, "invalid_field", "f0")
    assert len(found["errors"]) == 20
    assert found["more_errors"] == 79_980
    assert len(many.content) < 64_000
    inside = {f"field{number}": 1 for number in range(30)}
    found = refused(
        await http.post("/v1/audiences", json={"name": "x", "rows": [1] * 50}), 400, "invalid_field", "rows.0"
    )
    assert (len(found["errors"]), found["more_errors"]) == (20, 30)
    draft = {"name": "x", "agent_id": "a", "audience_id": "b", "retry_policy": inside}
    found = refused(await http.post("/v1/deployments", json=draft), 400, "invalid_field", "retry_policy.field0")
    assert (len(found["errors"]), found["more_errors"]) == (20, 10)
    query = "&".join(f"field{number}=1" for number in range(90))
    found = refused(await http.get(f"/v1/agents?{query}"), 400, "invalid_field", "field0")
    assert (len(found["errors"]), found["more_errors"]) == (20, 70)
    few = refused(await http.post("/v1/agents", json={"colour": "red"}), 400, "missing_field", "name")
    assert "more_errors" not in few


async def test_what_is_too_large_is_refused_with_its_size_and_bound(http: AsyncClient) -> None:
    deep: Any = 1
    for _ in range(150):
        deep = [deep]
    cases: tuple[tuple[str, dict[str, Any], str, str], ...] = (
        ("/v1/agents", {**AGENT, "name": "a" * 900_000}, "name", "900000 characters; at most 200"),
        ("/v1/agents", {**AGENT, "voice_id": "a" * 300}, "voice_id", "300 characters; at most 255"),
        ("/v1/agents", {**AGENT, "metadata": {str(n): "" for n in range(51)}}, "metadata", "51 entries; at most"),
        ("/v1/agents", {**AGENT, "metadata": {"a": "b" * 501}}, "metadata.a", "501 characters; at most 500"),
        ("/v1/audiences", {"name": "x", "rows": [{}] * 1_001}, "rows", "1001 entries; at most 1000"),
        ("/v1/audiences", {"name": "x", "rows": [{str(n): 1 for n in range(1_001)}]}, "rows.0", "1001 entries"),
        ("/v1/audiences", {"name": "x", "rows": [{"a": [1] * 101}]}, "rows.0.a", "more than 100 entries"),
        ("/v1/audiences", {"name": "x", "rows": [{"a": deep}]}, "rows.0.a", "nested more than 5 levels"),
        ("/v1/audiences", {"name": "x", "rows": [{"a" * 1_001: 1}]}, "rows.0", "a name of more than 1000"),
    )
    for path, body, field, words in cases:
        found = refused(await http.post(path, json=body), 400, "invalid_field", field)
        assert words in found["message"]
    listed = await http.get("/v1/calls?filter[outcome]=" + ",".join(["busy"] * 101))
    assert "101 entries; at most 100" in refused(listed, 400, "invalid_field", "filter[outcome]")["message"]
    refused(await http.post("/v1/agents", json={**AGENT, "name": deep}), 400, "invalid_field", "name")


@pytest.mark.requirement("BODY-18")
async def test_a_body_of_more_than_20000_lists_and_objects_is_bad_json(http: AsyncClient) -> None:
    cases: tuple[tuple[str, dict[str, Any]], ...] = (
        ("/v1/deployments", {"calling_hours": {"windows": [[]] * 300_000}}),
        ("/v1/deployments/inbound", {"business_hours": {"windows": [[]] * 300_000}}),
        ("/v1/audiences/aud_x/rows", {"rows": [{f"a{column}": [1] for column in range(100)}] * 900}),
    )
    for path, body in cases:
        found = refused(await http.post(path, json=body), 400, "invalid_json")
        assert found["message"].startswith("It holds more than 20,000 lists and objects.")
    refused(await http.post("/v1/audiences", content=b'{"name":"' + b'[\\"' * 240_000), 400, "invalid_json")


async def test_brackets_in_a_text_are_characters(tenant: Tenant) -> None:
    made = await tenant.client.audiences.create(name="x")
    csv = "phone_number,note\n+12025550100," + "[{" * 30_000
    assert (await tenant.client.audiences.import_csv(id=made.id, csv=csv)).status == "pending"


async def test_a_row_with_more_than_a_hundred_columns_is_refused_by_itself(tenant: Tenant) -> None:
    rows: list[dict[str, Any]] = [{"phone": "+12025550100"}, {str(number): 1 for number in range(101)}]
    made = await tenant.client.audiences.create(name="x", rows=rows)
    assert (made.valid_count, made.invalid_count) == (1, 1)


async def test_problems_are_said_in_words(http: AsyncClient) -> None:
    answer = await http.post("/v1/agents", json={**AGENT, "language": "english!", "nam": 1, "metadata": [], "id": 2})
    found = refused(answer, 400, "invalid_field", "language")
    said = {error["field"]: error["message"] for error in found["errors"]}
    assert said["language"] == "has the wrong form; a right one is en-US. BCP-47 language tag"
    assert said["metadata"] == "should be an object"
    assert said["nam"].startswith("is not a field here; did you mean name? known: name, voice_id, ")
    changed = await http.patch("/v1/agents/agt_x", json={"colour": 1})
    known = refused(changed, 400, "invalid_field", "colour")["message"].partition("known: ")[2].split(", ")
    assert "id" not in known
    assert "name" in known
    draft = {"name": "x", "agent_id": "a", "audience_id": "b", "retry_policy": {"max_atempts": 1}}
    found = refused(await http.post("/v1/deployments", json=draft), 400, "invalid_field", "retry_policy.max_atempts")
    assert "did you mean max_attempts? known: max_attempts, interval_minutes" in found["message"]


async def test_the_wrong_word_of_a_list_is_named(http: AsyncClient) -> None:
    listed = await http.get("/v1/calls?filter[outcome]=busy,sunny")
    said = refused(listed, 400, "invalid_field", "filter[outcome]")["message"]
    assert said.startswith("filter[outcome]: value 2 should be 'answered', ")
    assert said.endswith(', not "sunny"')
    listed = await http.get("/v1/calls?filter[outcome]=%2B12025550100")
    assert "2025550100" not in listed.text
    made = await http.post("/v1/webhooks", json={"url": "https://example.com", "events": ["*", "call.sunny"]})
    assert refused(made, 400, "invalid_field", "events.1")["message"].endswith(', not "call.sunny"')


@pytest.mark.parametrize("value", ["1" * 400, "NaN", '"\\ud800"'])
async def test_what_no_reader_of_json_carries_is_refused_in_words(http: AsyncClient, value: str) -> None:
    answer = await http.post("/v1/audiences", content=f'{{"name": "A", "rows": [{{"note": {value}}}]}}')
    assert "Send large numbers as text" in refused(answer, 400, "invalid_json")["message"]
