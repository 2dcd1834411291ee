"""The media processes of a line host: they are started when calls need them, and replaced when they end.

A process takes sixteen calls at once. After two hundred it takes no more and ends with its last one, because libraries
keep memory for each call. If it ends before, its calls end with `platform_error`.
"""

import logging
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

import anyio
from anyio.abc import ByteReceiveStream, Process, TaskGroup
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from pydantic import ValidationError

from callwright.service.telephony.media.caller_messages import CallersTaken, Incoming, TakeCallers
from callwright.service.telephony.media.messages import (
    ALIVE_S,
    LONGEST_LINE,
    MOST_CALLS,
    Alive,
    BeginCall,
    Ended,
    Order,
    Ready,
    Report,
    line_of,
    report_from,
)

log = logging.getLogger(__name__)
COMMAND = (sys.executable, "-m", "callwright.service.telephony.media.process")
CALLS_OF_A_PROCESS = 200
"""Calls after which a process is replaced."""
STARTS_WITHIN_S = 60.0
"""Seconds in which a process must say that it is ready. Loading the models takes two on an idle machine."""
ENDS_WITHIN_S = 3.0
"""Seconds that the processes have at the end to hang up their calls."""
LOOK_S, LONGEST_PAUSE_S = 0.5, 60.0
"""Seconds between two looks whether a process has room, and at most between two that do not start."""
_MOST_REPORTS = 1_000
"""Reports of a call that wait to be read. A call that nobody follows any more ends."""
_ENDED_CALLS = "The process that carried the sound of the call ended."


class MediaUnavailable(Exception):
    """No process takes the call; the text says why, for the log."""


@dataclass
class MediaCall:
    """A call in a media process: its websocket is at `port`, and its reports come in order up to `Ended`."""

    port: int
    reports: MemoryObjectReceiveStream[Report]
    _process: "MediaProcess"

    def close(self) -> None:
        """Leaves the call; it goes on, and its reports are dropped."""
        self.reports.close()

    async def send(self, order: Order) -> None:
        """Sends an order about the call. If the process is gone, `Ended` is the call's next report."""
        await self._process.send(order)


@dataclass(eq=False)
class MediaProcess:
    """One process. `port` is 0 until it is ready."""

    process: Process
    port: int = 0
    taken: int = 0
    ready: anyio.Event = field(default_factory=anyio.Event)
    gone: bool = False
    came: Callable[[Incoming], None] | None = None
    """Told of each caller, in the process that takes callers."""
    calls: dict[str, MemoryObjectSendStream[Report]] = field(default_factory=dict[str, MemoryObjectSendStream[Report]])

    @property
    def takes(self) -> bool:
        """Whether it takes a further call."""
        return not self.gone and self.taken < CALLS_OF_A_PROCESS and len(self.calls) < MOST_CALLS

    async def send(self, order: Order) -> None:
        """Sends an order."""
        assert self.process.stdin is not None
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, BrokenPipeError, OSError):
            await self.process.stdin.send(line_of(order))

    def report(self, report: Report) -> None:
        """Passes a report on to who follows the call."""
        if isinstance(report, Ready):
            self.port = report.port
            self.ready.set()
            return
        if isinstance(report, CallersTaken):
            if report.problem:
                log.warning("callers are not let in: %s", report.problem)
            return
        if isinstance(report, Incoming):
            if self.came is not None:
                self.came(report)
            return
        stream = self.calls.get(report.call_id)
        if stream is not None:
            with suppress(anyio.WouldBlock, anyio.BrokenResourceError):
                stream.send_nowait(report)
            if isinstance(report, Ended):
                self.calls.pop(report.call_id).close()

    def end_calls(self) -> None:
        """Ends the calls of a process that is gone."""
        self.gone = True
        self.ready.set()
        for call_id in list(self.calls):
            warnings = (_ENDED_CALLS,)
            self.report(
                Ended(call_id=call_id, cause="platform_error", ended_by="platform", warnings=warnings, is_known=False)
            )


@dataclass(frozen=True)
class CallerIngress:
    """How callers come in: by `order`, in one process at a time. `came` is told of each, with that process."""

    order: TakeCallers
    came: Callable[[MediaProcess, Incoming], None]


