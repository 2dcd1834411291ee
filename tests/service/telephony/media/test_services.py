"""The services that hear and speak in live calls: others than the ones of the house, and ones that fail."""

from contextlib import suppress

import anyio
import pytest
from websockets.exceptions import ConnectionClosed

from callwright.service.telephony.media.messages import Ended, SpeechService, SpeechServices
from tests.service.telephony.media.calls import TURN_S, Line
from tests.service.telephony.media.sentences import GREETING, YES

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("live-calls")]
NOWHERE = "127.0.0.1:9"


async def test_another_service_speaks_and_its_words_are_known(line: Line) -> None:
    services = SpeechServices(speaking=SpeechService(kind="openai", url=line.service.url, key="k"))
    async with line.call(services=services) as call:
        turn = await call.turn("agent", 1)
        await call.page.send(type="hang_up")
        await call.ended()
    assert (turn.text, turn.interrupted) == (GREETING, False)
    assert line.service.known.recognise(bytes(call.page.sound)) == GREETING


async def test_what_was_said_without_times_of_words_is_estimated(line: Line) -> None:
    services = SpeechServices(speaking=SpeechService(kind="openai", url=line.service.url, key="k"))
    async with line.call(services=services) as call:
        await call.page.heard(0.8)
        await call.page.send(type="text", text=YES)
        turn = await call.turn("agent", 1)
        await call.page.send(type="hang_up")
        await call.ended()
    assert turn.interrupted
    assert GREETING.startswith(turn.text)
    assert 0 < len(turn.text) < len(GREETING)


async def test_a_hearing_service_that_fails_is_a_warning(line: Line) -> None:
    line.service.hearing_status = 400
    async with line.call(welcome="") as call:
        await call.say(YES)
        await call.page.send(type="text", text=YES)
        await call.page.heard(0.5)
        await call.page.send(type="hang_up")
        ended = await call.ended()
    assert ended.warnings == ("The hearing service failed.",)
    assert ended.cause == "contact_hangup"


@pytest.mark.parametrize(
    ("kind", "url"),
    [("elevenlabs", f"ws://{NOWHERE}"), ("cartesia", f"ws://{NOWHERE}"), ("openai", f"http://{NOWHERE}/v1")],
)
async def test_a_speaking_service_that_fails_is_a_warning_and_the_call_can_be_ended(
    line: Line, kind: str, url: str
) -> None:
    services = SpeechServices(speaking=SpeechService(kind=kind, url=url, key="k", voice="v"))
    order = line.order(services=services)
    await line.begin(order)
    async with line.joined(order) as call:
        with suppress(ConnectionClosed):  # a call whose agent cannot speak ends by itself
            await call.page.send(type="text", text=YES)
        await call.hang_up()
        ended = await call.ended()
    assert ended.cause in ("normal_clearing", "platform_error")
    assert call.page.sound == b""


@pytest.mark.parametrize("status", [302, 307])
@pytest.mark.parametrize("kind", ["openai", "elevenlabs", "cartesia"])
async def test_a_speaking_service_that_redirects_is_not_followed_and_the_call_can_be_ended(
    line: Line, kind: str, status: int
) -> None:
    moved = line.service.url.replace("/v1", f"/moved/{status}/v1")
    url = moved if kind == "openai" else moved.replace("http", "ws", 1)
    voice = "alloy" if kind == "openai" else "v"
    order = line.order(services=SpeechServices(speaking=SpeechService(kind=kind, url=url, key="k", voice=voice)))
    await line.begin(order)
    async with line.joined(order) as call:
        with anyio.fail_after(TURN_S):
            await line.service.redirected.wait()
        await call.hang_up()
        ended = await call.ended()
    assert ended.cause in ("normal_clearing", "platform_error")
    assert line.service.followed == []
    assert call.page.sound == b""


@pytest.mark.parametrize("status", [302, 307])
@pytest.mark.parametrize("role", ["hearing", "thinking"])
async def test_a_service_that_hears_or_thinks_and_redirects_is_not_followed_and_the_call_goes_on(
    line: Line, role: str, status: int
) -> None:
    moved = SpeechService(kind="openai", url=line.service.url.replace("/v1", f"/moved/{status}/v1"))
    async with line.call(services=SpeechServices.model_validate({role: moved})) as call:
        await call.turn("agent", 1)
        if role == "hearing":
            await call.say(YES)
        else:
            await call.page.send(type="text", text=YES)
        with anyio.fail_after(TURN_S):
            await line.service.redirected.wait()
        if role == "hearing":
            await call.page.send(type="text", text=YES)
        await call.turn("agent", 2)
        await call.page.send(type="hang_up")
        ended = await call.ended()
    assert ended.cause == "contact_hangup"
    assert line.service.followed == []
    assert ended.warnings


@pytest.mark.parametrize(
    ("services", "warning"),
    [
        ({"hearing": {"kind": "ear"}}, "There is no hearing service 'ear'"),
        ({"thinking": {"kind": "brain"}}, "There is no thinking service 'brain'"),
    ],
)
async def test_a_service_that_there_is_not_is_named(line: Line, services: dict[str, object], warning: str) -> None:
    order = line.order(services=SpeechServices.model_validate(services))
    await line.media.send(order)
    ended: Ended = await line.media.ended(order.request.call_id)
    assert ended.cause == "platform_error"
    assert warning in ended.warnings[0]
