"""When the calls of a campaign need the look of a person, and how long that may take. Pure functions and figures."""

from collections.abc import Sequence
from dataclasses import dataclass

from callwright.contract.compliance_reviews import ReviewCategory, ReviewSeverity
from callwright.service.platform.clock.clock import DAY

LEAST_CALLS = 20
"""Answered calls below which nothing is judged: of fewer, two people make a rate."""
NEWEST_CALLS = 200
"""Answered calls that are looked at, the newest ones: a campaign is judged by what it does now, at a bounded cost."""
MOST_OPTED_OUT = 0.10
"""The share of answered calls that may end in an opt-out. Beyond one in ten the list or the words are wrong."""
SHORT_CALL_MS = 6_000
"""An answered call shorter than this ended before anybody could say who calls and why."""
MOST_SHORT = 0.40
"""The share of answered calls that may be short. Carriers block numbers whose calls end at once far more often."""
SHORT_CALLS_WITHIN_MS = DAY
"""How old the calls may be by which short calls are judged: numbers are blocked by what happened within a day."""
HELD_BY_AN_APPROVAL: dict[ReviewCategory, int] = {"opt_out_rate": 200, "short_calls": 20}
"""Answered calls after an approval for which it holds. With fewer, the calls that were approved would count again."""
ABANDONED = "abandoned"
"""The outcome of a call that a person answered while no agent spoke within two seconds."""
MOST_ABANDONED = 0.025
"""The share of answered calls that may be abandoned: half a point below what the United States and Britain allow."""
LEAST_CALLS_FOR_ABANDONED = 40
"""Answered calls below which abandoned ones are not judged: one of forty is the share that is allowed."""
ABANDONED_WITHIN_MS = DAY
"""How old the calls may be by which abandoned calls are judged."""
MOST_ANSWERED_JUDGED = 10_000
"""Answered calls by which abandoned ones are judged, the newest: enough for a share exact to a third of a point."""
DUE_MS: dict[ReviewCategory, int] = {
    "consent_missing": 3 * DAY,
    "opt_out_rate": 1 * DAY,
    "short_calls": 1 * DAY,
    "abandon_rate": 1 * DAY,
    "rules_changed": 7 * DAY,
    "unknown_country": 7 * DAY,
}
"""How long a person may take. A campaign that annoys people is looked at within a day."""
SEVERITY: dict[ReviewCategory, ReviewSeverity] = {
    "consent_missing": "high",
    "opt_out_rate": "high",
    "short_calls": "medium",
    "abandon_rate": "high",
    "rules_changed": "medium",
    "unknown_country": "low",
}


@dataclass(frozen=True)
class AnsweredCall:
    """An answered call: when it ended on its campaign's clock, how long it was, whether the person opted out."""

    ended_ms: int
    duration_ms: int
    opted_out: bool


@dataclass(frozen=True)
class Finding:
    """A rate beyond what is allowed: of `calls` answered calls, `found` were of the kind."""

    category: ReviewCategory
    calls: int
    found: int

    @property
    def percent(self) -> float:
        """The rate in per cent, to a tenth."""
        return round(100 * self.found / self.calls, 1)


def is_short(duration_ms: int) -> bool:
    """Whether an answered call counts as short."""
    return duration_ms < SHORT_CALL_MS


def opt_outs(calls: Sequence[AnsweredCall]) -> Finding | None:
    """The finding if too many of the calls, the newest first, ended in an opt-out."""
    judged = calls[:NEWEST_CALLS]
    return _beyond("opt_out_rate", len(judged), sum(call.opted_out for call in judged), MOST_OPTED_OUT)


def short_calls(calls: Sequence[AnsweredCall]) -> Finding | None:
    """The finding if too many of the calls, the newest first, were short; those of the last 24 hours count."""
    since = calls[0].ended_ms - SHORT_CALLS_WITHIN_MS if calls else 0
    judged = [call for call in calls[:NEWEST_CALLS] if call.ended_ms > since]
    return _beyond("short_calls", len(judged), sum(is_short(call.duration_ms) for call in judged), MOST_SHORT)


def abandoned_calls(answered: int, abandoned: int) -> Finding | None:
    """The finding if too many of so many answered calls, the abandoned ones included, were abandoned."""
    enough = answered >= LEAST_CALLS_FOR_ABANDONED
    return Finding("abandon_rate", answered, abandoned) if enough and abandoned > MOST_ABANDONED * answered else None


def _beyond(category: ReviewCategory, calls: int, found: int, most: float) -> Finding | None:
    return Finding(category, calls, found) if calls >= LEAST_CALLS and found > most * calls else None


def since_approval(category: ReviewCategory, answered: int, approved_at: int | None) -> int:
    """How many of the newest answered calls are judged: all, or those after an approval once that holds no longer.

    `answered` is how many the campaign has; `approved_at` how many it had at the last approval, None without one.
    """
    if approved_at is None:
        return NEWEST_CALLS
    after = answered - approved_at
    return min(after, NEWEST_CALLS) if after >= HELD_BY_AN_APPROVAL[category] else 0
