"""A warning of people whose state or province nobody understands, and who are called less for that."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row

from callwright.contract.checks.counts import count_of
from callwright.service.dialling.eligibility.campaign_hours import CampaignHours, state_cell
from callwright.service.platform.phone import redacted
from callwright.service.rules.regions.places import is_state_unclear

_UNCLEAR = (
    "{unclear} of the {people} looked at {have} a state or province that is not understood (column {columns}): {they} "
    "called only when every state and time zone of the country allows it; write a code or a name such as CA or "
    "California, or leave the cell empty where the area code is right"
)


def advice_on_states(hours: CampaignHours, people: Sequence[Row[Any]]) -> list[str]:
    """How many of the people of a preview have a cell for their state that is not understood, and in which columns."""
    counts: Counter[str] = Counter()
    for one in people:
        found = state_cell(one.cells)
        if found is not None and is_state_unclear(hours.regions, one.phone, found[1]):
            counts[found[0]] += 1
    if not counts:
        return []
    unclear, columns = counts.total(), " and ".join(repr(redacted(column)) for column, _ in counts.most_common())
    said = _UNCLEAR.format(
        unclear=f"{unclear:,}",
        people=count_of(len(people), "person", "people"),
        have="has" if unclear == 1 else "have",
        columns=columns,
        they="this person is" if unclear == 1 else "they are",
    )
    return [said]
