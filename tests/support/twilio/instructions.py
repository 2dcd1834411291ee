"""What the imitation of Twilio does with a call, as its markup says: verbs one after the other, from any document."""

import re
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import anyio
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from tests.support.twilio.account import SID, signature
from tests.support.twilio.telephone import Telephone

if TYPE_CHECKING:
    from tests.support.twilio.imitation import PlacedCall, Twilio

_LANGUAGE = re.compile(r"[a-z]{2,3}-[A-Z]{2}")
_HANG_UP = "<Response><Hangup/></Response>"


@dataclass
class Room:
    """A conference. `numbers` are of all who were in it, in order."""

    numbers: list[str] = field(default_factory=list[str])
    is_full: anyio.Event = field(default_factory=anyio.Event)
    is_over: anyio.Event = field(default_factory=anyio.Event)


async def perform(twilio: "Twilio", call: "PlacedCall", telephone: Telephone, document: str) -> None:
    """Does what a document says, and the documents that it leads to, until the call is over."""
    verbs = list(ElementTree.fromstring(document))
    while verbs:
        new = await _interrupted(twilio, call, telephone, verbs.pop(0))
        if telephone.hangs_up.is_set():
            return
        if call.moved.is_set():
            new, call.moved = call.new_twiml, anyio.Event()
        if new is not None:
            verbs = list(ElementTree.fromstring(new))


async def _interrupted(twilio: "Twilio", call: "PlacedCall", telephone: Telephone, verb: Element) -> str | None:
    """Does one thing until it is done, or the call is over or told to do something else. Returns a new document."""
    new: str | None = None
    is_stream = verb.tag == "Connect"  # it ends by itself, and says so first
    async with anyio.create_task_group() as tasks:

        async def until_gone() -> None:
            await call.hung_up.wait()
            telephone.hang_up()

        async def until_ended() -> None:
            await telephone.hangs_up.wait()
            if not is_stream:
                tasks.cancel_scope.cancel()

        async def until_moved() -> None:
            await call.moved.wait()
            if is_stream:
                await telephone.stop_stream()
            else:
                tasks.cancel_scope.cancel()

        for each in (until_gone, until_ended, until_moved):
            tasks.start_soon(each)
        new = await _do(twilio, call, telephone, verb)
        tasks.cancel_scope.cancel()
    return new


async def _do(twilio: "Twilio", call: "PlacedCall", telephone: Telephone, verb: Element) -> str | None:
    match verb.tag:
        case "Say":
            await _say(telephone, verb)
        case "Redirect":
            return await _ask(twilio, call, verb.text or "", {})
        case "Gather":
            return await _gather(twilio, call, telephone, verb)
        case "Connect":
            await _stream(call, telephone, verb[0].attrib["url"])
        case "Dial" if verb[0].tag == "Conference":
            await _meet(twilio, call, verb[0])
        case "Dial":
            return await _dial(twilio, call, verb)
        case _:
            assert verb.tag == "Hangup", verb.tag
            telephone.hang_up()
    return None


async def _say(telephone: Telephone, verb: Element) -> None:
    assert _LANGUAGE.fullmatch(verb.attrib["language"]), "Twilio needs the language with its country"
    await anyio.sleep(telephone.told_s)
    telephone.was_told.append(verb.text or "")


async def _ask(twilio: "Twilio", call: "PlacedCall", url: str, more: dict[str, str]) -> str:
    answer = await twilio.post(url, twilio.form(call, "in-progress") | more)
    call.twiml.append(answer.text)
    return answer.text if answer.status_code == 200 else _HANG_UP


async def _gather(twilio: "Twilio", call: "PlacedCall", telephone: Telephone, verb: Element) -> str | None:
    assert (verb.attrib["numDigits"], verb.attrib["finishOnKey"]) == ("1", "")
    await _say(telephone, verb[0])
    key = telephone.keys.pop(0) if telephone.keys else ""
    return await _ask(twilio, call, verb.attrib["action"], {"Digits": key}) if key else None


async def _stream(call: "PlacedCall", telephone: Telephone, url: str) -> None:
    if not telephone.opens_media:
        with anyio.move_on_after(5):
            await call.hung_up.wait()
        return
    ids = {"accountSid": SID, "streamSid": f"MZ{secrets.token_hex(16)}", "callSid": call.sid}
    headers = {"X-Twilio-Signature": signature(url, {})}
    try:
        async with connect(url, additional_headers=headers, proxy=None, compression=None) as connection:
            await telephone.talk(connection, ids)
    except (OSError, WebSocketException):
        return  # Twilio goes on to the next verb


async def _meet(twilio: "Twilio", call: "PlacedCall", conference: Element) -> None:
    room = twilio.rooms.setdefault(conference.text or "", Room())
    assert conference.attrib["endConferenceOnExit"] == "true"
    room.numbers.append(call["To"])
    if len(room.numbers) == 2:
        room.is_full.set()
    try:
        await room.is_over.wait()
    finally:
        room.is_over.set()


async def _dial(twilio: "Twilio", call: "PlacedCall", verb: Element) -> str:
    number = verb[0]
    assert verb.attrib["callerId"] in twilio.numbers
    form: dict[str, Any] = {
        "To": [number.text],
        "From": [verb.attrib["callerId"]],
        "Timeout": [verb.attrib["timeout"]],
        "StatusCallback": [number.attrib["statusCallback"]],
        "ParentCallSid": [call.sid],
    }
    child, is_over = twilio.add(form), anyio.Event()

    async def make() -> None:
        await twilio.make(child)
        is_over.set()

    assert twilio.tasks is not None
    twilio.tasks.start_soon(make)
    try:
        await is_over.wait()
    finally:
        child.hung_up.set()
    more = {"DialCallStatus": child.status, "DialCallSid": child.sid, "DialCallDuration": "1"}
    return await _ask(twilio, call, verb.attrib["action"], more)
