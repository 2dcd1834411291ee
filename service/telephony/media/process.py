"""The media process: `python -m callwright.service.telephony.media.process`, started by a line host.

It reads orders on standard input and writes reports on standard output, as `messages` describes them. The end of its
input ends it. What libraries print goes to standard error.
"""

import asyncio
import gc
import logging
import os
import queue
import sys
import threading
import traceback
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, BinaryIO, cast

from anyio import to_thread
from anyio.abc import TaskGroup
from pydantic import BaseModel, ValidationError

from callwright.contract.checks.extras import installing
from callwright.service.telephony.media.caller_messages import CallersTaken, RefuseCaller, TakeCallers
from callwright.service.telephony.media.host_watch import HOST_SILENT, TICK_S, HostWatch
from callwright.service.telephony.media.messages import (
    LONGEST_LINE,
    MOST_CALLS,
    Alive,
    BeginCall,
    Dial,
    Ended,
    HangUp,
    Order,
    QueueMoved,
    Ready,
    ToolKept,
    TransferUpdate,
    line_of,
    order_from,
)

if TYPE_CHECKING:
    from callwright.service.speech.synthesiser import Synthesiser
    from callwright.service.telephony.media.arrival import Arrival
    from callwright.service.telephony.media.call import Call
    from callwright.service.telephony.media.sip.callers import Callers
    from callwright.service.telephony.media.sip.stack import SipStack
    from callwright.service.telephony.media.websocket import Listener

log = logging.getLogger("callwright.service.telephony.media.process")  # as a program its name is `__main__`

NOT_INSTALLED = f"Live calls need more packages: {installing('live')}."
NO_SIP = f"Calls over SIP need more packages: {installing('sip')}."
_MOST_REPORTS = 10_000
CARRIER_SAYS_S = 300.0
"""Seconds after the longest ringing in which a carrier that brings the sound must have said what became of the call."""
FAULT, MISSING = 1, 3
"""Exit statuses: a line was too long, the host does not read or the SIP stack has died; packages are missing."""


