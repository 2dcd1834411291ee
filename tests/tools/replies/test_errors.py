"""From an error of the client to the next step."""

import pytest
from mcp.types import TextContent
from pydantic import JsonValue

from callwright.client.errors import (
    AnswerTooLarge,
    CallwrightError,
    InvalidArguments,
    QuotaExceeded,
    ServiceProblem,
    ServiceTimeout,
    ServiceUnreachable,
    UnexpectedAnswer,
)
from callwright.contract.problems import PROBLEMS
from callwright.tools.catalogue.registry import TOOLS, tool_named
from callwright.tools.replies.errors import NEXT, explained
from callwright.tools.runtime.tool import Tool
from tests.support.tools.fakes import FakeCaller, assistant, server
from tests.support.tools.good_arguments import ARGUMENTS
from tests.support.tools.problems import service_problem

writing = pytest.mark.parametrize(
    "tool", [tool for tool in TOOLS if not tool.hints.read_only], ids=lambda tool: tool.name
)


@pytest.mark.parametrize("code", PROBLEMS)
def test_every_problem_reads_as_words_without_placeholders_whatever_the_tool(code: str) -> None:
    for tool in TOOLS:
        said = explained(service_problem(code), tool)
        assert said.startswith(PROBLEMS[code].meaning)
        assert len(said) > len(PROBLEMS[code].meaning) + 10
        assert "{" not in said


@pytest.mark.parametrize(
    ("name", "field", "finder"),
    [
        ("create_deployment", "agent_id", "list_agents"),
        ("create_deployment", "audience_id", "list_audiences"),
        ("create_deployment", "phone_number_ids", "list_phone_numbers"),
        ("create_agent", "voice_id", "list_voices"),
        ("get_call", None, "list_calls"),
        ("get_voice", None, "list_voices"),
        ("start_deployment", None, "list_deployments"),
        ("get_audience_import", "import_id", "import_audience"),
    ],
)
def test_what_is_not_found_is_looked_for_with_the_right_list(name: str, field: str | None, finder: str) -> None:
    assert finder in explained(service_problem("not_found", field=field), tool_named(name))


def test_further_fields_and_known_details_are_said() -> None:
    found = service_problem(
        "invalid_field",
        message="name is too long",
        field="name",
        errors=[{"field": "name", "message": "too long"}, {"field": "language", "message": "no such tag"}],
        details={"current_status": "active", "allowed": ["pause", "cancel"], "stack": "hidden"},
    )
    assert explained(found, tool_named("create_agent")) == (
        "name is too long. language: no such tag. (current_status active; allowed pause, cancel) "
        "Correct the field named above and call again."
    )


def test_money_in_details_reads_as_an_amount() -> None:
    details: dict[str, JsonValue] = {"required": {"amount": "9.50", "currency": "USD"}, "available": "5.00"}
    said = explained(service_problem("insufficient_credits", details=details), tool_named("start_deployment"))
    assert "required 9.50 USD; available 5.00" in said
    assert "get_wallet" in said


def test_a_failure_of_the_service_carries_the_request_id_and_the_wait() -> None:
    said = explained(service_problem("service_unavailable", retry_after_s=3), tool_named("get_recording"))
    assert "(wait 3 seconds; request id req_1)" in said


def test_every_code_has_words_of_its_own() -> None:
    assert sorted(set(PROBLEMS) ^ set(NEXT)) == []


def test_a_rate_limit_says_how_long_to_wait_and_how_to_need_less() -> None:
    assert explained(service_problem("rate_limited", retry_after_s=1), tool_named("list_calls")) == (
        "Too many requests at once. (wait 1 second) Nothing was changed. Wait that long, then call again, one call "
        "after the other. Fewer calls that ask for more at once help."
    )


def test_a_used_up_day_says_when_it_goes_on() -> None:
    said = explained(
        QuotaExceeded(
            "Enough for today.",
            code="daily_quota_exceeded",
            status=429,
            type="rate_limit_error",
            retry_after_s=43_200.0,
            headers={"x-ratelimit-reset": "1795305600"},
        ),
        tool_named("create_agent"),
    )
    assert said.startswith("Enough for today. (goes on at 2026-11-22T00:00:00Z) Nothing was changed")
    assert "Tell the person when it goes on" in said


def test_a_key_without_its_creator_names_the_page_where_the_person_makes_another() -> None:
    address = "https://voice.example.com/settings/api-keys"
    said = explained(
        service_problem("api_key_owner_required", details={"action_url": address}), tool_named("create_agent")
    )
    assert f"(action_url {address})" in said
    assert "make another key as a present member of the organization, at the action_url above" in said
    assert "CALLWRIGHT_API_KEY" in said


@pytest.mark.parametrize("address", [None, 7, "", "javascript:alert(1)", "https://x/ y", "https://x/\u202e", "see me"])
def test_an_address_that_is_none_is_not_shown(address: JsonValue) -> None:
    said = explained(
        service_problem("api_key_owner_required", details={"action_url": address}), tool_named("create_agent")
    )
    assert "action_url" not in said
    assert "where keys are made" in said


