"""Whether the service can make the calls of a campaign with the carrier of its numbers."""

from typing import Any

from sqlalchemy import Connection, Row

from callwright.contract.problems import LINES_UNAVAILABLE
from callwright.service.dialling.queue import providers_of
from callwright.service.platform.refusals import Refusal
from callwright.service.settings import ServiceSettings
from callwright.service.telephony.carriers.twilio.account import account_of
from callwright.service.telephony.registry import TWILIO

_NEEDED = ("CALLWRIGHT_TWILIO_ACCOUNT_SID", "CALLWRIGHT_TWILIO_AUTH_TOKEN", "CALLWRIGHT_PUBLIC_URL")


def missing_carrier(connection: Connection, row: Row[Any], settings: ServiceSettings) -> Refusal | None:
    """The refusal if the numbers are of Twilio and the service has no account there, or no public address."""
    if TWILIO not in providers_of(connection, row.id) or account_of(settings.lines, settings.public_url) is not None:
        return None
    lines = settings.lines
    given = (lines.twilio_account_sid, lines.twilio_auth_token, settings.public_url)
    missing = " and ".join(name for name, value in zip(_NEEDED, given, strict=True) if value is None)
    return Refusal(
        LINES_UNAVAILABLE, f"its numbers are of Twilio, and this service is not set up for it: {missing} must be set"
    )