class MediaProcesses:
    """Up to `most` media processes. They end with the block in which `run` works.

    With an ingress one of them takes callers, and another one when it has ended. A caller is answered where they came.
    """

    def __init__(
        self, most: int, *, command: Sequence[str] = COMMAND, environment: Mapping[str, str] | None = None
    ) -> None:
        self._most, self._command, self._environment = most, command, environment
        self._processes: list[MediaProcess] = []
        self._starting = anyio.Lock()
        self._ingress: CallerIngress | None = None
        self._tasks: TaskGroup | None = None

    def take_callers(self, ingress: CallerIngress) -> None:
        """Has the next process that starts take callers, and one after it when it has ended."""
        self._ingress = ingress

    def has_room(self) -> bool:
        """Whether a process is ready that takes a call at once."""
        return any(process.port and process.takes for process in self._processes)

    async def run(self, *, is_warm: bool = True) -> None:
        """Keeps processes until it is cancelled. If `is_warm`, one has room for the next call, as far as `most` allows
        it; else the next call starts one."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            try:
                if is_warm:
                    await self._keep_warm()
                await anyio.sleep_forever()
            finally:
                self._tasks = None
                with anyio.CancelScope(shield=True):
                    await self._end_all()

    async def _keep_warm(self) -> None:
        pause_s = LOOK_S
        while True:
            try:
                async with self._starting:
                    if not self._is_full and not (self.has_room() and self._is_open):
                        await self._start()
                pause_s = LOOK_S
            except MediaUnavailable as error:
                log.warning("%s", error)
                pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
            await anyio.sleep(pause_s)

    @property
    def _is_full(self) -> bool:
        return sum(process.taken < CALLS_OF_A_PROCESS for process in self._processes) >= self._most

    async def _end_all(self) -> None:
        """Closes what the processes read, upon which each hangs up its calls and ends; kills those that do not."""
        processes = [each.process for each in self._processes]
        with anyio.move_on_after(ENDS_WITHIN_S):
            for process in processes:
                if process.stdin is not None:
                    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
                        await process.stdin.aclose()
            for process in processes:
                await process.wait()
        for process in processes:
            with suppress(ProcessLookupError):
                process.kill()

    @property
    def _is_open(self) -> bool:
        """Whether a process takes callers, if one is to."""
        return self._ingress is None or any(process.came for process in self._processes)

    async def begin(self, order: BeginCall) -> MediaCall:
        """Begins a call in one of the processes: where nobody calls in, if there is the choice.

        Raises:
            MediaUnavailable: all are full, or none can be started.
        """
        async with self._starting:
            free = sorted((each for each in self._processes if each.takes), key=lambda each: each.came is not None)
            process = free[0] if free else await self._start()
            return await self._begin(process, order)

    async def answer(self, process: MediaProcess, order: BeginCall) -> MediaCall:
        """Begins the call of somebody who has come in.

        Raises:
            MediaUnavailable: the process is full, or gone and the caller with it.
        """
        if process.gone or len(process.calls) >= MOST_CALLS:
            raise MediaUnavailable("the process that a caller came to is full or gone")
        return await self._begin(process, order)

    async def _begin(self, process: MediaProcess, order: BeginCall) -> MediaCall:
        send, receive = anyio.create_memory_object_stream[Report](_MOST_REPORTS)
        process.calls[order.request.call_id] = send
        process.taken += 1
        await process.send(order)
        return MediaCall(process.port, receive, process)

    async def _start(self) -> MediaProcess:
        if self._tasks is None:
            raise MediaUnavailable("media processes are not running")
        if self._is_full:
            raise MediaUnavailable(f"all {self._most} media processes are full")
        opened = await anyio.open_process(
            list(self._command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None,
            env=self._environment,
        )
        process = MediaProcess(opened)
        self._processes.append(process)
        self._tasks.start_soon(self._follow, process)
        self._tasks.start_soon(self._say_alive, process)
        with anyio.move_on_after(STARTS_WITHIN_S):
            await process.ready.wait()
        if process.gone or not process.port:
            with suppress(ProcessLookupError):
                opened.kill()
            raise MediaUnavailable(f"a media process did not start (exit status {opened.returncode})")
        if self._ingress is not None and not self._is_open:
            process.came = partial(self._ingress.came, process)
            await process.send(self._ingress.order)
        return process

    async def _say_alive(self, process: MediaProcess) -> None:
        while not process.gone:
            await process.send(Alive())
            await anyio.sleep(ALIVE_S)

    async def _follow(self, process: MediaProcess) -> None:
        """Passes on the reports of a process until it ends."""
        assert process.process.stdout is not None
        try:
            await _lines(process.process.stdout, process)
        finally:
            process.end_calls()
            self._processes.remove(process)
            with suppress(ProcessLookupError):
                process.process.kill()
            with anyio.CancelScope(shield=True), anyio.move_on_after(5.0):
                await process.process.aclose()
        log.info("a media process has ended after %d calls", process.taken)


async def _lines(out: ByteReceiveStream, process: MediaProcess) -> None:
    waiting = b""
    while True:
        try:
            waiting += await out.receive(65_536)
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            return
        *lines, waiting = waiting.split(b"\n")
        for line in lines:
            try:
                process.report(report_from(line))
            except ValidationError:
                log.error("a line of a media process was no report")
        if len(waiting) > LONGEST_LINE:
            log.error("a line of a media process was longer than %d bytes", LONGEST_LINE)
            return
        if process.taken >= CALLS_OF_A_PROCESS and not process.calls:
            return
