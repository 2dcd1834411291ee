"""The two envelopes of problems, and what is published of every code."""

from typing import Any

import pytest

from callwright.contract.problems import FORBIDDEN, PROBLEMS
from callwright.contract.surface import OPERATIONS
from callwright.service import accounts
from callwright.service.rest.documentation.reference.problems import problems_page
from tests.support.calls.stored_calls import put_call
from tests.support.http.raw_requests import AsyncClient, refused
from tests.support.service import Tenant

AGENT = {"name": "Ada", "voice_id": "en-US-ada", "language": "en-US", "system_prompt": "Say hello."}


@pytest.mark.requirement("ERR-01", "ERR-02", "ERR-05", "ERR-31")
async def test_a_problem_is_nested_and_names_its_field_where_it_has_one(http: AsyncClient) -> None:
    answers = {
        "missing_field": await http.post("/v1/agents", json={**AGENT, "name": None, "org_id": 1}),
        "not_found": await http.get("/v1/agents/agt_nobody"),
        "invalid_json": await http.post("/v1/agents", content=b"{"),
        "method_not_allowed": await http.put("/v1/agents"),
    }
    absent = {name: value for name, value in AGENT.items() if name != "voice_id"}
    answers["missing_field"] = await http.post("/v1/agents", json=absent)
    always = {"type", "code", "message", "request_id"}
    for code, answer in answers.items():
        assert set(answer.json()) == {"error"}
        error: dict[str, Any] = answer.json()["error"]
        assert set(error) - {"field", "errors"} == always
        assert {name: type(error[name]) for name in always} == dict.fromkeys(always, str)
        assert error["code"] == code
        assert error["request_id"] == answer.headers["x-request-id"]
        assert (error["type"], answer.status_code) == (PROBLEMS[code].type, PROBLEMS[code].status)
    found = answers["missing_field"].json()["error"]
    assert (found["type"], found["field"]) == ("validation_error", "voice_id")
    assert "field" not in answers["not_found"].json()["error"]


@pytest.mark.requirement("ERR-03", "ERR-05", "ERR-12", "ERR-14", "ERR-34", "ERR-36", "ERR-38")
async def test_a_problem_with_the_key_or_the_origin_is_flat(tenant: Tenant, http: AsyncClient) -> None:
    revoked = await tenant.new_key("x")
    await tenant.database.write(accounts.revoke_key, tenant.services.ids, revoked.id, tenant.services.clock.now_ms())
    for headers, status, code in (
        ({"Authorization": ""}, 401, "api_key_required"),
        ({"Authorization": "Bearer svc_live_short"}, 401, "invalid_api_key"),
        ({"Authorization": f"Bearer {revoked.secret}"}, 401, "invalid_api_key"),
        ({"Origin": "https://elsewhere.example"}, 403, "origin_not_allowed"),
    ):
        answer = await http.get("/v1/wallet", headers=headers)
        body = answer.json()
        assert (answer.status_code, body["error"]) == (status, code)
        assert set(body) == {"error", "message", "request_id"}
        assert isinstance(body["message"], str)
        assert body["request_id"] == answer.headers["x-request-id"]


@pytest.mark.requirement("ERR-80")
def test_every_code_is_published_with_status_meaning_and_remedy() -> None:
    published = problems_page(OPERATIONS.values())
    for code, problem in PROBLEMS.items():
        (section,) = (part for part in published.split("\n## ")[1:] if part.split("\n")[0] == code)
        for said in (str(problem.status), problem.meaning, problem.remedy):
            assert said in section, code


@pytest.mark.requirement("ERR-13", "ERR-39", "ERR-58")
def test_nothing_but_an_origin_is_forbidden_to_a_key() -> None:
    forbidden = {problem.code for problem in PROBLEMS.values() if problem.status == 403}
    assert forbidden == {"origin_not_allowed", "forbidden"}
    by_role = {name for name, operation in OPERATIONS.items() if FORBIDDEN in operation.problems}
    assert by_role == set()  # a role is that of a user of the dashboard


@pytest.mark.requirement("ERR-20", "ERR-21")
def test_rules_of_business_are_422_and_nothing_else_is() -> None:
    rules = {code for code, problem in PROBLEMS.items() if problem.type == "business_rule_error"}
    assert {"insufficient_credits", "plan_limit_reached"} <= rules
    assert rules == {code for code, problem in PROBLEMS.items() if problem.status == 422}


@pytest.mark.requirement("ERR-83")
async def test_bytes_that_a_recording_does_not_have_are_refused_with_its_size(
    tenant: Tenant, http: AsyncClient
) -> None:
    path = f"/v1/calls/{await put_call(tenant, turns=2, duration_ms=4_000)}/recording"
    size = len((await http.get(path)).content)
    last = await http.get(path, headers={"Range": f"bytes={size - 1}-"})
    assert (last.status_code, len(last.content)) == (206, 1)
    beyond = await http.get(path, headers={"Range": f"bytes={size}-"})
    refused(beyond, 416, "range_not_satisfiable")
    assert beyond.headers["content-range"] == f"bytes */{size}"
