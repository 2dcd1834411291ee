"""A telephone of tests: a second SIP stack in a process of its own, on the loopback interface."""

import json
import secrets
import signal
import socket
import sys
import tempfile
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import Any

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from callwright.service.telephony.carriers.sip_trunk import SipTrunk
from tests.service.telephony.media.closed_set import ClosedSet, resampled
from tests.service.telephony.media.sip import telephone_process

Happened = dict[str, Any]
_PAUSE = 8_000
"""Bytes of half a second: so much silence ends a sentence."""


def free_port() -> int:
    """A port that is free, as is the one after it, for both UDP and TCP. Connections get none of this range."""
    while True:
        port = secrets.choice(range(20_000, 30_000, 2))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
            try:
                one.bind(("127.0.0.1", port))
                with socket.socket() as tcp, socket.socket() as next_tcp:
                    tcp.bind(("127.0.0.1", port))
                    next_tcp.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
            return port


class Telephone:
    """Gives it commands, and follows what happens."""

    def __init__(self, process: Process, port: int, folder: Path) -> None:
        self._process, self._folder = process, folder
        self.port = port
        self.all: list[Happened] = []
        self._over = False
        self._understood = 0
        self._news = anyio.Condition()

    @property
    def trunk(self) -> SipTrunk:
        """It as a trunk that needs no account."""
        return SipTrunk("127.0.0.1", self.port)

    async def do(self, what: str, **content: object) -> None:
        assert self._process.stdin is not None
        await self._process.stdin.send(json.dumps({"do": what} | content).encode() + b"\n")

    async def call(self, number: str, port: int, **headers: str) -> None:
        """Calls a number at a port of this machine."""
        await self.do("dial", uri=f"sip:{number}@127.0.0.1:{port}", headers=headers)

    def freeze(self) -> None:
        """It does nothing more, as if its machine stood still."""
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """It goes on."""
        self._process.send_signal(signal.SIGCONT)

    async def say(self, pcm: bytes) -> None:
        """Says sound of 16 kHz, and returns when it was said."""
        path = self._folder / "say"
        samples = memoryview(pcm).cast("h").tolist()
        means = ((one + other) // 2 for one, other in zip(samples[::2], samples[1::2], strict=False))
        path.write_bytes(b"".join(mean.to_bytes(2, "little", signed=True) for mean in means))
        before = len(self.of("said"))
        await self.do("say", path=str(path))
        await self.wait_for(lambda _: len(self.of("said")) > before)

    async def heard(self) -> bytes:
        """What was heard in this call, at 8 kHz."""
        path, before = self._folder / "heard", len(self.of("saved"))
        await self.do("save", path=str(path))
        await self.wait_for(lambda _: len(self.of("saved")) > before)
        return path.read_bytes()

    async def hears(self, known: ClosedSet, text: str) -> None:
        """Waits until a sentence was heard to its end, after the one before."""
        with anyio.fail_after(40):
            while True:
                sound = await self.heard()
                new, end = sound[self._understood :], memoryview(sound[-_PAUSE:]).cast("h")
                is_over = len(new) > _PAUSE and max(map(abs, end)) < 300
                if is_over and known.recognise(resampled(new, 8_000)) == text:
                    self._understood = len(sound)
                    return
                await anyio.sleep(0.2)

    async def hears_it_out(self, seconds: float) -> None:
        """Waits until something was said for so long, whatever it is, and is over."""
        with anyio.fail_after(60):
            while True:
                sound = await self.heard()
                end = memoryview(sound[-_PAUSE:]).cast("h")
                if self.of("saved")[-1]["heard_s"] >= seconds and max(map(abs, end)) < 300:
                    self._understood = len(sound)
                    return
                await anyio.sleep(0.2)

    async def hears_anything(self, seconds: float) -> None:
        """Waits until there was sound for so long in this call."""
        with anyio.fail_after(40):
            while True:
                await self.heard()
                if self.of("saved")[-1]["heard_s"] >= seconds:
                    return
                await anyio.sleep(0.1)

    async def wait_for(self, test: str | Callable[[Happened], bool], within_s: float = 40.0) -> Happened:
        """The first event of a kind, or that passes."""

        def passes(each: Happened) -> bool:
            return each["event"] == test if isinstance(test, str) else test(each)

        with anyio.fail_after(within_s):
            async with self._news:
                while True:
                    for each in self.all:
                        if passes(each):
                            return each
                    assert not self._over, f"the telephone ended: {self.all}"
                    await self._news.wait()

    def of(self, kind: str) -> list[Happened]:
        """The events of a kind."""
        return [each for each in self.all if each["event"] == kind]

    def keys(self) -> str:
        """The keys that the other side pressed."""
        return "".join(each["digit"] for each in self.of("key"))

    async def follow(self) -> None:
        assert self._process.stdout is not None
        lines = BufferedByteReceiveStream(self._process.stdout)
        try:
            while True:
                line = await lines.receive_until(b"\n", 100_000)
                async with self._news:
                    self.all.append(json.loads(line))
                    self._news.notify_all()
        except (anyio.EndOfStream, anyio.IncompleteRead, anyio.ClosedResourceError):
            async with self._news:
                self._over = True
                self._news.notify_all()


@asynccontextmanager
async def telephone(on_call: str = "answer", **options: object) -> AsyncGenerator[Telephone]:
    """A telephone that answers, rings or is busy."""
    port = free_port()
    given = {"listen": f"127.0.0.1:{port}", "on_call": on_call} | options
    command = [sys.executable, str(Path(telephone_process.__file__)), json.dumps(given)]
    process = await anyio.open_process(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL)
    with tempfile.TemporaryDirectory() as folder:
        async with anyio.create_task_group() as tasks:
            made = Telephone(process, port, Path(folder))
            tasks.start_soon(made.follow)
            try:
                await made.wait_for("ready")
                yield made
            finally:
                with anyio.CancelScope(shield=True):
                    assert process.stdin is not None
                    await process.stdin.aclose()
                    with anyio.move_on_after(5):
                        await process.wait()
                    if process.returncode is None:
                        process.kill()
                    await process.aclose()
                tasks.cancel_scope.cancel()
