"""A plan as one sentence that a person can accept or refuse.

It has only the organization's own settings and counts, nothing from a contact's row but the numbers of a few people,
and the same plan always gives the same sentence. Names in it are short, on one line and in quotation marks, so that
none reads as part of the sentence.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from callwright.contract.checks.counts import count_of
from callwright.contract.checks.names import named, quoted
from callwright.contract.deployments.dialling import WEEKDAYS, CallingHours, Weekday
from callwright.contract.deployments.maximum_cost import cost_said
from callwright.service.platform.clock.clock import moment
from callwright.service.rules.open_hours import Week
from callwright.service.rules.prices.installation_prices import SERVICE_NAMES, THE_CARRIER

MOST_NAMED = 3
"""People whose numbers are named. Of more there is a list to look at."""
_MOST_NUMBERS = 3
_MOST_WINDOWS = 4
_ONE = (THE_CARRIER, *SERVICE_NAMES.values())
"""Names of which each is one, and not several."""
_RULES = "and by the rules of their region"


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """What a person is asked to agree to. Money is in micros, moments in milliseconds since the epoch."""

    simulated: bool
    goes_on: bool
    """Whether it has started before. Then `people` are those who are left, and amounts are what may be spent more."""
    people: int
    called: Sequence[str] = ()
    """Their numbers, if they are few: a wrong one is seen only where it is named."""
    left_out: int = 0
    """People on the do-not-call list, who are not called."""
    name: str
    agent: str
    numbers: Sequence[str]
    """The active numbers."""
    attempts: int
    hours: CallingHours | None
    week: Week | None = None
    """Without `hours`: those that the rules give to all people alike; None where they differ."""
    start_ms: int | None
    """When calls begin; None for at once."""
    instead_of_ms: int | None = None
    """When it would start by itself, if a start now does not wait for that time."""
    first_call_ms: int | None = None
    """When the first call is made, if the rules put it off; None where it is made when calls begin."""
    end_ms: int | None
    never: bool = False
    """Whether the calling hours allow no call before the end."""
    without_consent: bool = False
    """Whether nobody can be called because consent is missing."""
    cap_micros: int | None
    high_micros: int
    """The high end of the cost range, which the sentence names if there is no cap."""
    overrun_micros: int = 0
    """What calls under way may cost in addition when the cap is reached."""
    uncounted: Sequence[str] = ()
    """Who charges for the calls beyond that."""
    transfers_to: Sequence[tuple[str, str]] = ()
    """To whom the agent may hand calls over: names and numbers."""


def sentence(proposal: Proposal) -> str:
    """For example `SIMULATED: Call 182 people for "Spring check-in" with agent Anna from +12025550150, ...`."""
    who = count_of(proposal.people, "person", "people")
    purpose = "left in" if proposal.goes_on else "for"
    attempts = ("" if proposal.attempts == 1 else "up to ") + count_of(proposal.attempts, "attempt")
    called = f" ({', '.join(proposal.called)})" if proposal.called else ""
    rings = "ringing a real telephone" if proposal.people == 1 else "ringing real telephones"
    parts = (
        f"Call {who}{called} {purpose} {quoted(proposal.name)} with agent {named(proposal.agent)} "
        f"from {_numbers(proposal.numbers)}",
        None if proposal.simulated else rings,
        _transfers(proposal),
        _left_out(proposal.left_out),
        f"{attempts} each",
        _hours(proposal.hours, proposal.week),
        f"not before {_moment(proposal.start_ms)}" if proposal.start_ms is not None else None,
        f"BEGINNING AT ONCE instead of at {_moment(proposal.instead_of_ms)}" if proposal.instead_of_ms else None,
        f"THE FIRST CALL ON {_moment(proposal.first_call_ms)}" if proposal.first_call_ms is not None else None,
        f"no new call from {_moment(proposal.end_ms)} on" if proposal.end_ms is not None else None,
        _never(proposal) if proposal.never else None,
        cost_said(
            cap=proposal.cap_micros, overrun=proposal.overrun_micros, high=proposal.high_micros, more=proposal.goes_on
        ),
        _uncounted(proposal.uncounted) if proposal.uncounted else None,
    )
    label = "SIMULATED: " if proposal.simulated else ""
    return f"{label}{', '.join(part for part in parts if part)}."


def _transfers(proposal: Proposal) -> str | None:
    if not proposal.transfers_to:
        return None
    whom = [f"{quoted(name)} ({number})" for name, number in proposal.transfers_to]
    more = len(whom) - MOST_NAMED
    said = _listed(whom) if more <= 0 else f"{', '.join(whom[:MOST_NAMED])} and {more} more"
    telephone = "telephone" if len(whom) == 1 else "telephones"
    return f"handing calls over to {said}" + ("" if proposal.simulated else f", whose {telephone} may ring too")


def _uncounted(who: Sequence[str]) -> str:
    return f"not counting what {_listed(who)} {'charges' if len(who) == 1 and who[0] in _ONE else 'charge'}"


def _never(proposal: Proposal) -> str:
    if proposal.without_consent:
        return "but NOBODY CAN BE CALLED without their consent"
    end = "" if proposal.end_ms is None else " and before the end"
    return f"but NOBODY CAN BE CALLED within the calling hours{end}"


def _left_out(people: int) -> str | None:
    return f"leaving out {count_of(people, 'person', 'people')} on the do-not-call list" if people else None


def _listed(names: Sequence[str]) -> str:
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def _numbers(numbers: Sequence[str]) -> str:
    if not numbers:
        return "no active number"
    if len(numbers) <= _MOST_NUMBERS:
        return _listed(numbers)
    return f"{', '.join(numbers[:_MOST_NUMBERS])} and {len(numbers) - _MOST_NUMBERS} more"


def _hours(hours: CallingHours | None, week: Week | None) -> str:
    days: dict[tuple[str, str], set[Weekday]] = {}
    if hours is None:
        for day, spans in zip(WEEKDAYS, week or (), strict=week is not None):
            for start, end in spans:
                days.setdefault((_clock(start), _clock(end)), set()).add(day)
        if not days or len(days) > _MOST_WINDOWS:
            return "in the hours that the rules of each person's region allow"
        return f"{_windows(days)} in each person's own time zone {_RULES}"
    for window in hours.windows:
        days.setdefault((window.start, window.end), set()).update(window.days)
    place = "each person's own time zone" if hours.timezone_mode == "callee" else f"the time zone {hours.timezone}"
    holidays = "" if hours.skip_public_holidays else ", on public holidays too"
    return f"{_windows(days)} in {place}{holidays} {_RULES}"


def _clock(minute: int) -> str:
    return f"{minute // 60:02d}:{minute % 60:02d}"


def _windows(days: Mapping[tuple[str, str], set[Weekday]]) -> str:
    windows = [f"{_days(held)} {start}-{end}" for (start, end), held in days.items()]
    more = len(windows) - _MOST_WINDOWS
    said = [*windows[:_MOST_WINDOWS], *([f"in {count_of(more, 'more window')}"] * (more > 0))]
    return " and ".join(said)


def _days(days: set[Weekday]) -> str:
    """`Mon-Fri`, or `Mon, Wed-Fri`; consecutive days become a range."""
    runs: list[list[str]] = []
    for day in WEEKDAYS:
        if day not in days:
            runs.append([])
        elif runs and runs[-1]:
            runs[-1] = [runs[-1][0], day.title()]
        else:
            runs.append([day.title()])
    return ", ".join("-".join(run) for run in runs if run)


def _moment(ms: int) -> str:
    return f"{moment(ms):%Y-%m-%d %H:%M} UTC"
