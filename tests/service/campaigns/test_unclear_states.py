"""What a preview says of cells for the state that nobody understands, and when these people are called."""

from datetime import timedelta
from typing import Any

import pytest

from callwright.contract.deployments.dialling import WEEKDAYS, CallingHours, Window
from callwright.service.platform.clock.clock import moment
from tests.support.campaigns import draft
from tests.support.resources import row
from tests.support.service import Tenant

pytestmark = pytest.mark.usefixtures("shipped_law")
DAY = [Window(days=list(WEEKDAYS), start="00:00", end="24:00")]


def rows(column: str, *states: str) -> list[dict[str, Any]]:
    """People with numbers of New York and these states."""
    return [row(index, **{column: state}) for index, state in enumerate(states)]


async def warnings(tenant: Tenant, people: list[dict[str, Any]]) -> list[str]:
    """The warnings of a preview that are about states."""
    made = await draft(tenant, people, name=f"Campaign {people}"[:80])
    seen = await tenant.client.deployments.preview(id=made.id)
    return [said for said in seen.warnings if "state" in said]


async def test_a_preview_counts_people_with_a_state_that_is_not_understood_and_says_what_to_write(
    tenant: Tenant,
) -> None:
    (said,) = await warnings(tenant, rows("State/Province", "Calfornia", "Bavaria", "NY", "", "unknown"))
    assert said.startswith(
        "2 of the 5 people looked at have a state or province that is not understood (column 'State/Province'): they "
        "are called only when every state and time zone of the country allows it; write a code or a name such as CA or "
        "California"
    )
    assert "Calfornia" not in said


async def test_a_single_person_with_such_a_state_is_warned_of_in_the_singular(tenant: Tenant) -> None:
    (said,) = await warnings(tenant, rows("state", "Calfornia"))
    assert said.startswith("1 of the 1 person looked at has a state or province that is not understood")
    assert "this person is called only when" in said


async def test_a_preview_is_silent_about_states_where_all_are_understood_or_empty(tenant: Tenant) -> None:
    assert await warnings(tenant, rows("State", "NY", "Calif.", "n/a", "", "Puerto Rico")) == []
    assert await warnings(tenant, [{**row(), "phone_number": "+493055500100", "state": "Berlin"}]) == []


async def test_a_person_whose_state_is_not_understood_is_called_when_it_is_day_in_all_of_the_country(
    tenant: Tenant,
) -> None:
    hours = CallingHours(windows=DAY, skip_public_holidays=False)
    now = moment(tenant.services.clock.now_ms())
    in_new_york = now.replace(hour=16, minute=0, second=0, microsecond=0) + timedelta(days=9 - now.weekday())
    given: dict[str, Any] = {"calling_hours": hours, "start_at": in_new_york}
    first: list[int] = []
    for state in ("NY", "Calfornia"):
        made = await draft(tenant, rows("State", state), name=state, **given)
        at = (await tenant.client.deployments.preview(id=made.id)).next_call_at
        assert at is not None
        first.append((at - in_new_york) // timedelta(hours=1))
    assert first[0] == 0
    assert 2 <= first[1] <= 4  # nine o'clock in Hawaii
