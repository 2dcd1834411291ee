"""A hundred people with telephones: what each of them does when it rings."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from callwright.service.telephony.carriers.opening import Opening
from callwright.service.telephony.carriers.websocket import WebsocketCarrier
from callwright.service.telephony.engine import CallResult
from callwright.service.telephony.legs.carrier import HangUpAsked, LegRequest, ToldStage
from tests.service.telephony.media.caller import Caller, caller
from tests.service.telephony.media.conftest import Sounds
from tests.service.telephony.media.sentences import MACHINE, STOP, YES, beep
from tests.support.campaigns import phone

KINDS = {"opts_out": 4, "listed": 3, "answers_later": 8, "machine": 5, "speaks": 12, "types": 64}
"""How many people there are of each kind. Who opts out has a second row too, so that there are a hundred rows."""
APART = 22
"""Rows from one person who opts out to the next: more than a tenth of the answered calls would pause the campaign."""


def numbers() -> dict[str, list[str]]:
    """The numbers of the people of each kind, in the order of their rows."""
    order = [kind for kind, count in KINDS.items() if kind != "opts_out" for _ in range(count)]
    for at in range(KINDS["opts_out"]):
        order.insert(APART // 2 + at * APART, "opts_out")
    return {kind: [phone(index) for index, of in enumerate(order) if of == kind] for kind in KINDS}


@dataclass
class Crowd:
    """The people: what each of them does when the telephone rings."""

    kinds: Mapping[str, str]
    """The kind of each number; others type."""
    sounds: Sounds

    async def rings(self, opening: Opening) -> None:
        """One telephone rings, and is answered or not. Whoever types sends silence, as a page does."""
        kind = self.kinds.get(opening.call.to, "types")
        if kind == "answers_later" and opening.call.attempt == 1:
            return
        types = kind in ("types", "answers_later")
        async with caller(opening.port, opening.token) as page:
            match kind:
                case "machine":
                    await page.say(self.sounds.contact[MACHINE] + bytes(6_400) + beep())
                case "opts_out":
                    await _captions(page, 1)
                    await page.say(self.sounds.contact[STOP])
                case _:
                    for heard in (1, 3):  # the greeting, one's own words, the question
                        await _captions(page, heard)
                        if types:
                            await page.send(type="text", text=YES)
                        else:
                            await page.say(self.sounds.contact[YES])
            await page.closed(90)


async def _captions(page: Caller, count: int) -> None:
    await page.wait_for(lambda message: message["type"] == "caption" and len(page.of("caption")) >= count, 90)


class CountedLines(WebsocketCarrier):
    """Loopback lines of which it is known whom they called, and how many at once."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.placed: list[str] = []
        """The number of each call."""
        self.now = self.most = 0

    async def place(self, leg: LegRequest) -> str | None:
        self.placed.append(leg.call.to)
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            return await super().place(leg)
        except BaseException:
            self.now -= 1
            raise

    async def ended(
        self, leg: LegRequest, provider_call_id: str | None, told: ToldStage, hang_up: HangUpAsked
    ) -> CallResult:
        try:
            return await super().ended(leg, provider_call_id, told, hang_up)
        finally:
            self.now -= 1
