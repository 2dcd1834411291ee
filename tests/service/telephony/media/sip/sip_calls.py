"""Calls of a media process over SIP, to telephones of tests."""

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from callwright.service.telephony.carriers.sip_trunk import SipTrunk, options_of
from callwright.service.telephony.media.messages import Dial, Reached
from tests.service.telephony.media.calls import FollowedCall, Line
from tests.service.telephony.media.sip.telephone import Telephone, telephone


@dataclass
class SipCall(FollowedCall):
    """A call that was placed."""

    def stages(self) -> list[str]:
        """What it has reached, in order."""
        return [each.stage for each in self._reached()]

    def _reached(self) -> list[Reached]:
        return [each for each in self.media.reports.all if isinstance(each, Reached) and each.call_id == self.call_id]

    async def reached(self, stage: str) -> Reached:
        return await self.media.reports.wait_for(
            Reached, lambda each: each.call_id == self.call_id and each.stage == stage, within_s=40
        )


@dataclass
class Answered(SipCall):
    """A call that a telephone has."""

    phone: Telephone

    async def say(self, text: str) -> None:
        await self.phone.say(self.sounds[text])


async def placed(line: Line, trunk: SipTrunk, *, before_s: float = 30.0, **options: Any) -> SipCall:
    """Places a call over a trunk, not later than `before_s` from now."""
    order = line.order(transport="sip", carrier_options=options_of(trunk), **options)
    call_id = order.request.call_id
    await line.begin(order)
    await line.media.send(Dial(call_id=call_id, before_s=time.monotonic() + before_s))
    return SipCall(call_id, line.media, line.sounds)


@asynccontextmanager
async def answered(line: Line, *, phone: dict[str, Any] | None = None, **options: Any) -> AsyncGenerator[Answered]:
    """A call to a telephone that answers."""
    async with telephone(**(phone or {})) as other:
        call = await placed(line, other.trunk, **options)
        await call.reached("answered")
        yield Answered(call.call_id, call.media, call.sounds, other)
