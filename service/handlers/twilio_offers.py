"""The numbers that the Twilio account of the service can rent, and what a month of each costs by its price list."""

from collections.abc import Sequence

from callwright.contract import phone_numbers as contract
from callwright.contract.problems import NUMBER_NOT_AT_CARRIER, NUMBER_UNAVAILABLE, SERVICE_UNAVAILABLE
from callwright.service.handlers.request_context import RequestContext
from callwright.service.platform.phone import Dialable, read_number
from callwright.service.platform.refusals import Refusal, invalid
from callwright.service.settings import ServiceSettings
from callwright.service.tables import price_lists
from callwright.service.telephony.carriers.twilio import numbers
from callwright.service.telephony.carriers.twilio.account import account_of
from callwright.service.telephony.carriers.twilio.api import TwilioApi, TwilioUnavailable
from callwright.service.telephony.number_inventory import RentableNumber
from callwright.service.telephony.registry import TWILIO

NO_ACCOUNT = (
    "provider: this service has no Twilio account; whoever runs it sets CALLWRIGHT_TWILIO_ACCOUNT_SID, "
    "CALLWRIGHT_TWILIO_AUTH_TOKEN and CALLWRIGHT_PUBLIC_URL"
)
_NO_PRICE = (
    "provider: no price of a month is set for such a number of Twilio, so nothing can be rented there; whoever runs "
    "the service adds number_month to [carriers.twilio] in the file of CALLWRIGHT_SERVICE_PRICES"
)
_NAME_IT = "required at Twilio, where it costs real money; search_available_numbers with provider twilio shows numbers"


async def search(asked: contract.SearchAvailableNumbers, settings: ServiceSettings) -> Sequence[RentableNumber]:
    """What Twilio offers for a search; nothing if it is not asked."""
    api = _api_of(asked.provider, settings)
    if api is None:
        return ()
    kind = asked.number_type or "local"
    try:
        return await numbers.available(api, asked.country, kind, area_code=asked.area_code, contains=asked.contains)
    except TwilioUnavailable as error:
        raise _away(error) from error


async def look_up(asked: contract.RentPhoneNumber, settings: ServiceSettings) -> RentableNumber | None:
    """The number to rent, if Twilio is asked and offers it. One that is rented already is offered no more."""
    api = _api_of(asked.provider, settings)
    if api is None or asked.number is None:
        return None
    read = read_number(asked.number)
    if not isinstance(read, Dialable):
        raise invalid("number", read.message)
    try:
        return await numbers.available_now(api, read.e164, asked.country, asked.number_type)
    except TwilioUnavailable as error:
        raise _away(error) from error


def priced(context: RequestContext, offered: Sequence[RentableNumber]) -> dict[str, int]:
    """Micros a month by number, of those that have a price. Raises Refusal where no account is set, or no price."""
    if account_of(context.settings.lines, context.settings.public_url) is None:
        raise Refusal(NUMBER_NOT_AT_CARRIER, NO_ACCOUNT, field="provider")
    listed = price_lists.current_list(context.connection)
    months = {} if listed is None else {one.number: listed.number_month_of(TWILIO, one.number) for one in offered}
    prices = {number: price for number, price in months.items() if price is not None}
    if listed is None or (offered and not prices):
        raise Refusal(NUMBER_NOT_AT_CARRIER, _NO_PRICE, field="provider")
    return prices


def wanted(asked: contract.RentPhoneNumber, context: RequestContext) -> tuple[RentableNumber, int]:
    """The number to rent, and micros for a month of it. Raises Refusal where it cannot be rented."""
    if asked.number is None:
        raise invalid("number", _NAME_IT)
    offer: RentableNumber | None = context.prepared
    prices = priced(context, [offer] if offer else [])
    if offer is None:
        raise Refusal(NUMBER_UNAVAILABLE, field="number")
    return offer, prices[offer.number]


def _api_of(provider: str, settings: ServiceSettings) -> TwilioApi | None:
    account = account_of(settings.lines, settings.public_url) if provider == TWILIO else None
    return None if account is None else TwilioApi(account)


def _away(error: TwilioUnavailable) -> Refusal:
    return Refusal(SERVICE_UNAVAILABLE, f"{error}; `callwright doctor` looks at the account")