@writing
def test_a_request_that_is_still_being_served_is_looked_for_before_it_is_sent_again(tool: Tool) -> None:
    said = explained(service_problem("idempotency_in_progress", retry_after_s=1), tool)
    assert "it may happen yet. Look with " in said


def test_an_unknown_code_still_gets_a_next_step() -> None:
    found = ServiceProblem("Odd.", code="http_418", status=418, type="validation_error")
    assert explained(found, tool_named("get_agent")) == "Odd. Try again later, or tell the person."


def test_text_of_the_service_is_cleaned_and_cut() -> None:
    said = explained(service_problem("invalid_field", message="a\u202eb\n" + "x" * 900), tool_named("get_agent"))
    assert said.startswith("ab x")
    assert len(said) < 600


@writing
@pytest.mark.parametrize("kind", [ServiceUnreachable, ServiceTimeout])
def test_a_lost_answer_to_a_change_says_to_look_before_trying_again(
    kind: type[ServiceUnreachable] | type[ServiceTimeout], tool: Tool
) -> None:
    said = explained(kind("lost", request_sent=True, repeatable=False), tool)
    assert "It may have happened: look with " in said
    assert said.endswith(" before trying again.")


@writing
def test_a_change_that_was_never_sent_has_not_happened(tool: Tool) -> None:
    said = explained(ServiceUnreachable("refused", request_sent=False, repeatable=False), tool)
    assert "Nothing was changed" in said


def test_after_a_deletion_one_looks_at_the_list() -> None:
    said = explained(ServiceTimeout("late", request_sent=True, repeatable=False), tool_named("delete_agent"))
    assert "look with list_agents" in said


@pytest.mark.parametrize(
    "error",
    [
        ServiceTimeout("late", request_sent=True, repeatable=True),
        ServiceUnreachable("gone", request_sent=True, repeatable=True),
        AnswerTooLarge(limit_bytes=1),
        UnexpectedAnswer("secret path"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_read_that_failed_has_changed_nothing(error: CallwrightError) -> None:
    said = explained(error, tool_named("list_calls"))
    assert "Nothing was changed" in said
    assert "secret" not in said


def test_an_unreadable_answer_to_a_change_says_to_look() -> None:
    assert "look with get_deployment" in explained(UnexpectedAnswer("odd"), tool_named("start_deployment"))


@pytest.mark.parametrize("name", ["create_deployment", "start_deployment"])
async def test_after_a_lost_answer_the_key_that_was_sent_is_named(name: str) -> None:
    caller = FakeCaller()
    caller.answers[name] = ServiceTimeout("late", request_sent=True, repeatable=True)
    async with assistant(server(caller), "auto") as client:
        result = await client.call_tool(name, ARGUMENTS.get(name, {"id": "dep_1"}))
    block = result.content[0]
    assert isinstance(block, TextContent)
    [sent] = [asked.key for asked in caller.asked if asked.operation == name]
    assert sent
    assert f"look with get_deployment and idempotency_key={sent}," in block.text


def test_a_lost_answer_of_another_kind_names_no_key() -> None:
    error = ServiceTimeout("late", request_sent=True, repeatable=True)
    assert "idempotency_key" not in explained(error, tool_named("create_agent"), key="k1")
    assert "idempotency_key" not in explained(error, tool_named("update_deployment"), key="")


def test_arguments_the_client_refuses_are_explained() -> None:
    said = explained(InvalidArguments("id: must not be empty"), tool_named("get_agent"))
    assert said == "Invalid arguments: id: must not be empty. Correct them and call again."


def test_amounts_and_counts_of_our_own_are_told_whole_and_those_of_another_service_masked() -> None:
    details: dict[str, JsonValue] = {"limit": "100.000000", "current": "50.000000", "required": "1000.000000"}
    said = explained(service_problem("spending_cap_reached", details=details), tool_named("start_deployment"))
    assert "(required 1000.000000; limit 100.000000; current 50.000000)" in said
    counted = explained(
        service_problem("plan_limit_reached", details={"limit": 1_000_000}), tool_named("create_audience")
    )
    assert "limit 1000000" in counted
    foreign = service_problem("plan_limit_reached", details={"limit": 12_025_550_155})
    assert "12025550155" not in explained(foreign, tool_named("create_audience"), fence="tag")
    assert "+12025550155" not in explained(
        service_problem("plan_limit_reached", details={"limit": "+12025550155"}), tool_named("create_audience")
    )


def test_a_telephone_number_in_a_request_id_is_masked() -> None:
    error = ServiceProblem("no", code="x", status=500, type="x", request_id="+12025550155 evil")
    said = explained(error, tool_named("list_agents"), fence="tag")
    assert "request id +1202•••0155 evil" in said


def test_what_its_state_allows_names_no_field_that_the_tool_does_not_have() -> None:
    details: dict[str, JsonValue] = {"current_status": "active", "allowed": ["budget_cap", "metadata", "name"]}
    said = explained(
        service_problem("invalid_state_transition", message="calling_hours cannot change", details=details),
        tool_named("update_deployment"),
    )
    assert "allowed budget_cap, name)" in said
