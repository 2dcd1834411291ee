"""The telephone numbers of a Twilio account."""

from pydantic import BaseModel, ValidationError

from callwright.service.telephony.carriers.twilio.api import TwilioApi, TwilioUnavailable


class _Capabilities(BaseModel):
    voice: bool = False


class AccountNumber(BaseModel):
    """A number of the account."""

    sid: str
    phone_number: str
    capabilities: _Capabilities = _Capabilities()

    @property
    def can_call(self) -> bool:
        """Whether calls can be made from it."""
        return self.capabilities.voice


class _Numbers(BaseModel):
    incoming_phone_numbers: list[AccountNumber]


async def number_of(api: TwilioApi, number: str) -> AccountNumber | None:
    """The number in E.164, if the account has it. Raises TwilioUnavailable."""
    answer = await api.ask("GET", "IncomingPhoneNumbers", params={"PhoneNumber": number})
    try:
        found = _Numbers.model_validate_json(answer.content).incoming_phone_numbers
    except ValidationError:
        raise TwilioUnavailable("Twilio's list of numbers is not as documented") from None
    return next((each for each in found if each.phone_number == number), None)
