"""The checks of `callwright doctor` on real calls: what is installed, the SIP trunk, what hears and speaks, the price
list and the public address.
"""

from anyio import to_thread

from callwright.client.transport import AsyncBaseTransport, httpx
from callwright.contract.checks.counts import count_of
from callwright.server.commands.doctor.callers import caller_check
from callwright.server.commands.doctor.checkup import CheckResult
from callwright.server.commands.doctor.prices import stored_otherwise
from callwright.server.commands.doctor.speech import speech_checks
from callwright.server.commands.doctor.trunk import reach
from callwright.server.commands.doctor.twilio import twilio_checks
from callwright.server.embedded.lines import line_settings
from callwright.server.setting import BadSetting
from callwright.server.settings import ProgramSettings
from callwright.service.rules.prices.installation_prices import THE_CARRIER, InstallationPrices, prices_in
from callwright.service.rules.prices.price_list import BadPriceList
from callwright.service.telephony.carriers.sip_trunk import trunk_of_settings
from callwright.service.telephony.lines.availability import why_no_lines
from callwright.service.telephony.registry import SIP, TWILIO

_LIMIT_S = 10.0


async def line_checks(settings: ProgramSettings, *, transport: AsyncBaseTransport | None = None) -> list[CheckResult]:
    """What stands in the way of real calls. `transport` reaches the public address and the services of
    speech; the network if it is left out."""
    found: list[CheckResult] = []
    if (why := why_no_lines(settings.lines.count)) is not None:
        found.append(CheckResult("note", "Lines", f"This machine carries no calls: {why}."))
    else:
        found.append(CheckResult("good", "Lines", f"{count_of(settings.lines.count, 'call')} at once"))
    found += await _trunk(settings)
    found += await twilio_checks(settings, transport)
    found += await speech_checks(settings.speech, transport=transport)
    found.append(await to_thread.run_sync(_prices, settings))
    if settings.public_url is not None:
        found.append(await _public_address(settings.public_url, transport))
    return found


async def _trunk(settings: ProgramSettings) -> list[CheckResult]:
    try:
        trunk = trunk_of_settings(line_settings(settings))
    except BadSetting as error:
        return [CheckResult("bad", "SIP trunk", str(error), help="docs/real-calls.md has the settings.")]
    if trunk is None:
        if settings.lines.twilio_account_sid is not None:
            return []
        return [CheckResult("note", "SIP trunk", "None: no telephone rings. docs/real-calls.md sets one up.")]
    numbers = count_of(len(settings.lines.sip_numbers), "number")
    reached = await reach(trunk)
    said = f"{trunk.address} over {trunk.transport.upper()}, with {numbers} to call from: {reached.said}"
    if reached.state != "bad" and not settings.lines.sip_numbers:
        help_ = "No real call can be made: list the numbers that you own there in CALLWRIGHT_SIP_NUMBERS."
        return [CheckResult("bad", "SIP trunk", said, help=help_)]
    callers = caller_check(trunk)
    return [CheckResult(reached.state, "SIP trunk", said, help=reached.help), *([callers] if callers else [])]


def _prices(settings: ProgramSettings) -> CheckResult:
    """What the price list of the settings says and leaves out, and whether another of its version is stored."""
    what = "Prices"
    if settings.prices_file is None:
        said = "No price list is set: what carriers and speech services charge is not counted. docs/costs.md has one."
        return CheckResult("note", what, said)
    try:
        prices = prices_in(settings.prices_file)
    except BadPriceList as error:
        return CheckResult("bad", what, str(error), help="docs/costs.md describes the file.")
    if stored_otherwise(settings, prices):
        said = f"version {prices.version} is stored with other contents, so that `callwright serve` does not start"
        return CheckResult("bad", what, said, help="Give this list a newer version.")
    priced = ", ".join([*prices.carriers, *prices.services]) or "nothing but the platform"
    said = f"version {prices.version}, with prices for {priced}"
    missing = _uncounted(settings, prices)
    if not missing:
        return CheckResult("good", what, said)
    return CheckResult("note", what, said, help=f"Not counted is what these charge: {', '.join(missing)}.")


def _uncounted(settings: ProgramSettings, prices: InstallationPrices) -> list[str]:
    """Who charges for calls of the carriers that are set up, and has no price in the list; a carrier with its table."""
    lines = settings.lines
    is_set = {SIP: lines.sip_trunk is not None, TWILIO: lines.twilio_account_sid is not None}
    carriers = [carrier for carrier, there in is_set.items() if there]
    named = [f"the carrier ([carriers.{carrier}])" for carrier in carriers if carrier not in prices.carriers]
    services = [who for carrier in carriers[:1] for who in prices.uncounted(carrier) if who != THE_CARRIER]
    return [*named, *services]


async def _public_address(public_url: str, transport: AsyncBaseTransport | None) -> CheckResult:
    """Whether the service answers at the address that links and carriers are given."""
    what = "Public address"
    try:
        async with httpx.AsyncClient(transport=transport, timeout=_LIMIT_S, trust_env=False) as client:
            answer = await client.get(f"{public_url}/healthz")
    except httpx.HTTPError as error:
        help_ = "Start the service, and let the address lead to it; CALLWRIGHT_PUBLIC_URL has it."
        return CheckResult("bad", what, f"{public_url} does not answer: {type(error).__name__}", help=help_)
    try:
        status = answer.json().get("status")
    except (ValueError, AttributeError):
        status = None
    if status not in ("ok", "unavailable"):
        said = f"{public_url} answers with status {answer.status_code}, but it is not this service"
        return CheckResult("bad", what, said, help="Let the address lead to the port of `callwright serve`.")
    return CheckResult("good", what, f"{public_url} leads to a Callwright service")
