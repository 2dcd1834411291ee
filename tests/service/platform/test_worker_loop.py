"""The loop of a background worker, with work that fails as it is told."""

import logging

import anyio
import pytest

from callwright.service.platform import worker_loop
from callwright.service.platform.database.postgres.lock_waits import Locked
from callwright.service.platform.database.unavailable import StorageUnavailable
from callwright.service.platform.wake_signal import WakeSignal
from callwright.service.platform.worker_loop import repeat

HOUR_S = 3600.0
LIMIT_S = 30


class _Work:
    """Raises what it is given, one after the other, and then nothing; `done` is set after the last."""

    def __init__(self, *failures: Exception | None, says_s: float | None = None) -> None:
        self._failures, self._says_s = list(failures), says_s
        self.times, self.done = 0, anyio.Event()

    async def __call__(self) -> float | None:
        self.times += 1
        failure = self._failures.pop(0) if self._failures else None
        if not self._failures:
            self.done.set()
        if failure is not None:
            raise failure
        return self._says_s


async def _run(work: _Work, *, every_s: float, signal: WakeSignal | None = None, begins_after_s: float = 0.0) -> None:
    """Runs the loop until the work has failed as often as it was told."""

    async def loop() -> None:
        await repeat(work, "counting", every_s=every_s, signal=signal, begins_after_s=begins_after_s)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(loop)
        with anyio.fail_after(LIMIT_S):
            await work.done.wait()
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize("with_alarm", [False, True])
async def test_work_goes_on_after_every_failure_and_the_log_names_it(
    with_alarm: bool, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_loop, "RETRY_S", 0.0)
    work = _Work(StorageUnavailable("full"), Locked("held"), ValueError("wrong"), None)
    with caplog.at_level(logging.INFO, worker_loop.__name__):
        await _run(work, every_s=0.0, signal=WakeSignal() if with_alarm else None)
    assert work.times == 4
    assert [(one.levelname, one.getMessage()) for one in caplog.records] == [
        ("WARNING", "counting: others hold rows that it needs"),
        ("ERROR", "counting failed"),
    ]


async def test_an_alarm_ends_the_wait() -> None:
    signal, work = WakeSignal(), _Work(None, None)
    signal.notify()
    await _run(work, every_s=HOUR_S, signal=signal)
    assert work.times == 2


async def test_the_work_says_how_long_to_wait() -> None:
    work = _Work(None, None, None, says_s=0.0)
    await _run(work, every_s=HOUR_S)
    assert work.times == 3
