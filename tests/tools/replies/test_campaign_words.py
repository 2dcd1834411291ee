"""What a campaign's progress is called: done are only those whose calls are over."""

import pytest

from callwright.contract.deployments.deployments import Deployment
from tests.support.tools import samples
from tests.support.tools.fakes import FakeCaller, assistant, server
from tests.support.tools.results import text_of


async def told(deployment: Deployment) -> str:
    async with assistant(server(FakeCaller(answers={"get_deployment": deployment})), "2026-07-28") as client:
        return text_of(await client.call_tool("get_deployment", {"deployment_id": "dep_1"}))


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        (
            {"contacts": 46, "completed": 2, "in_flight": 10, "cancelled": 34},
            "2 of 46 contacts done (2 reached, 0 not), 34 dropped  ",
        ),
        ({"contacts": 2, "in_flight": 1, "cancelled": 1}, "0 of 2 contacts done, 1 dropped  "),
        ({"contacts": 2, "in_flight": 1, "suppressed": 1}, "0 of 2 contacts done, 1 suppressed  "),
        (
            {"contacts": 9, "exhausted": 3, "expired": 2, "pending": 4},
            "3 of 9 contacts done (0 reached, 3 not), 2 dropped  ",
        ),
        ({"contacts": 3, "held": 2, "exhausted": 1}, "1 of 3 contacts done (0 reached, 1 not)  "),
        ({"contacts": 9, "completed": 5, "exhausted": 4}, "9 of 9 contacts done (5 reached, 4 not)  "),
    ],
)
async def test_nobody_who_was_dropped_or_left_out_counts_as_done(counts: dict[str, int], sentence: str) -> None:
    none = dict.fromkeys(("pending", "in_flight", "retry_waiting", "completed", "exhausted"), 0)
    stats = samples.stats(**{**none, **counts})
    assert sentence in await told(samples.deployment(status="cancelled", stats=stats))


async def test_contacts_that_are_still_being_added_are_told_in_words_and_in_data() -> None:
    adding = samples.deployment(contact_changes="adding", stats=samples.stats(contacts=103_413))
    answers = {"get_deployment": adding, "start_deployment": adding}
    async with assistant(server(FakeCaller(answers=answers)), "2026-07-28") as client:
        for tool in answers:
            result = await client.call_tool(tool, {"deployment_id": "dep_1"})
            assert "contacts are still being added" in text_of(result), text_of(result)
            assert (result.structured_content or {})["contact_changes"] == "adding"


async def test_a_scheduled_campaign_is_told_with_the_moment_at_which_it_begins() -> None:
    scheduled = samples.deployment(status="scheduled", start_at=samples.AT)
    assert f"it begins by itself at {samples.AT:%Y-%m-%d %H:%MZ}." in await told(scheduled)


async def test_without_hours_of_its_own_a_campaign_calls_by_the_default_and_not_at_any_hour() -> None:
    said = await told(samples.deployment(calling_hours=None))
    assert (
        "calls in the hours of the rules of each contact's region (mostly Mon-Sat 09:00-20:00), not on public holidays"
        in said
    )
    assert "any hour" not in said


@pytest.mark.requirement("LINE-02")
async def test_a_campaign_that_waits_for_a_decision_says_whom_to_ask_and_what_to_call_then() -> None:
    stats = samples.stats(contacts=2, held=2, pending=0, in_flight=0, retry_waiting=0, completed=0, exhausted=0)
    paused = samples.deployment(status="paused", status_reason="unconfirmed_calls", stats=stats)
    said = await told(paused)
    assert "held 2" in said
    assert "Ask the person you work for whether each rang" in said
    assert "list_contacts with status held" in said
    assert "resume_deployment goes on once the held contacts are resolved" in said
    goes_on = samples.deployment(status="active", stats=samples.stats(held=1))
    assert "Held: nobody knows" in await told(goes_on)
    assert "Held:" not in await told(samples.deployment(status="paused"))


async def test_a_held_contact_and_its_call_say_that_it_may_have_rung() -> None:
    held = samples.contact().model_copy(update={"status": "held", "last_call_id": "cal_7"})
    unconfirmed = samples.call().model_copy(update={"hangup_cause": "unconfirmed", "outcome": "failed"})
    caller = FakeCaller(answers={"list_contacts": samples.page([held]), "get_call": unconfirmed})
    async with assistant(server(caller), "2026-07-28") as client:
        contacts = text_of(await client.call_tool("list_contacts", {"deployment_id": "dep_1"}))
        call = text_of(await client.call_tool("get_call", {"call_id": "cal_1"}))
    assert "held (nobody knows whether the telephone rang)" in contacts
    assert "last call cal_7" in contacts
    assert "Nobody knows whether the telephone rang" in call
    assert "Ask the person you work for" in call


async def test_a_contact_is_told_with_the_rule_that_defers_it() -> None:
    deferred = samples.contact().model_copy(update={"decided_by": "US-FL.hours"})
    caller = FakeCaller(answers={"list_contacts": samples.page([deferred])})
    async with assistant(server(caller), "2026-07-28") as client:
        said = text_of(await client.call_tool("list_contacts", {"deployment_id": "dep_1"}))
    assert f"next {samples.AT:%Y-%m-%d %H:%MZ}  by US-FL.hours" in said


@pytest.mark.parametrize(
    ("greeting", "said"), [(None, "greeting: none, nobody would be called"), ("", "greeting: none, the contact begins")]
)
async def test_a_preview_without_greeting_says_why(greeting: str | None, said: str) -> None:
    seen = samples.preview().model_copy(update={"greeting": greeting})
    async with assistant(server(FakeCaller(answers={"preview_deployment": seen})), "2026-07-28") as client:
        assert said in text_of(await client.call_tool("preview_deployment", {"deployment_id": "dep_1"}))
