"""Phone numbers that an organization owns at a carrier: they are taken in, and the carrier bills for them."""

from typing import Any

from sqlalchemy import or_, select

from callwright.contract import phone_numbers as contract
from callwright.contract.problems import NUMBER_NOT_AT_CARRIER, NUMBER_UNAVAILABLE, SERVICE_UNAVAILABLE
from callwright.service.handlers import phone_numbers as number_handlers
from callwright.service.handlers.request_context import RequestContext, handles
from callwright.service.handlers.twilio_offers import NO_ACCOUNT
from callwright.service.platform.database.inserts import insert_ignoring_conflicts
from callwright.service.platform.json_text import json_text
from callwright.service.platform.phone import Dialable, read_number
from callwright.service.platform.refusals import Refusal, invalid
from callwright.service.settings import LineSettings, ServiceSettings
from callwright.service.tables.schema import organizations, phone_numbers
from callwright.service.telephony.carriers.twilio.account import account_of
from callwright.service.telephony.carriers.twilio.api import TwilioApi, TwilioUnavailable
from callwright.service.telephony.carriers.twilio.numbers import AccountNumber, number_of
from callwright.service.telephony.registry import SIP, TWILIO

_NOT_AT_TRUNK = (
    "number: the SIP trunk of this service is not set up with it; whoever runs the service lists the numbers owned "
    "there in CALLWRIGHT_SIP_NUMBERS"
)
_NOT_IN_ACCOUNT = (
    "number: the Twilio account of this service does not have it; rent_phone_number with provider twilio rents one"
)
_NO_VOICE = "number: it cannot make calls; its capabilities at Twilio are without voice"


def _carrier_of(asked: contract.ImportPhoneNumber, lines: LineSettings) -> str:
    """The carrier that a number is taken in from: the one that is named, or the one that there is."""
    if asked.provider is not None:
        return asked.provider
    return TWILIO if lines.twilio_account_sid is not None and asked.number not in lines.sip_numbers else SIP


async def _at_twilio(asked: contract.ImportPhoneNumber, settings: ServiceSettings) -> AccountNumber | None:
    """The number at Twilio, if that is its carrier and has it."""
    account = account_of(settings.lines, settings.public_url)
    if _carrier_of(asked, settings.lines) != TWILIO or account is None:
        return None
    read = read_number(asked.number)
    if not isinstance(read, Dialable):
        raise invalid("number", read.message)
    try:
        return await number_of(TwilioApi(account), read.e164)
    except TwilioUnavailable as error:
        raise Refusal(SERVICE_UNAVAILABLE, f"{error}; `callwright doctor` looks at the account") from error


@handles(contract.import_phone_number, asks=_at_twilio)
def import_phone_number(asked: contract.ImportPhoneNumber, context: RequestContext) -> contract.PhoneNumber:
    """Takes in a number of a carrier, for no money. One organization at a time has it."""
    read = read_number(asked.number)
    if not isinstance(read, Dialable):
        raise invalid("number", read.message)
    carrier = _carrier_of(asked, context.settings.lines)
    if (why := _why_not(context, carrier, read.e164)) is not None:
        raise Refusal(NUMBER_NOT_AT_CARRIER, why, field=why.partition(":")[0])
    row: dict[str, Any] = {
        **context.new_row("num"),
        "number": read.e164,
        "country": read.country or "",
        "number_type": asked.number_type,
        "status": "active",
        "label": asked.label,
        "provider": carrier,
        "simulated": False,
        "monthly_micros": 0,
        "auto_renew": False,
        "max_calls_per_day": asked.max_calls_per_day,
        "metadata": json_text(asked.metadata),
    }
    if not insert_ignoring_conflicts(context.connection, phone_numbers, [row]):
        raise Refusal(NUMBER_UNAVAILABLE, "number: it is in use already", field="number")
    return number_handlers.resource_of(context, row["id"])


def _why_not(context: RequestContext, carrier: str, number: str) -> str | None:
    """Why the organization cannot take a number in from a carrier; None if it can."""
    if carrier == SIP:
        return None if _is_offered(context, number) else _NOT_AT_TRUNK
    if account_of(context.settings.lines, context.settings.public_url) is None:
        return NO_ACCOUNT
    found: AccountNumber | None = context.prepared
    if found is None:
        return _NOT_IN_ACCOUNT
    return None if found.can_call else _NO_VOICE


def _is_offered(context: RequestContext, number: str) -> bool:
    """Whether the trunk has a number, and for this organization."""
    lines = context.settings.lines
    owner = lines.sip_number_owners.get(number)
    if number not in lines.sip_numbers or owner is None:
        return number in lines.sip_numbers
    own = select(organizations.c.id).where(
        organizations.c.id == context.org_id, or_(organizations.c.id == owner, organizations.c.name == owner)
    )
    return context.connection.execute(own).first() is not None
