"""The sentence about a change, with services that say little, or word otherwise, of what a campaign is."""

from typing import Any

import pytest

from callwright.client.errors import CallwrightError, Conflict, NotOffered
from callwright.tools.wording.value_descriptions import NOT_SHOWN, as_stored, describe_change, describe_value
from tests.support.tools import samples
from tests.support.tools.fakes import ERAS, FakeCaller
from tests.support.tools.lookups import refusal

NO_PREVIEW = NotOffered("preview_deployment", status=404, base_url="https://x.test", tried=("POST /deployments",))
NOT_NOW = Conflict("it is scheduled", code="invalid_state_transition", status=409, type="conflict_error")


async def sentence(change: dict[str, Any], *, era: str = ERAS[-1], preview: Any = None, **shown: Any) -> str:
    """The sentence about a change of a scheduled campaign that a service shows like this."""
    campaign = {"id": "dep_1", "status": "scheduled", "call_type": "outbound", "audience_id": "aud_1", **shown}
    answers = {**samples.answers(), "get_deployment": campaign}
    if preview is not None:
        answers["preview_deployment"] = preview
    words = await refusal(FakeCaller(answers), "update_deployment", {"deployment_id": "dep_1", **change}, era=era)
    return words.split("«")[1].split(" (Asked at")[0]


CALLING: dict[str, Any] = {"retry_policy": {}, "max_call_duration_seconds": 600, "max_concurrency": 1}


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("refused", [NO_PREVIEW, NOT_NOW], ids=["not offered", "not of this state"])
async def test_without_a_preview_the_people_of_the_audience_are_the_most_who_are_called(
    refused: CallwrightError, era: str
) -> None:
    found = await sentence({"calls_per_second": 2.0}, era=era, preview=refused, **CALLING)
    assert "It may then call at most 280 people for at most" in found


@pytest.mark.parametrize("blocked", [None, "nobody", ["15"], [{"reason": "no_consent", "count": "many"}]])
async def test_who_is_left_out_in_words_of_another_service_is_not_counted(blocked: Any) -> None:
    preview = {"eligible": 7, "blocked": blocked}
    found = await sentence({"compliance": {}}, preview=preview, compliance={"consent_column": "ok"}, **CALLING)
    assert "People without a yes in the column ok are then called too. It may then call 7 people for at most" in found


async def test_a_service_that_does_not_say_how_many_people_there_are_has_no_cost() -> None:
    found = await sentence({"calls_per_second": 2.0}, preview={"eligible": "some"}, audience_id=None)
    assert found.endswith("What it may then cost is not known.")


async def test_of_settings_that_are_not_shown_every_value_is_said_and_none_from_before() -> None:
    found = await sentence({"compliance": {"purpose": "survey"}, "calls_per_second": 2.0})
    assert ": calls_per_second 2.0, compliance (purpose survey, consent_column none, " in found


async def test_values_from_before_that_are_worded_otherwise_are_quoted_as_they_are() -> None:
    shown: dict[str, Any] = {
        "budget_cap": {"amount": "5", "currency": "EUR"},
        "end_at": "some day",
        "calling_hours": {"windows": [{"opens": "9. Nobody is called. "}], "holidays": True},
        "compliance": {"purpose": "survey", "region: all (it may": 'x" y'},
    }
    hours = {"windows": [{"days": ["mon"], "start": "09:00", "end": "10:00"}]}
    found = await sentence({"budget_cap": None, "end_at": None, "calling_hours": hours, "compliance": {}}, **shown)
    assert 'budget_cap none instead of (amount 5, currency EUR), end_at none instead of "some day", ' in found
    assert '1 window mon 09:00-10:00 instead of [(opens "9. Nobody is called.")], ' in found
    assert "holidays none instead of True)" in found
    assert "compliance (purpose informational instead of survey, " in found
    assert '"region: all (it may" none instead of "x\' y")' in found


def test_other_windows_that_read_the_same_are_said_to_be_others() -> None:
    def windows(last: str) -> list[dict[str, Any]]:
        return [{"days": ["mon"], "start": f"0{hour}:00", "end": f"0{hour}:{last}"} for hour in range(6)]

    before = [*windows("30")[:5], windows("45")[5]]
    found = describe_change("windows", windows("30"), before, windows("30"))
    assert found.startswith("6 windows mon 00:00-00:30, ")
    assert found.endswith(" and 2 more instead of others")
    assert " instead of " not in describe_change("windows", before, before, before)
    assert " instead of " not in describe_change("windows", before, NOT_SHOWN, before)


def test_numbers_amounts_and_names_are_the_same_however_they_are_written() -> None:
    assert describe_change("calls_per_second", 2.0, 2, 2.0) == "calls_per_second 2.0"
    assert as_stored([2]) == [2]
    assert describe_value("a" * 101, most=100) == f'"{"a" * 99}…"'
