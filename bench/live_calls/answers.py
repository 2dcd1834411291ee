"""Measures the time from the end of a sentence to the first sound of its answer, as the other side hears it.

Hearing and thinking are a local service that takes a fixed time for each, so that what is left is the pipeline: finding
the end of speech, passing it on, speaking. The page, the service and the calls share the machine.
"""

import socket
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from math import ceil
from pathlib import Path
from statistics import median

import anyio
from tests.service.telephony.media.caller import Caller, caller
from tests.service.telephony.media.calls import Line
from tests.service.telephony.media.closed_set import ClosedSet, resampled, samples_of
from tests.service.telephony.media.media_process import media_process
from tests.service.telephony.media.sentences import GREETING, YES
from tests.service.telephony.media.speech_endpoint import Endpoint, endpoint

from callwright.service.speech.synthesiser import Synthesiser, find_libraries
from callwright.service.speech.voices import voice

HEARING_S, THINKING_S = 0.1, 0.1
"""What the local service takes for each."""
PAIR_TURNS = 40
"""Turns of each side of a comparison."""
AT_ONCE = (1, 4, 8, 16)
ANSWERS, FEWEST_TURNS = 48, 4
"""Answers for each number of calls, and how many of them at least are of one call."""
LATEST_MS = 1_500
"""Answers that come later sound as if nobody had heard."""
MOST_RATIO = 1.15
_QUIET_S = 0.8
_STARTS_WITHIN_S = 60.0


class Hears(ClosedSet):
    """Hears the same sentence in everything, after a fixed time."""

    def recognise(self, pcm: bytes) -> str:
        time.sleep(HEARING_S)  # in a thread of its own
        return YES


@asynccontextmanager
async def service() -> AsyncGenerator[Endpoint]:
    """The local service. No answer is like the one before: an agent that repeats itself hangs up."""
    async with endpoint(Hears({})) as local:
        local.delay_s = THINKING_S
        local.answers = [f"This is answer number {number}." for number in range(1_000)]
        yield local


async def sentence() -> bytes:
    """What the other side says, without the silence behind it."""
    speaker = voice("en-US-ben")
    assert speaker is not None
    async with Synthesiser(find_libraries()) as synthesiser:
        pcm = resampled(await synthesiser.speak(YES, speaker.espeak), 22_050)
    loud = [at for at, sample in enumerate(samples_of(pcm).tolist()) if abs(sample) > 0.01]
    return pcm[: 2 * (loud[-1] + 1)]


async def quiet(page: Caller) -> None:
    """Waits until nothing was heard for a while."""
    heard = -1
    while heard != len(page.sound):
        heard = len(page.sound)
        await anyio.sleep(_QUIET_S)


async def answered_ms(page: Caller, said: bytes, turns: int) -> list[float]:
    """How long each answer took, in milliseconds after the last sample was sent."""
    times: list[float] = []
    for _ in range(turns):
        await quiet(page)
        await page.say(said)
        ended = time.perf_counter()
        await page.heard(0.0001, more=True)
        times.append((time.perf_counter() - ended) * 1_000)
    return times


def p95(times: Sequence[float]) -> float:
    """The 95th percentile: the smallest that 95 of 100 do not exceed."""
    return sorted(times)[ceil(0.95 * len(times)) - 1]


@asynccontextmanager
async def bare(url: str) -> AsyncGenerator[Caller]:
    """A page of a bare pipeline, in a process of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, str(Path(__file__).with_name("bare.py")), str(port), url]
    async with AsyncExitStack() as stack:
        process = await anyio.open_process(command, stdout=None, stderr=None)
        stack.callback(process.kill)
        with anyio.fail_after(_STARTS_WITHIN_S):
            while True:
                try:
                    await (await anyio.connect_tcp("127.0.0.1", port)).aclose()
                    break
                except OSError:
                    await anyio.sleep(0.2)
        yield await stack.enter_async_context(caller(port, "bare"))


async def calls_at_once(line: Line, said: bytes, count: int) -> list[float]:
    """The times of all answers of so many calls of one media process, which begin a little after each other."""
    times: list[float] = []

    async def one(number: int) -> None:
        await anyio.sleep(number * 0.37)
        async with line.call(thinks=True, welcome=GREETING) as call:
            await call.turn("agent", 1)
            times.extend(await answered_ms(call.page, said, max(FEWEST_TURNS, ceil(ANSWERS / count))))
            await call.page.send(type="hang_up")
            await call.ended()

    async with anyio.create_task_group() as tasks:
        for number in range(count):
            tasks.start_soon(one, number)
    return times


async def measure() -> None:
    """Prints all figures."""
    said = await sentence()
    async with service() as local, media_process() as media:
        with tempfile.TemporaryDirectory(prefix="callwright-bench-") as folder:
            line = Line(media, local, {}, Path(folder))
            ours: list[float] = []
            plain: list[float] = []
            async with bare(local.url) as page, line.call(thinks=True, welcome=GREETING) as call:
                await call.turn("agent", 1)
                await answered_ms(page, said, 1)
                await answered_ms(call.page, said, 1)
                for _ in range(PAIR_TURNS):  # in turn, so that other work of the machine meets both
                    plain += await answered_ms(page, said, 1)
                    ours += await answered_ms(call.page, said, 1)
                await call.page.send(type="hang_up")
                await call.ended()
            for name, of in (("p50", median), ("p95", p95)):
                print(
                    f"end of speech to sound, {name}   {of(ours):7.0f} ms  bare Pipecat {of(plain):7.0f} ms  "
                    f"ratio {of(ours) / of(plain):5.2f}  (aim ≤ {MOST_RATIO})"
                )
            for count in AT_ONCE:
                found = await calls_at_once(line, said, count)
                print(
                    f"{count:2} calls of a media process    p50 {median(found):6.0f} ms  p95 {p95(found):6.0f} ms  "
                    f"(aim: p95 ≤ {LATEST_MS} ms)"
                )


def main() -> None:
    """Measures live calls."""
    anyio.run(measure)
