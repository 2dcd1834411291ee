"""What carriers share whose calls are carried by media processes: following a call to its end, and leaving it."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from callwright.service.telephony.chosen_services import ProviderUnusable
from callwright.service.telephony.engine import CallRequest, CallResult
from callwright.service.telephony.legs.carrier import HangUpAsked, LegRequest, NotSent, ToldStage
from callwright.service.telephony.legs.leg_results import lost
from callwright.service.telephony.lines.conversation_results import Conversation
from callwright.service.telephony.lines.media_processes import MediaCall
from callwright.service.telephony.media.messages import Ended, HangUp, Reached, Report, Said, SpeechServices

ServicesOf = Callable[[CallRequest], Awaitable[SpeechServices]]
"""The services that hear, think and speak in a call, as they are set when it is placed. Raises ProviderUnusable."""
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
) -> CallResult:
    """Follows a call until its end, and hangs it up when that is asked.

    `recording` is where its sound is written; `heard` are reports that were taken before; `meanwhile` runs beside the
    call, and ends with it.
    """
    call_id = leg.call.call_id
    conversation = Conversation(call_id, recording=recording)
    ended: Ended | None = None

    async def take(report: Report) -> None:
        nonlocal ended
        if isinstance(report, Ended):
            ended = report
            return
        conversation.add(report)
        if isinstance(report, Reached) and report.stage != "initiated":  # the host knows that from placing it
            await told(report.stage, report.provider_call_id)
        elif isinstance(report, Said):
            await leg.keep(conversation.so_far())

    async with left(call, call_id), anyio.create_task_group() as tasks:
        tasks.start_soon(_obey, call, call_id, hang_up)
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
        return conversation.result(ended)
    so_far = conversation.so_far() if ended is None else conversation.result(ended)
    return lost(leg.call, so_far, is_answered=conversation.is_answered)


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


async def _obey(call: MediaCall, call_id: str, hang_up: HangUpAsked) -> None:
    await hang_up.wait()
    await call.send(HangUp(call_id=call_id, cause=hang_up.end.cause, ended_by=hang_up.end.ended_by))
