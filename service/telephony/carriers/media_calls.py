"""What carriers share whose calls are carried by media processes: following a call to its end, and leaving it."""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import anyio

from callwright.contract.transfers import TransferCause, TransferStatus
from callwright.service.rules.prices.transfer_prices import TransferLeg
from callwright.service.telephony.chosen_services import ProviderUnusable
from callwright.service.telephony.engine import CallRequest, CallResult
from callwright.service.telephony.legs.carrier import HangUpAsked, LegRequest, NotSent, QueuePlace, ToldStage
from callwright.service.telephony.legs.leg_results import lost
from callwright.service.telephony.lines.conversation_results import Conversation
from callwright.service.telephony.lines.media_processes import MediaCall
from callwright.service.telephony.media.messages import (
    Ended,
    HangUp,
    PersonOnLine,
    QueueMoved,
    Reached,
    Report,
    Said,
    SpeechServices,
    ToolAsks,
    ToolKept,
    TransferAsked,
    Transferring,
    TransferUpdate,
)

ServicesOf = Callable[[CallRequest], Awaitable[SpeechServices]]
"""The services that hear, think and speak in a call, as they are set when it is placed. Raises ProviderUnusable."""


class ToldUpdate(Protocol):
    """Is told what has come of a transfer."""

    async def __call__(
        self, stage: TransferStatus, cause: TransferCause | None = None, *, is_away: bool = False
    ) -> None:
        """`cause` is why it failed. `is_away`: the contact is taken away from its media process, or was, so that the
        end of its sound there does not end the call."""
        ...


Transfers = Callable[[TransferAsked, ToldUpdate], Awaitable[None]]
"""Transfers a call to a person at its carrier, and tells what comes of it, up to `bridged` or `failed`. It is cancelled
when the call ends before: then the person is called no more, and left in no call alone."""
log = logging.getLogger(__name__)
_STOPPED = "The call ended because the process that carried it was stopped."
HANG_UP_S = 2.0
"""Seconds that telling a media process to end a call may take."""


def always(services: SpeechServices) -> ServicesOf:
    """The same services in every call."""

    async def chosen(_: CallRequest) -> SpeechServices:
        return services

    return chosen


async def services_for(call: CallRequest, services_of: ServicesOf) -> SpeechServices:
    """The services of a call that is about to be placed. Raises NotSent if they cannot be used."""
    try:
        return await services_of(call)
    except ProviderUnusable as error:
        raise NotSent(str(error)) from error


async def followed(
    call: MediaCall,
    leg: LegRequest,
    told: ToldStage,
    hang_up: HangUpAsked,
    *,
    recording: str | None,
    heard: Iterable[Report] = (),
    meanwhile: Callable[[], Coroutine[Any, Any, None]] | None = None,
    transfer: Transfers | None = None,
    persons: Callable[[], Sequence[TransferLeg]] | None = None,
) -> CallResult:
    """Follows a call until its end, and hangs it up when that is asked.

    `recording` is where its sound is written; `heard` are reports that were taken before; `meanwhile` runs beside the
    call, and ends with it; `transfer` transfers the call where the host's carrier does that, and `persons` are the
    calls to persons that it has made by now.
    """
    call_id = leg.call.call_id
    conversation = Conversation(call_id, recording=recording)
    ended: Ended | None = None

    def so_far() -> CallResult:
        return with_persons(conversation.so_far())

    def with_persons(result: CallResult) -> CallResult:
        return result if persons is None else replace(result, transfer_legs=persons())

    async def take(report: Report) -> None:
        nonlocal ended
        if isinstance(report, Ended):
            ended = report
            return
        conversation.add(report)
        if isinstance(report, Reached) and report.stage != "initiated":  # the host knows that from placing it
            await told(report.stage, report.provider_call_id)
        elif isinstance(report, Said | PersonOnLine):
            await leg.keep(so_far())
        elif isinstance(report, ToolAsks):
            await leg.keep(so_far())
            await call.send(ToolKept(call_id=call_id, turn_index=report.turn.index))
        elif isinstance(report, Transferring):
            await leg.keep(so_far())
            await leg.transferred(report.transfer)
        elif isinstance(report, TransferAsked):
            tasks.start_soon(_transfer, call, report, transfer)

    async with left(call, call_id), anyio.create_task_group() as tasks:
        tasks.start_soon(_obey, call, call_id, hang_up)
        if leg.call.answering is not None and leg.call.answering.wait is not None:
            tasks.start_soon(_move_up, call, call_id, leg.queue)
        if meanwhile is not None:
            tasks.start_soon(meanwhile)
        for report in heard:
            await take(report)
        while ended is None:
            try:
                await take(await call.reports.receive())
            except anyio.EndOfStream:
                break
        tasks.cancel_scope.cancel()
    if ended is not None and ended.is_known:
        return with_persons(conversation.result(ended))
    known = so_far() if ended is None else with_persons(conversation.result(ended))
    return lost(leg.call, known, is_answered=conversation.is_answered)


@asynccontextmanager
async def left(call: MediaCall, call_id: str) -> AsyncGenerator[None]:
    """Ends the call in its media process when it is followed no more; a call that has ended is left alone."""
    try:
        yield
    finally:
        with anyio.move_on_after(HANG_UP_S, shield=True):
            await call.send(HangUp(call_id=call_id, cause="platform_error", ended_by="platform"))
        call.close()


def recording_of(folder: Path | None, call: CallRequest) -> str | None:
    """Where a call is recorded; None if its campaign records nothing, or calls are not recorded here."""
    return None if folder is None or not call.recorded else str(folder / f"{call.call_id}.wav")


async def _move_up(call: MediaCall, call_id: str, queue: QueuePlace) -> None:
    """Tells the media process the place of a caller who waits for a line, whenever it is another one."""
    told: int | None = None
    while told != 0:
        if queue.place is not None and queue.place != told:
            told = queue.place
            await call.send(QueueMoved(call_id=call_id, place=told))
        else:
            await queue.changed()


async def _transfer(call: MediaCall, asked: TransferAsked, transfer: Transfers | None) -> None:
    """Has the carrier transfer the call, and tells the media process what comes of it."""

    async def told(stage: TransferStatus, cause: TransferCause | None = None, *, is_away: bool = False) -> None:
        await call.send(TransferUpdate(call_id=asked.call_id, stage=stage, cause=cause, is_away=is_away))

    if transfer is None:
        await told("failed", "not_possible")
        return
    try:
        await transfer(asked, told)
    except Exception as error:
        log.warning("a carrier did not transfer a call: %s", type(error).__name__, extra={"call_id": asked.call_id})
        await told("failed", "carrier_error")


async def _obey(call: MediaCall, call_id: str, hang_up: HangUpAsked) -> None:
    await hang_up.wait()
    end = hang_up.end
    warning = _STOPPED if end.cause == "platform_error" else ""
    await call.send(HangUp(call_id=call_id, cause=end.cause, ended_by=end.ended_by, warning=warning))
