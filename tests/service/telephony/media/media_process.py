"""A real media process, and what it reports."""

import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import TypeVar

import anyio
from anyio.abc import ByteSendStream, Process
from anyio.streams.buffered import BufferedByteReceiveStream
from pydantic import BaseModel

from callwright.service.telephony.media.messages import (
    LONGEST_LINE,
    Ended,
    Latency,
    Listening,
    Ready,
    Said,
    ToolAsks,
    ToolKept,
    line_of,
    report_from,
)

LONGEST_START_S = 90.0
R = TypeVar("R", bound=BaseModel)


@dataclass
class Reports:
    """The reports of a process in their order."""

    all: list[BaseModel] = field(default_factory=list[BaseModel])
    over: bool = False
    keeps_tools: bool = True
    """Whether a tool may be asked, as a host says once it has kept that."""
    _news: anyio.Condition = field(default_factory=anyio.Condition)

    async def add(self, report: BaseModel) -> None:
        async with self._news:
            self.all.append(report)
            self._news.notify_all()

    async def close(self) -> None:
        async with self._news:
            self.over = True
            self._news.notify_all()

    async def wait_for(self, kind: type[R], test: Callable[[R], bool] = lambda _: True, *, within_s: float) -> R:
        """The first report of a kind that passes."""
        with anyio.fail_after(within_s):
            async with self._news:
                while True:
                    for report in self.all:
                        if isinstance(report, kind) and test(report):
                            return report
                    assert not self.over, "the process ended"
                    await self._news.wait()

    def said(self, call_id: str) -> list[Said]:
        """The turns of a call."""
        return [each for each in self.all if isinstance(each, Said) and each.call_id == call_id]

    def latencies(self, call_id: str) -> list[Latency]:
        """How long the answers of a call took."""
        return [each for each in self.all if isinstance(each, Latency) and each.call_id == call_id]


class MediaProcess:
    """Gives orders to a process."""

    def __init__(self, process: Process, orders: ByteSendStream, reports: Reports, port: int) -> None:
        self.process = process
        self._orders = orders
        self.reports = reports
        self.port = port

    async def send(self, order: BaseModel) -> None:
        await self._orders.send(line_of(order))

    async def send_line(self, line: bytes) -> None:
        await self._orders.send(line)

    async def end_input(self) -> None:
        await self._orders.aclose()

    async def listening(self, call_id: str) -> None:
        await self.reports.wait_for(Listening, lambda each: each.call_id == call_id, within_s=60)

    async def ended(self, call_id: str, within_s: float = 60.0) -> Ended:
        return await self.reports.wait_for(Ended, lambda each: each.call_id == call_id, within_s=within_s)


@asynccontextmanager
async def media_process(*, errors: Path | None = None) -> AsyncGenerator[MediaProcess]:
    """Starts a process, and ends it by ending its input. What it says on standard error goes into the file."""
    command = [sys.executable, "-m", "callwright.service.telephony.media.process"]
    with errors.open("wb") if errors else nullcontext(DEVNULL) as stderr:
        process = await anyio.open_process(command, stdin=PIPE, stdout=PIPE, stderr=stderr)
    assert process.stdin is not None
    assert process.stdout is not None
    orders, lines, reports = process.stdin, BufferedByteReceiveStream(process.stdout), Reports()

    async def read() -> None:
        try:
            while True:
                report = report_from(await lines.receive_until(b"\n", LONGEST_LINE))
                await reports.add(report)
                if isinstance(report, ToolAsks) and reports.keeps_tools:
                    kept = ToolKept(call_id=report.call_id, turn_index=report.turn.index)
                    await orders.send(line_of(kept))
        except (anyio.EndOfStream, anyio.IncompleteRead, anyio.ClosedResourceError):
            await reports.close()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        try:
            ready = await reports.wait_for(Ready, within_s=LONGEST_START_S)
            yield MediaProcess(process, process.stdin, reports, ready.port)
        finally:
            with anyio.CancelScope(shield=True):
                await process.stdin.aclose()
                with anyio.move_on_after(20):
                    await process.wait()
                if process.returncode is None:
                    process.kill()
                await process.aclose()
            tasks.cancel_scope.cancel()
