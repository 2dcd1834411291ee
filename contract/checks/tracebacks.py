"""Exceptions without their tracebacks.

A traceback keeps each frame that it went through and the frames of the callers, with all they hold. Where one of those
holds the exception as well, all of it, the body of a request for instance, waits for a full garbage collection.
"""

from typing import TypeVar, cast

E = TypeVar("E", bound=BaseException)


def without_tracebacks(error: E) -> E:
    """The exception itself, for whoever keeps it or is the last to see it.

    The tracebacks are taken from it and from all that led to it, so log it before.
    """
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is None or (one.__traceback__ is None and one is not error):
            continue
        one.__traceback__ = None
        waiting += one.__cause__, one.__context__
        if isinstance(one, BaseExceptionGroup):
            waiting += cast("BaseExceptionGroup[BaseException]", one).exceptions
    return error