class Reports:
    """Writes reports in a thread of its own, in their order. A host that does not read for long ends the process."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._lines: queue.Queue[bytes | None] = queue.Queue(_MOST_REPORTS)
        self._thread = threading.Thread(target=self._write_all, name="reports", daemon=True)
        self._thread.start()

    def send(self, report: BaseModel) -> None:
        """Sends a report."""
        try:
            self._lines.put_nowait(line_of(report))
        except queue.Full:
            os._exit(FAULT)

    def close(self) -> None:
        """Waits until all reports are written, five seconds at most."""
        with suppress(queue.Full):
            self._lines.put_nowait(None)
        self._thread.join(5.0)

    def _write_all(self) -> None:
        with suppress(OSError):  # the host is gone, and so will be the input
            while (line := self._lines.get()) is not None:
                self._out.write(line)
                self._out.flush()


class Calls:
    """The calls of this process, at most `MOST_CALLS`."""

    def __init__(self, tasks: TaskGroup, listener: "Listener", synthesiser: "Synthesiser", reports: Reports) -> None:
        self._tasks = tasks
        self._listener = listener
        self._synthesiser = synthesiser
        self._reports = reports
        self._calls: dict[str, Call | None] = {}
        self._early: dict[str, HangUp] = {}
        self._sip: SipStack | None = None
        self._callers: Callers | None = None
        self._host = HostWatch()

    async def watch_host(self) -> None:
        """Ends all calls when the host is frozen or cannot be reached: others settle them, and nobody follows."""
        while True:
            await asyncio.sleep(TICK_S)
            if self._host.tick():
                log.error("the host of this process is silent: its calls end")
                for call_id in list(self._calls):
                    await self.obey(
                        HangUp(call_id=call_id, cause="platform_error", ended_by="platform", warning=HOST_SILENT)
                    )

    async def obey(self, order: Order) -> None:
        """Does what the host says. What concerns a call that there is not is left alone."""
        self._host.heard(is_alive=isinstance(order, Alive))
        if isinstance(order, Alive):
            return
        if isinstance(order, BeginCall):
            self._begin(order)
            return
        if isinstance(order, TakeCallers):
            self._take_callers(order)
            return
        if isinstance(order, RefuseCaller):
            if self._callers is not None:
                self._callers.refuse(order.handle)
            return
        call = self._calls.get(order.call_id)
        if call is None:
            if isinstance(order, HangUp) and order.call_id in self._calls:
                self._early[order.call_id] = order  # it is just beginning
            return
        try:
            if isinstance(order, HangUp):
                await call.hang_up(order)
            elif isinstance(order, Dial):
                call.place(order)
            elif isinstance(order, TransferUpdate):
                call.transfer_update(order)
            elif isinstance(order, ToolKept):
                call.tool_kept(order)
            elif isinstance(order, QueueMoved):
                await call.queue_moved(order)
            else:
                await call.saw(order.answered_by)
        except Exception as error:
            _log_fault(error, order.call_id)

    def _begin(self, begin: BeginCall) -> None:
        call_id = begin.request.call_id
        if call_id in self._calls:
            return
        if len(self._calls) >= MOST_CALLS:
            self._refuse(call_id, "The process takes no more calls.")
        elif begin.transport == "sip" and find_spec("baresip") is None:
            self._refuse(call_id, NO_SIP)
        else:
            self._calls[call_id] = None
            self._tasks.start_soon(self._run, begin)

    def _arrival(self, begin: BeginCall) -> "Arrival":
        """How the other side comes. Raises NoTrunk, and ValueError if the token is another call's."""
        if begin.transport == "websocket":
            return self._listener.expect(begin.token)
        if begin.transport == "twilio":
            from callwright.service.telephony.media.twilio.media_stream import started

            return self._listener.expect(begin.token, started, longer_s=CARRIER_SAYS_S)
        from callwright.service.telephony.carriers.sip_trunk import trunk_of
        from callwright.service.telephony.media.sip.incoming import IncomingCall
        from callwright.service.telephony.media.sip.outgoing import OutgoingCall

        trunk, request, reports_s = trunk_of(begin.carrier_options), begin.request, begin.limits.reports_s
        if request.answering is None:
            return OutgoingCall(self._stack(), trunk, request, reports_s=reports_s)
        line = self._callers.take(begin.token) if self._callers is not None else None
        return IncomingCall(self._stack(), trunk, request, line, reports_s=reports_s)

    def _stack(self) -> "SipStack":
        from callwright.service.telephony.media.sip.stack import SipStack

        self._sip = self._sip or SipStack(died=_sip_died)
        return self._sip

    def _take_callers(self, order: TakeCallers) -> None:
        """Lets callers in, once."""
        from callwright.service.telephony.carriers.sip_trunk import NoTrunk, trunk_of

        if self._callers is not None:
            return
        if find_spec("baresip") is None:
            self._reports.send(CallersTaken(problem=NO_SIP))
            return
        from callwright.service.telephony.media.sip.callers import Callers

        try:
            self._callers = Callers(self._stack(), trunk_of(order.carrier_options), self._reports.send)
        except NoTrunk as error:
            self._reports.send(CallersTaken(problem=str(error)))
        else:
            self._tasks.start_soon(self._callers.run)

    async def close(self) -> None:
        """Gives up what the calls have used, once they are over."""
        if self._sip is not None:
            await self._sip.close()

    def _refuse(self, call_id: str, warning: str) -> None:
        ended = Ended(call_id=call_id, cause="platform_error", ended_by="platform", warnings=(warning,))
        self._reports.send(ended)

    async def _run(self, begin: BeginCall) -> None:
        """Runs a call, and frees what it held: its models are 40 MB, in circles of references."""
        await self._hold(begin)
        gc.collect()

    async def _hold(self, begin: BeginCall) -> None:
        """Holds a call. A fault ends that call and no other."""
        from callwright.service.telephony.carriers.sip_trunk import NoTrunk
        from callwright.service.telephony.media.call import Call
        from callwright.service.telephony.media.speech.speech_services import UnknownService
        from callwright.service.telephony.media.turns.turn_taking import load_models

        call_id = begin.request.call_id
        try:
            models = await to_thread.run_sync(load_models) if begin.services.hearing else None
            arrival = self._arrival(begin)
            try:
                call = Call(
                    begin,
                    arrival=arrival,
                    synthesiser=self._synthesiser,
                    models=models,
                    report=self._reports.send,
                )
            except BaseException:
                await arrival.leave("platform_error")  # a caller hears it ring
                raise
            self._calls[call_id] = call
            early = self._early.pop(call_id, None)
            if early is not None:
                await call.hang_up(early)
            await call.run()
        except (UnknownService, NoTrunk) as error:
            self._refuse(call_id, str(error))
        except Exception as error:
            _log_fault(error, call_id)
            self._refuse(call_id, "The call failed in its media process.")
        finally:
            del self._calls[call_id]
            self._early.pop(call_id, None)


