"""When everybody has been called once, how many are not called before the end, and what delays it, in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row

from callwright.contract.checks.counts import count_of
from callwright.service.campaigns.daily_spending import DailySpending
from callwright.service.campaigns.forecast import all_called_ms, due_by_hour
from callwright.service.campaigns.number_caps import NumberCaps, number_caps
from callwright.service.campaigns.outlook import Outlook
from callwright.service.dialling.limits.caller_id import DAILY_CAP
from callwright.service.platform.clock.clock import DAY, moment
from callwright.service.rules.open_hours import DAYS_AHEAD

_MISSED = "about {missed:,} of {people:,} will probably not be called before end_at; set a later end_at"
_LATE = "calling everybody once probably takes longer than until end_at; set a later end_at"
_CAPPED = (
    "{rule}: {numbers} may make {most} within any 24 hours{made}, so calling everybody once takes {until} "
    "instead of until {uncapped}; add phone numbers, or raise max_calls_per_day"
)


@dataclass(frozen=True)
class Estimate:
    """When everybody who can be called has been called once; None if nobody can, or in more than 100 days.

    `warnings` say who is not called before the end, and that the caps of the numbers delay it.
    """

    over_ms: int | None
    warnings: Sequence[str]


def estimate(
    connection: Connection,
    row: Row[Any],
    view: Outlook,
    people: int,
    *,
    numbers: Sequence[Row[Any]],
    daily: DailySpending | None,
    begin_ms: int,
    now_ms: int,
    calling_ms: int,
) -> Estimate:
    """The estimate if calls to `people` take `calling_ms` together and begin at `begin_ms`.

    `numbers` are those that it may call from, `daily` is what its daily budget cap does.
    """
    if view.first(row.end_at) is None:
        return Estimate(None, ())
    caps = number_caps(connection, numbers, begin_ms)
    times: dict[str, Any] = {"begin_ms": begin_ms, "calling_ms": calling_ms}
    allowances = () if caps is None else caps.allowances(people=people, **times)
    groups, places = due_by_hour(connection, row, begin_ms=begin_ms, now_ms=now_ms), view.open_places
    uncapped_ms = all_called_ms(groups, places, **times)
    over_ms = all_called_ms(groups, places, allowances=allowances, **times) if allowances else uncapped_ms
    advice = None
    if caps is not None and uncapped_ms is not None and (over_ms is None or over_ms > uncapped_ms):
        advice = _advice_on_caps(caps, over_ms, uncapped_ms)
    if over_ms is not None and uncapped_ms is not None:
        over_ms = max(over_ms, uncapped_ms + (0 if daily is None else daily.days * DAY), view.latest_ms() or 0)
    warnings: list[str] = []
    if row.end_at is not None:
        missed = view.missed(people, end_ms=row.end_at, allowances=allowances, **times)
        if missed:
            warnings.append(_MISSED.format(missed=missed, people=people))
        elif over_ms is None or over_ms >= row.end_at:
            warnings.append(_LATE)
    return Estimate(over_ms, (*warnings, *([advice] if advice else ())))


def _advice_on_caps(caps: NumberCaps, over_ms: int | None, uncapped_ms: int) -> str:
    return _CAPPED.format(
        rule=DAILY_CAP,
        numbers=count_of(caps.numbers, "phone number"),
        most=count_of(caps.most, "call"),
        made=f" and made {caps.made:,} of them in the last" if caps.made else "",
        until=f"more than {DAYS_AHEAD} days" if over_ms is None else f"until about {_said(over_ms)}",
        uncapped=_said(uncapped_ms),
    )


def _said(at_ms: int) -> str:
    return f"{moment(at_ms):%Y-%m-%d %H:%M} UTC"
