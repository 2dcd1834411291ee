"""What a call used of services that charge, as its media process reported it."""

from callwright.service.rules.cost_items import Used, summed
from callwright.service.telephony.media.messages import Usage
from tests.service.telephony.media.calls import LiveCall


def used(call: LiveCall) -> dict[tuple[str, str], Used]:
    """What the call used, by item and unit."""
    reports = [each for each in call.media.reports.all if isinstance(each, Usage) and each.call_id == call.call_id]
    found = summed([Used(one.item, one.provider, one.model, one.unit, one.quantity, one.is_own) for one in reports])
    return {(one.item, one.unit): one for one in found}