def _sip_died() -> None:
    """Ends the process: without the thread of the SIP stack its calls cannot even be hung up, nor others made."""
    log.error("the SIP stack has died")
    os._exit(FAULT)


def _log_fault(error: BaseException, call_id: str) -> None:
    """Logs the place of an error. Its message can hold words or keys, so it is left out."""
    first: BaseException = error
    while isinstance(first, BaseExceptionGroup):
        first = cast("BaseExceptionGroup[BaseException]", first).exceptions[0]
    frames = traceback.extract_tb(first.__traceback__)
    place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "an unknown place"
    log.error("call %s failed with %s at %s", call_id, type(first).__name__, place)


async def _orders() -> asyncio.StreamReader:
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    return reader


async def serve(reports: Reports) -> int:
    """Takes orders until there are no more. Returns the exit status."""
    import anyio

    from callwright.service.speech.synthesiser import Synthesiser, find_libraries
    from callwright.service.telephony.media.warming import warm
    from callwright.service.telephony.media.websocket import Listener

    listener = Listener()
    status = 0
    async with Synthesiser(find_libraries(os.environ.get("CALLWRIGHT_ESPEAK") or None)) as synthesiser:
        port = await listener.start()
        await warm(synthesiser)
        lines = await _orders()
        reports.send(Ready(port=port))
        tasks = anyio.create_task_group()
        calls = Calls(tasks, listener, synthesiser, reports)
        async with tasks:
            tasks.start_soon(calls.watch_host)
            while True:
                try:
                    line = await lines.readuntil(b"\n")
                except asyncio.IncompleteReadError:
                    break
                except asyncio.LimitOverrunError:
                    log.error("an order was longer than %d bytes", LONGEST_LINE)
                    status = FAULT
                    break
                try:
                    order = order_from(line)
                except ValidationError:
                    log.error("a line was no order")
                    continue
                await calls.obey(order)
            tasks.cancel_scope.cancel()
        await calls.close()
        await listener.stop()
    return status


def main() -> int:
    """Serves the process's own standard streams. Returns the exit status."""
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    if find_spec("pipecat") is None:
        print(NOT_INSTALLED, file=sys.stderr)  # noqa: T201 - said to whoever started it
        return MISSING
    # Providers' websockets follow no redirect, as their HTTP clients do not: one attempt, and the library is not loaded
    # yet. Deepgram's and Pipecat's clients open theirs by it.
    os.environ["WEBSOCKETS_MAX_REDIRECTS"] = "1"
    reports = Reports(os.fdopen(os.dup(1), "wb"))
    os.dup2(2, 1)
    _silence_libraries()
    try:
        return asyncio.run(serve(reports))
    except KeyboardInterrupt:
        return 0
    finally:
        reports.close()


def _silence_libraries() -> None:
    """Libraries log words, numbers and addresses with keys; none of that is wanted in any log."""
    from loguru import logger

    logger.remove()
    for name in ("openai", "deepgram", "httpx", "httpcore", "websockets", "aiohttp", "asyncio", "baresip"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


if __name__ == "__main__":
    ended_with = main()
    # Leaves at once: threads of libraries may still wait for something.
    os._exit(ended_with)
