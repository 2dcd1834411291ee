"""get_overview: what there is, in few words."""

from typing import Any, cast

import pytest
from mcp.types import CallToolResult

from callwright.contract.overview import MOST_SHOWN, Overview, OverviewAudiences, OverviewDeployments
from callwright.tools.catalogue.overview import MOST_BYTES
from callwright.tools.wording.text import json_bytes
from tests.support.tools.fakes import FakeCaller, assistant, server
from tests.support.tools.overview_samples import largest_overview, overview
from tests.support.tools.results import text_of

MOST_DATA_BYTES = 4_100


async def shown(found: Overview, era: str = "auto") -> CallToolResult:
    async with assistant(server(FakeCaller(answers={"get_overview": found})), era) as client:
        result = await client.call_tool("get_overview", {})
    assert not result.is_error, text_of(result)
    return result


async def test_the_largest_overview_keeps_to_its_bounds_with_every_id_whole(era: str) -> None:
    found = largest_overview()
    result = await shown(found, era)
    assert len(text_of(result).encode()) <= MOST_BYTES == 2_400
    assert json_bytes(result.structured_content) <= MOST_DATA_BYTES
    some_id = found.agents.newest[0].id
    assert text_of(result).count(some_id) == 4 * MOST_SHOWN
    assert str(result.structured_content).count(some_id) == 5 * MOST_SHOWN  # in data a number has the id of who answers


async def test_it_says_what_is_running_what_there_is_and_what_may_be_spent() -> None:
    assert text_of(await shown(overview())).splitlines() == [
        "Clinic  simulated network: no telephone rings, play money",
        "Wallet: 98.50 USD available  1.50 USD held back  top up where the service runs: callwright orgs fund",
        "Plan pro: 50 calls at a time  recordings are kept 90 days",
        "12 calls under way.",
        "1 compliance review waits. list_compliance_reviews shows them.",
        "Campaigns and inbound (3, 1 active):",
        "  agt_1  Clinic  paused (budget_cap_reached)  812345 of 940000 done, 700000 reached  3254.30 USD  "
        "begins 2026-11-21 09:30Z  agent Clinic  audience Clinic",
        "Agents (3):",
        "  agt_1  Clinic  en-US",
        "Audiences (3):",
        "  agt_1  Clinic  940000 people",
        "Phone numbers (3):",
        "  agt_1  +12125550100  Clinic  answered by Clinic",
    ]


async def test_names_that_fit_stay_whole_in_words_and_in_data() -> None:
    data = cast("dict[str, Any]", (await shown(overview())).structured_content)
    assert data["agents"] == {"total": 3, "newest": [{"id": "agt_1", "name": "Clinic", "language": "en-US"}]}
    assert (data["organization"], data["phone_numbers"]["newest"][0]["label"]) == ("Clinic", "Clinic")


async def test_an_empty_organization_is_said_to_have_nothing() -> None:
    none = overview().model_copy(
        update={
            "audiences": OverviewAudiences(total=0, newest=[]),
            "deployments": OverviewDeployments(total=0, running=0, shown=[]),
            "calls_under_way": 1,
        }
    )
    lines = text_of(await shown(none)).splitlines()
    assert "1 call under way." in lines
    assert "Campaigns and inbound: none." in lines
    assert "Audiences: none." in lines


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"network": "real"}, "REAL telephones"),
        ({"limits": {"concurrent_calls": None}}, "Plan pro: no limit of calls at a time"),
        ({"limits": {"concurrent_calls": 1}}, "Plan pro: 1 call at a time"),
        ({"wallet": {"low_balance": True}}, "1.50 USD held back  LOW  top up"),
    ],
)
async def test_what_a_person_has_to_know_first_is_said(changes: dict[str, Any], said: str) -> None:
    found = overview()
    for name, change in changes.items():
        part = getattr(found, name).model_copy(update=change) if isinstance(change, dict) else change
        found = found.model_copy(update={name: part})
    assert said in text_of(await shown(found))


async def test_of_more_than_are_shown_it_says_so() -> None:
    result = text_of(await shown(largest_overview()))
    for heading in ("Campaigns and inbound (15, 5 active, newest 5):", "Agents (15, newest 5):"):
        assert heading in result.splitlines()
