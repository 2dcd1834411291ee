"""Lists of a campaign's contacts by their state or last outcome: the campaign's counters say how many there are.

A campaign may have millions of contacts, of which a page shows some. If many are asked for, they stand close together
in the order of the list. If few, they are found by what leads to them, and sorted.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, false, select

from callwright.service.platform.database.listing import RowScan, Span, Wanted
from callwright.service.tables.schema import calls, deployment_contacts
from callwright.service.tables.schema.contacts import RARE, USUAL, WAITS

_FEW_CALLS = 5_000
"""Of so many calls of a campaign the contacts are gathered."""
_WAITING = frozenset({"pending", "retry_waiting"})
COUNTERS = {"status": "states", "last_outcome": "last_outcomes", "last_disposition": "dispositions"}
"""The columns with counters. A disposition is counted for each call, so there are not more contacts than that."""


@dataclass(frozen=True)
class Counted:
    """What counters say of the contacts that are asked for.

    `leads` are conditions that lead to few contacts; none if they are many, or nobody knows. `total` is exact.
    """

    leads: Sequence[ColumnElement[bool]] = ()
    total: int | None = None


def counted(campaign: Row[Any], wanted: Sequence[Wanted], per_page: int) -> Counted:
    """What the counters of a campaign say, while no piece of a large change is under way."""
    counts = {one.column: _count(campaign, one) for one in wanted if one.column in COUNTERS}
    if any(one.column == "phone" for one in wanted):  # the index of the organization's contacts has numbers
        return Counted((deployment_contacts.c.org_id == campaign.org_id,))
    if campaign.call_type != "outbound" or campaign.contact_changes is not None:
        return Counted()
    if not counts:
        return Counted() if wanted else Counted((), campaign.contacts)
    column = min(counts, key=lambda name: counts[name])
    count = counts[column]
    if count == 0:
        return Counted((false(),), 0)
    total = count if len(wanted) == 1 and column != "last_disposition" else None
    if count * count >= per_page * campaign.contacts:
        return Counted((), total)
    (values,) = [frozenset(one.values) for one in wanted if one.column == column]
    return Counted(_leads(campaign, column, values), total)


def _count(campaign: Row[Any], wanted: Wanted) -> int:
    counters: dict[str, int] = json.loads(getattr(campaign, COUNTERS[wanted.column]))
    return sum(counters.get(value, 0) for value in set(wanted.values))


def _leads(campaign: Row[Any], column: str, values: frozenset[str]) -> Sequence[ColumnElement[bool]]:
    if not values & USUAL[column]:
        return (RARE[column],)
    if column == "status" and values <= _WAITING:
        return (WAITS, deployment_contacts.c.next_at >= 0)  # by the index of when they are considered
    if column != "status" and campaign.attempts <= _FEW_CALLS:  # who has been called has a last call
        theirs = select(calls.c.contact_id).where(calls.c.deployment_id == campaign.id)
        return (deployment_contacts.c.id.in_(theirs),)
    return ()


@dataclass(frozen=True)
class ByCounters:
    """Finds the contacts of a list. `scan` finds those that match; `known` is their number, as counters say."""

    scan: RowScan
    known: int

    def total(self) -> int:
        """How many contacts there are, up to as many as are counted."""
        return self.known if self.scan.most is None else min(self.known, self.scan.most)

    def rows(self, span: Span) -> Select[Any]:
        """The contacts of a span of the list."""
        return self.scan.rows(span)
