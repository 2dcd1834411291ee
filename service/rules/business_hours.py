"""Whether callers are answered at a moment: the business hours of an inbound deployment."""

from callwright.contract.deployments.dialling import WEEKDAYS
from callwright.contract.deployments.inbound import BusinessHours
from callwright.service.platform.clock.clock import moment
from callwright.service.platform.clock.zones import zone_of


def are_open(hours: BusinessHours | None, at_ms: int) -> bool:
    """Whether callers are answered then. Without hours they are at any time. The end of a window is not part of it."""
    if hours is None:
        return True
    local = moment(at_ms).astimezone(zone_of(hours.timezone))
    day, time = WEEKDAYS[local.weekday()], f"{local:%H:%M}"
    return any(day in window.days and window.start <= time < window.end for window in hours.windows)
