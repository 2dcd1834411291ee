"""Whether earlier calls to the number allow one more."""

from collections.abc import Sequence
from datetime import datetime

from tests.oracle.places import Place, zone_named
from tests.oracle.regions import CAPS, PAUSES, in_force

Earlier = Sequence[tuple[datetime, str | None]]
"""When earlier calls were dialled, and how they ended."""


def forbids(place: Place, at: datetime, *, purpose: str, earlier: Earlier) -> str | None:
    """The cap or pause that forbids one more call at a moment; None: they allow it."""
    for on in sorted({at.astimezone(zone_named(zone)).date() for zone in place.zones}):
        for cap in in_force(CAPS, laws=place.laws, purpose=purpose, on=on):
            if 1 + sum(at - cap.within < dialled for dialled, _ in earlier) > cap.calls:
                return cap.id
        for pause in in_force(PAUSES, laws=place.laws, purpose=purpose, on=on):
            if any(at - pause.lasts < dialled and outcome in pause.outcomes for dialled, outcome in earlier):
                return pause.id
    return None
