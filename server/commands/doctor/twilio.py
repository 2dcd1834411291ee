"""The checks of `callwright doctor` on the Twilio account: whether it is known, what it can call from, and whether its
websockets reach this service. Nothing rings."""

from callwright.client.transport import AsyncBaseTransport, httpx
from callwright.contract.checks.counts import count_of
from callwright.server.commands.doctor.checkup import CheckResult
from callwright.server.embedded.lines import line_settings
from callwright.server.setting import BadSetting
from callwright.server.settings import ProgramSettings
from callwright.service.telephony.carriers.twilio.account import API_BASE, MEDIA_PATH

_LIMIT_S = 10.0
_WHAT = "Twilio"
_CREDENTIALS = "Copy CALLWRIGHT_TWILIO_ACCOUNT_SID and CALLWRIGHT_TWILIO_AUTH_TOKEN from the console once more."
_UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
}
_REFUSED = 403
"""How this service answers a websocket of no call. Where an upgrade gets lost on the way, it is another status."""


async def twilio_checks(settings: ProgramSettings, transport: AsyncBaseTransport | None) -> list[CheckResult]:
    """What stands in the way of calls through Twilio; nothing if there is no account."""
    if settings.lines.twilio_account_sid is None:
        return []
    try:
        line_settings(settings)
    except BadSetting as error:
        return [CheckResult("bad", _WHAT, str(error), help="docs/twilio.md has the settings.")]
    return [await _account(settings, transport), await _websockets(settings, transport)]


async def _account(settings: ProgramSettings, transport: AsyncBaseTransport | None) -> CheckResult:
    sid, token = settings.lines.twilio_account_sid or "", settings.lines.twilio_auth_token or ""
    address = f"{settings.lines.twilio_api_base or API_BASE}/2010-04-01/Accounts/{sid}"
    try:
        async with httpx.AsyncClient(
            transport=transport, timeout=_LIMIT_S, trust_env=False, auth=(sid, token)
        ) as client:
            account = await client.get(f"{address}.json")
            if account.status_code in (401, 403, 404):
                said = f"Twilio does not know the account with this token (status {account.status_code})"
                return CheckResult("bad", _WHAT, said, help=_CREDENTIALS)
            account.raise_for_status()
            numbers = await client.get(f"{address}/IncomingPhoneNumbers.json", params={"PageSize": "100"})
            numbers.raise_for_status()
            shown = account.json()
            able = [one for one in numbers.json()["incoming_phone_numbers"] if one["capabilities"]["voice"]]
            status, kind = str(shown["status"]), str(shown.get("type", ""))
    except (httpx.HTTPError, ValueError, KeyError, TypeError) as error:
        return CheckResult("bad", _WHAT, f"Twilio does not answer as documented: {type(error).__name__}")
    if status != "active":
        return CheckResult("bad", _WHAT, f"The account is {status[:20]}", help="Twilio's console says why.")
    said = f"the account is active, with {count_of(len(able), 'number')} to call from"
    if not able:
        return CheckResult("bad", _WHAT, said, help="Buy a number with the capability Voice in Twilio's console.")
    if kind == "Trial":
        help_ = "A trial account calls only numbers that are verified there, and says a sentence of its own first."
        return CheckResult("note", _WHAT, f"{said}; it is a trial account", help=help_)
    return CheckResult("good", _WHAT, said)


async def _websockets(settings: ProgramSettings, transport: AsyncBaseTransport | None) -> CheckResult:
    """Whether a websocket to the sound of calls reaches this service."""
    what, address = "Sound from Twilio", settings.lines.lines_url or settings.public_url or ""
    help_ = "Start the service, and let the address lead to it for websockets too; docs/twilio.md says how."
    try:
        async with httpx.AsyncClient(transport=transport, timeout=_LIMIT_S, trust_env=False) as client:
            answer = await client.get(f"{address}{MEDIA_PATH}doctor/doctor", headers=_UPGRADE)
    except httpx.HTTPError as error:
        return CheckResult("bad", what, f"{address} does not answer: {type(error).__name__}", help=help_)
    if answer.status_code != _REFUSED:
        said = f"websockets do not get through to {address} (status {answer.status_code})"
        return CheckResult("bad", what, said, help=help_)
    return CheckResult("good", what, f"websockets get through to {address}")
