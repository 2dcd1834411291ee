"""The loop of a background worker: it works, waits and repeats, also after a failure."""

import logging
from collections.abc import Awaitable, Callable
from typing import NoReturn

import anyio

from callwright.service.platform.database.postgres.lock_waits import Locked
from callwright.service.platform.database.unavailable import StorageUnavailable
from callwright.service.platform.wake_signal import WakeSignal

log = logging.getLogger(__name__)
RETRY_S = 1.0
"""How long a loop with a signal waits after a failure, however often it is notified meanwhile."""


async def repeat(
    work: Callable[[], Awaitable[float | None]],
    name: str,
    *,
    every_s: float,
    signal: WakeSignal | None = None,
    begins_after_s: float = 0.0,
) -> NoReturn:
    """Repeats `work` until cancelled. A failure is logged under `name`, and the work is tried again.

    In between it waits for `every_s`, or for the seconds that the work returned; with a signal at most until then.
    """
    await anyio.sleep(begins_after_s)
    while True:
        try:
            said_s = await work()
        except StorageUnavailable:
            pass  # it is logged already
        except Locked:
            log.warning("%s: others hold rows that it needs", name)
        except Exception:
            log.exception("%s failed", name)
        else:
            wait_s = every_s if said_s is None else said_s
            await (anyio.sleep(wait_s) if signal is None else signal.wait(wait_s))
            continue
        await anyio.sleep(every_s if signal is None else RETRY_S)
