"""Transfers by the carrier of the host: this process asks, and is told what comes of it."""

from collections.abc import Callable

import anyio

from callwright.service.telephony.media.messages import TransferAsked, TransferUpdate
from callwright.service.telephony.media.transfers.means import NotTransferred, Wanted

_MOST_UPDATES = 20
_ANSWERS_WITHIN_S = 60.0
"""Seconds beyond the ringing in which the person hears the summary and takes the call."""
_WORD_WITHIN_S, _LOOK_S = 1.0, 0.05


class HostTransfers:
    """The transfers of one call. `report` takes what is asked of the host."""

    calls_persons = False

    def __init__(self, call_id: str, report: Callable[[TransferAsked], None]) -> None:
        self._call_id, self._report = call_id, report
        self._is_asked = False
        self.is_away = False
        """Whether the carrier takes the contact away from here: the end of its sound does not end the call."""
        self._told, self._updates = anyio.create_memory_object_stream[TransferUpdate](_MOST_UPDATES)

    def update(self, order: TransferUpdate) -> None:
        """The host tells what has come of it. What nobody waits for is dropped."""
        if self._is_asked:
            self.is_away = order.is_away
        if self._is_asked and self._told.statistics().current_buffer_used < _MOST_UPDATES:
            self._told.send_nowait(order)

    async def transfer(self, wanted: Wanted, answered: Callable[[], None]) -> None:
        """Has the host transfer the call.

        Raises:
            NotTransferred: it could not, or does not say what came of it.
        """
        while self._updates.statistics().current_buffer_used:  # of a transfer before
            self._updates.receive_nowait()
        asked = TransferAsked(
            call_id=self._call_id,
            kind=wanted.kind,
            to=wanted.to,
            summary=wanted.summary,
            language=wanted.language,
            ring_timeout_s=wanted.ring_timeout_s,
            confirm_key=wanted.confirm_key,
            sorry=wanted.sorry,
        )
        self._report(asked)
        self._is_asked, self.is_away = True, False
        try:
            await self._settled(wanted, answered)
        finally:
            self._is_asked = False  # a contact who is away stays away: the sound may end after the last word

    async def _settled(self, wanted: Wanted, answered: Callable[[], None]) -> None:
        with anyio.move_on_after(wanted.ring_timeout_s + _ANSWERS_WITHIN_S):
            while True:
                try:
                    update = await self._updates.receive()
                except (anyio.ClosedResourceError, anyio.EndOfStream):  # the call is over
                    raise NotTransferred("hung_up") from None
                if update.stage == "bridged":
                    return
                if update.stage == "failed":
                    raise NotTransferred(update.cause or "carrier_error", is_away=update.is_away)
                if update.stage == "answered":
                    answered()
        raise NotTransferred("carrier_error", is_away=self.is_away)

    async def takes_away(self) -> bool:
        """Whether the sound has ended because the carrier takes the contact away. The host's word of that may come a
        little after it."""
        with anyio.move_on_after(_WORD_WITHIN_S):
            while self._is_asked and not self.is_away:  # noqa: ASYNC110 - it may also be over
                await anyio.sleep(_LOOK_S)
        return self.is_away

    async def close(self) -> None:
        """Nothing is left: the host ends the person's call with this one."""
        self._told.close()
        self._updates.close()
