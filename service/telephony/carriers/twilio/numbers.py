"""The telephone numbers of a Twilio account, and those that it can rent."""

from typing import Annotated

import phonenumbers
from pydantic import BaseModel, BeforeValidator, ValidationError

from callwright.service.telephony.carriers.twilio.api import Sid, TwilioApi, TwilioUnavailable
from callwright.service.telephony.number_inventory import MAX_PER_SEARCH, RentableNumber

_TYPES = {"local": "Local", "mobile": "Mobile", "toll_free": "TollFree", "national": "National"}
_WITH_AREA_CODES = ("US", "CA")
"""Countries whose numbers Twilio finds by area code."""
_NONE_THERE = (404,)
"""The status for a country that has no numbers of a type, and for a number that is not there any more."""


class _Capabilities(BaseModel):
    voice: bool = False


class AccountNumber(BaseModel):
    """A number of the account. `friendly_name` is what it was called when it was rented."""

    sid: Sid
    phone_number: str
    friendly_name: Annotated[str, BeforeValidator(lambda value: value or "")] = ""  # pyright: ignore[reportUnknownLambdaType]  # null
    capabilities: _Capabilities = _Capabilities()

    @property
    def can_call(self) -> bool:
        """Whether calls can be made from it."""
        return self.capabilities.voice


class _Numbers(BaseModel):
    incoming_phone_numbers: list[AccountNumber]


class _Available(BaseModel):
    phone_number: str
    locality: str | None = None


class _AvailableNumbers(BaseModel):
    available_phone_numbers: list[_Available]


async def number_of(api: TwilioApi, number: str) -> AccountNumber | None:
    """The number in E.164, if the account has it. Raises TwilioUnavailable."""
    answer = await api.ask("GET", "IncomingPhoneNumbers", params={"PhoneNumber": number})
    try:
        found = _Numbers.model_validate_json(answer.content).incoming_phone_numbers
    except ValidationError:
        raise TwilioUnavailable("Twilio's list of numbers is not as documented") from None
    return next((each for each in found if each.phone_number == number), None)


async def available(
    api: TwilioApi, country: str, number_type: str, *, area_code: str | None = None, contains: str | None = None
) -> list[RentableNumber]:
    """Up to 200 numbers that can make calls and that the account can rent now, in ascending order. Another search may
    find others.

    Raises TwilioUnavailable.
    """
    asked = {"VoiceEnabled": "true", "PageSize": str(MAX_PER_SEARCH)}
    if area_code and country in _WITH_AREA_CODES:
        asked["AreaCode"] = area_code
    if contains:
        asked["Contains"] = contains
    resource = f"AvailablePhoneNumbers/{country}/{_TYPES[number_type]}"
    answer = await api.ask("GET", resource, params=asked, fine=_NONE_THERE)
    if answer.status_code in _NONE_THERE:
        return []
    try:
        offered = _AvailableNumbers.model_validate_json(answer.content).available_phone_numbers
    except ValidationError:
        raise TwilioUnavailable("Twilio's list of available numbers is not as documented") from None
    found = [
        RentableNumber(each.phone_number, country, number_type, (each.locality or "")[:200] or None)
        for each in offered
        if (national := _national(each.phone_number)) is not None and national.startswith(area_code or "")
    ]
    return sorted(found, key=lambda entry: entry.number)[:MAX_PER_SEARCH]


async def available_now(api: TwilioApi, number: str, country: str, number_type: str) -> RentableNumber | None:
    """The number in E.164, if the account can rent it now. Raises TwilioUnavailable."""
    found = await available(api, country, number_type, contains=_national(number))
    return next((entry for entry in found if entry.number == number), None)


async def rent(api: TwilioApi, number: str, name: str) -> AccountNumber:
    """Rents a number under a name, whose callers are told of here. This costs money at Twilio, every month until it is
    released.

    A number is rented once: Twilio refuses who asks for one that is taken.

    Raises:
        TwilioRefused: it was not rented by this request.
        TwilioUnavailable: it may have been rented; `number_of` tells.
    """
    form = {"PhoneNumber": number, "FriendlyName": name}
    form |= {"VoiceUrl": api.account.incoming_url, "VoiceMethod": "POST"}
    answer = await api.ask("POST", "IncomingPhoneNumbers", data=form)
    try:
        return AccountNumber.model_validate_json(answer.content)
    except ValidationError:
        raise TwilioUnavailable("Twilio's answer shows no number") from None


async def release(api: TwilioApi, sid: str) -> None:
    """Gives a number of the account back, so that it costs nothing any more. Raises TwilioUnavailable."""
    await api.ask("DELETE", f"IncomingPhoneNumbers/{sid}", fine=_NONE_THERE)


def _national(number: str) -> str | None:
    """The digits of a number in E.164 without the country's; None for what is no number."""
    try:
        return phonenumbers.national_significant_number(phonenumbers.parse(number))
    except phonenumbers.NumberParseException:
        return None
