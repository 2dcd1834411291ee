"""The checks of `callwright doctor` on what hears, thinks and speaks: whether it answers, without anything that it
charges for.
"""

from callwright.client.transport import AsyncBaseTransport, httpx
from callwright.server.commands.doctor.checkup import CheckResult
from callwright.server.speech_settings import SpeechServiceSetting, SpeechSetting
from callwright.service.telephony.chosen_services import NOTHING_HEARS

LIMIT_S = 5.0


async def speech_checks(speech: SpeechSetting, *, transport: AsyncBaseTransport | None = None) -> list[CheckResult]:
    """What is known of the installation's services before the first call."""
    found = [CheckResult("note", "Hearing", f"Without a provider of their own, {NOTHING_HEARS}.")]
    if speech.hearing is not None:
        found = [await _answers("Hearing", "STT", speech.hearing, transport)]
    if speech.thinking is not None:
        found.append(await _answers("Thinking", "LLM", speech.thinking, transport))
    if speech.speaking is not None:
        found.append(await _answers("Speaking", "TTS", speech.speaking, transport))
    return found


async def _answers(
    what: str, role: str, service: SpeechServiceSetting, transport: AsyncBaseTransport | None
) -> CheckResult:
    """Asks a service with OpenAI's interface for its models, which costs nothing and shows whether it takes the key."""
    if service.url is None:
        said = f"{service.kind}, not tried"
        return CheckResult("note", what, said, help="Whether its key is right shows at the first talk or call.")
    headers = {} if service.key is None else {"Authorization": f"Bearer {service.key}"}
    try:
        async with httpx.AsyncClient(transport=transport, timeout=LIMIT_S, trust_env=False) as client:
            status = (await client.get(f"{service.url}/models", headers=headers)).status_code
    except httpx.HTTPError as error:
        said = f"{service.url} does not answer: {type(error).__name__}"
        return CheckResult("bad", what, said, help=f"Start it, or correct CALLWRIGHT_{role}_URL.")
    if status in (401, 403):
        said = f"{service.url} refuses the key with status {status}"
        return CheckResult("bad", what, said, help=f"Set CALLWRIGHT_{role}_KEY.")
    if 200 <= status < 300:
        return CheckResult("good", what, f"{service.url} lists its models; no sound was sent")
    said = f"{service.url} answers, with status {status} to a question for its models"
    return CheckResult(
        "note", what, said, help="Some have no list of models: a talk in the browser shows whether it works."
    )
