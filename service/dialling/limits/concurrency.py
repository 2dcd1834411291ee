"""How many lines a campaign may take: at most its own limit, and its share of the lines of its organization; and how
many callers may.

A line is a call with its agent, counted from the claim to the record of the call. The campaigns that have people to
call share the lines by weight, their `max_concurrency`; a line that one cannot use is lent to the others and comes back
when its call ends. Pure functions over one small query, which a claim reads under the lock of the wallet: so it counts
the calls of all processes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, bindparam, func, literal_column, select

from callwright.service.dialling.queue import WAITING
from callwright.service.rules.organization_plans import NEGOTIABLE, plan_of
from callwright.service.tables.campaign_settings import settings_of
from callwright.service.tables.schema import deployment_contacts, deployments, legs, organizations
from callwright.service.tables.schema.legs import WAITS_FOR_LINE

_D, _K, _O = deployments.c, deployment_contacts.c, organizations.c
CALLING: ColumnElement[bool] = literal_column("(deployments.status = 'active' OR deployments.in_flight > 0)")
"""Deployments that may call. A literal, so that both databases use the partial index."""
_SOONEST = (
    select(_K.next_at)
    .where(_K.deployment_id == _D.id, _D.status == "active", WAITING)
    .order_by(_K.next_at)
    .limit(1)
    .scalar_subquery()
)
CAMPAIGNS: Select[*tuple[Any, ...]] = select(
    *(_D.id, _D.status, _D.simulated, _D.max_concurrency, _D.in_flight, _D.settings, _D.claimed_at, _D.clock_ms),
    _D.lease_owner,
    _SOONEST.label("soonest_ms"),
).where(_D.org_id == bindparam("org"), CALLING, _D.call_type == "outbound")
"""The campaigns of an organization that have calls under way or may have people to call."""
CAMPAIGN_CALLS = select(func.coalesce(func.sum(_D.in_flight), 0)).where(
    _D.org_id == bindparam("org"), CALLING, _D.call_type == "outbound"
)
"""How many calls of campaigns an organization has under way."""
_WAITING_LEGS = select(func.count()).where(legs.c.org_id == bindparam("org"), legs.c.state != "ended", WAITS_FOR_LINE)
CALLERS = select(func.coalesce(func.sum(_D.in_flight), 0) - _WAITING_LEGS.scalar_subquery()).where(
    _D.org_id == bindparam("org"), CALLING, _D.call_type == "inbound"
)
"""How many callers of an organization have a line: all who are there, but for those who wait for one."""
_LIMITS: Select[*tuple[Any, ...]] = select(_O.plan, *(_O[name] for name in NEGOTIABLE)).where(_O.id == bindparam("org"))


@dataclass(frozen=True)
class Campaign:
    """A campaign that has calls under way or people to call.

    `wanted` is how many lines it could have at once by now, `claimed_ms` when it last claimed a call, 0 for never.
    """

    id: str
    weight: int
    in_flight: int
    wanted: int
    claimed_ms: int = 0

    @property
    def is_due(self) -> bool:
        """Whether it could use a further line."""
        return self.wanted > self.in_flight


@dataclass(frozen=True)
class Lines:
    """The lines of a campaign: how many it may take now, and how many it may have at once at all.

    `is_waiting`: it could use a line, and others have them.
    """

    room: int
    most: int
    is_waiting: bool = False


def shares(campaigns: Sequence[Campaign], lines: int) -> dict[str, int]:
    """How many of the lines each campaign may have, by its id; together at most `lines`, if no more are taken already.

    Who needs no further line keeps those it has. The others share what is left by weight, each at least one line; if
    there are fewer lines than campaigns, those have one that have waited longest.
    """
    kept = {one.id: one.in_flight for one in campaigns if not one.is_due}
    due = sorted((one for one in campaigns if one.is_due), key=lambda one: (one.claimed_ms, one.id))
    left = max(0, lines - sum(kept.values()))
    if left <= len(due):
        return kept | {one.id: int(place < left) for place, one in enumerate(due)}
    left = min(left, sum(one.wanted for one in due))
    exact = [_exact(one, _level(due, left)) for one in due]
    given = [floor(share) for share in exact]
    # The lines that rounding left over go to the largest remainders, of equal ones to whoever has waited longest.
    order = sorted(range(len(due)), key=lambda place: given[place] - exact[place])
    for place in [place for place in order if given[place] < due[place].wanted][: left - sum(given)]:
        given[place] += 1
    return kept | {one.id: share for one, share in zip(due, given, strict=True)}


def _exact(campaign: Campaign, level: float) -> float:
    """The share of a campaign, in parts of a line, if each has `level` lines for one of its weight."""
    return min(max(1.0, level * campaign.weight), float(campaign.wanted))


def _level(due: Sequence[Campaign], left: int) -> float:
    """The lines for one of weight at which all lines are shared out."""
    low, high = 0.0, 1.0 + max(one.wanted / one.weight for one in due)
    for _ in range(64):
        middle = (low + high) / 2
        if sum(_exact(one, middle) for one in due) < left:
            low = middle
        else:
            high = middle
    return high


def lines_of(own: Campaign, others: Sequence[Campaign], *, lines: int, reserved: int, most: int) -> Lines:
    """The lines of a campaign of which `most` calls at once are allowed, in an organization with so many `lines`.

    It leaves `reserved` lines free, but for one line if it has none.
    """
    taken = own.in_flight + sum(one.in_flight for one in others)
    share = shares([own, *others], lines)[own.id]
    free = max(lines - reserved - taken, int(own.in_flight == 0 and taken < lines))
    room = max(0, min(share - own.in_flight, free))
    at_once = max(1, min(most, lines - reserved))
    return Lines(room, at_once, is_waiting=own.is_due and not room)


def read_lines(connection: Connection, row: Row[Any], *, jumps: bool) -> Lines:
    """The lines of a campaign now. The caller holds the lock of the wallet if calls are claimed by the result.

    With `jumps` simulated campaigns pass over the time in which nobody is due, so that whoever waits is due.
    """
    plan = plan_of(connection.execute(_LIMITS, {"org": row.org_id}).one())
    lines = plan.lines_for_campaigns
    if lines is None:
        return Lines(row.max_concurrency - row.in_flight, row.max_concurrency)
    # Callers take the lines that are reserved for them first, and then those that campaigns leave.
    beyond = max(0, _callers(connection, row.org_id) - plan.reserved_inbound_concurrency)
    found = connection.execute(CAMPAIGNS, {"org": row.org_id}).all()
    others = [_campaign(one, _wanted(one, jumps)) for one in found if one.id != row.id]
    own = _campaign(row, _most_wanted(row, jumps))
    reserved = max(0, settings_of(row).reserved_inbound_concurrency - beyond)
    return lines_of(own, others, lines=max(0, lines - beyond), reserved=reserved, most=row.max_concurrency)


def lines_for_callers(connection: Connection, org_id: str) -> int | None:
    """How many further callers the lines of an organization allow now; None for no limit. The caller holds the lock of
    the wallet. Who waits in a queue has no line."""
    limit = plan_of(connection.execute(_LIMITS, {"org": org_id}).one()).concurrent_calls
    if limit is None:
        return None
    taken = connection.execute(CAMPAIGN_CALLS, {"org": org_id}).scalar_one()
    return max(0, limit - taken - _callers(connection, org_id))


def _callers(connection: Connection, org_id: str) -> int:
    return max(0, connection.execute(CALLERS, {"org": org_id}).scalar_one())


def _campaign(row: Row[Any], wanted: int) -> Campaign:
    return Campaign(row.id, row.max_concurrency, row.in_flight, wanted, row.claimed_at or 0)


def _wanted(row: Row[Any], jumps: bool) -> int:
    """How many lines another campaign could have by now. One that no process drives dials nobody."""
    if row.status != "active" or row.soonest_ms is None or row.lease_owner is None:
        return row.in_flight
    is_due = row.soonest_ms <= row.clock_ms or (jumps and row.simulated)
    return _most_wanted(row, jumps) if is_due else row.in_flight


def _most_wanted(row: Row[Any], jumps: bool) -> int:
    """What the pace allows within a second: lines that would stay empty for longer are lent."""
    if jumps and row.simulated:
        return max(row.in_flight, row.max_concurrency)
    within_a_second = row.in_flight + ceil(settings_of(row).calls_per_second)
    return max(row.in_flight, min(row.max_concurrency, within_a_second))
