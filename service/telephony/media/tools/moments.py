"""The moment for which a person asks to be called back, as a model names it."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from callwright.contract.checks.time_zones import time_zones
from callwright.service.platform.clock.zones import zone_of

MOST_DAYS = 90
LEAST_S = 60.0
"""A moment this near counts as now."""


class NoMoment(ValueError):
    """It is no moment that can be noted. The text is a sentence for the model."""


def moment_of(when: object, time_zone: object, *, now: datetime) -> datetime:
    """The moment in UTC. `when` is ISO 8601, with an offset or in the zone that is named.

    Raises:
        NoMoment: it is none, it has no zone, it has passed, or it is more than `MOST_DAYS` away.
    """
    zone = _zone(time_zone)
    try:
        named = datetime.fromisoformat(str(when).strip())
    except ValueError:
        raise NoMoment("when must be a date and time such as 2026-11-30T15:30. Call again.") from None
    if named.tzinfo is None and zone is None:
        raise NoMoment("time_zone is missing. Ask the person where they are, and call again with it.")
    try:
        moment = (named if named.tzinfo is not None else named.replace(tzinfo=zone)).astimezone(UTC)
    except OverflowError:
        raise NoMoment("when must be a date and time such as 2026-11-30T15:30. Call again.") from None
    if moment < now - timedelta(seconds=LEAST_S):
        raise NoMoment(f"{when} has passed; it is {now:%Y-%m-%dT%H:%M} UTC. Ask again, and call again.")
    if moment > now + timedelta(days=MOST_DAYS):
        raise NoMoment(f"{when} is more than {MOST_DAYS} days away. Ask for an earlier day, and call again.")
    return moment


def _zone(name: object) -> ZoneInfo | None:
    if name is None or name == "":
        return None
    if str(name) not in time_zones():
        raise NoMoment("time_zone must be an IANA zone such as Europe/Berlin. Call again.")
    return zone_of(str(name))
