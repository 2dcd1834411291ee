"""Reviews that the calls of a campaign open: too many opt-outs, or too many calls that end at once."""

from collections.abc import Sequence
from typing import Any, Literal

from sqlalchemy import Connection, Row

from callwright.service.dialling.queue import FIND
from callwright.service.dialling.stops.reviews import review_finding
from callwright.service.platform.ids import Ids
from callwright.service.rules.review_thresholds import (
    LEAST_CALLS,
    AnsweredCall,
    Finding,
    is_short,
    opt_outs,
    short_calls,
    since_approval,
)
from callwright.service.tables import compliance_reviews
from callwright.service.tables.counters import REACHED
from callwright.service.telephony.engine import CallResult

_ByCalls = Literal["opt_out_rate", "short_calls"]
_MESSAGES = {
    "opt_out_rate": "{found} of the newest {calls} answered calls ({percent} %) ended with the wish not to be called "
    "again: look at the list and at what the agent says.",
    "short_calls": "{found} of {calls} answered calls of the last 24 hours ({percent} %) were shorter than 6 seconds: "
    "look at the list and at how the agent begins.",
}


def review_calls(
    connection: Connection,
    ids: Ids,
    before: Row[Any],
    results: Sequence[CallResult],
    *,
    now_ms: int,
    public_url: str | None,
) -> None:
    """Opens the reviews for which these results, which are stored already, give a reason; the campaign is paused.

    The caller holds the lock of the deployment, whose row was `before`. Nothing is read unless a person opted out, a
    call was short, or the campaign has just got enough answered calls to be judged. Callers have called by themselves.
    """
    reached = [result for result in results if result.outcome in REACHED]
    answered = before.answered + len(reached)
    if answered < LEAST_CALLS or before.status not in ("active", "paused") or before.call_type == "inbound":
        return
    first = before.answered < LEAST_CALLS
    opted_out = first or any(result.disposition == "do_not_call" for result in reached)
    short = first or any(is_short(round(result.duration_s * 1_000)) for result in reached)
    if not opted_out and not short:
        return
    row: Row[Any] = connection.execute(FIND, {"id": before.id}).one()
    newest = compliance_reviews.newest_answered(connection, row.id)
    found = (
        _judged(connection, row, newest, "opt_out_rate") if opted_out else None,
        _judged(connection, row, newest, "short_calls") if short else None,
    )
    for finding in found:
        if finding is not None:
            review_finding(
                connection, ids, row, finding, _MESSAGES[finding.category], now_ms=now_ms, public_url=public_url
            )


def _judged(
    connection: Connection, row: Row[Any], newest: Sequence[AnsweredCall], category: _ByCalls
) -> Finding | None:
    """The finding of a category, by the calls that no approval covers; None while a review of it was not approved."""
    judge = opt_outs if category == "opt_out_rate" else short_calls
    if judge(newest) is None:
        return None
    last = compliance_reviews.newest(connection, row.id, category)
    if last is not None and last.status != "approved":
        return None
    counted = since_approval(category, row.answered, compliance_reviews.approved_at(last))
    return judge(newest[:counted])
