"""What waits for the garbage collector: things that refer to each other in a circle, and all that they hold."""

import gc
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any


@contextmanager
def uncollected() -> Generator[None]:
    """No garbage collection inside, and no garbage from before."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def largest_garbage() -> int:
    """Bytes of the largest thing that waits for a full collection, or belongs to what does. It is freed."""
    return max(_sizes(_garbage()), default=0)


def _garbage() -> list[Any]:
    """What a full collection would free, kept instead."""
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        gc.collect()
        return gc.garbage[:]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()


def _sizes(garbage: list[Any]) -> Generator[int]:
    """Bytes of each thing in it, and of the texts and the like that belong to it."""
    for thing in garbage:
        yield sys.getsizeof(thing)
        yield from (sys.getsizeof(one) for one in gc.get_referents(thing) if not gc.is_tracked(one))
