"""DNS look-ups, in which a name whose name servers do not answer does not delay other names.

The system's resolver blocks, may take half a minute, and cannot be interrupted. The event loop would run it in a pool
of a few threads, which a handful of dead names can fill. Here each lookup has a thread of its own, up to a limit;
requests for the same name share its lookup, and a caller may stop waiting while the lookup continues.
"""

import asyncio
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Thread

import anyio

LookUp = Callable[[str], Sequence[str]]
"""Returns the addresses of a name; it may block, and runs in a thread. Raises OSError if there are none."""
MOST_LOOKUPS = 64
"""The most threads that look names up at a time."""
MOST_ADDRESSES = 16
"""The most addresses of one name that are used."""

_Result = Sequence[str] | OSError


def system_look_up(name: str) -> list[str]:
    """The addresses that the system's resolver finds, in its order. Raises OSError."""
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
    except UnicodeError as error:  # a label is too long for it
        raise socket.gaierror(socket.EAI_NONAME, "no such name") from error
    return [str(address[0]) for *_, address in found]


class Names:
    """Looks names up. Nothing is cached: a name is looked up again for every new connection."""

    def __init__(self, look_up: LookUp = system_look_up) -> None:
        self._look_up = look_up
        self._slots = anyio.Semaphore(MOST_LOOKUPS)
        self._under_way: dict[str, asyncio.Future[_Result]] = {}

    async def addresses(self, name: str) -> Sequence[str]:
        """At most `MOST_ADDRESSES` of a name. Raises OSError if there are none. The caller limits the wait."""
        answer = self._under_way.get(name)
        if answer is None:
            await self._slots.acquire()
            answer = self._under_way.get(name)
            if answer is None:
                answer = self._begin(name)
            else:
                self._slots.release()
        found = await asyncio.shield(answer)
        if isinstance(found, OSError):
            raise OSError(found.errno, found.strerror) from found
        return found[:MOST_ADDRESSES]

    def _begin(self, name: str) -> "asyncio.Future[_Result]":
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[_Result] = loop.create_future()
        self._under_way[name] = answer

        def end(found: _Result) -> None:
            del self._under_way[name]
            self._slots.release()
            answer.set_result(found)

        def run() -> None:
            found = self._looked_up(name)
            with suppress(RuntimeError):  # the loop may be gone by now
                loop.call_soon_threadsafe(end, found)

        try:
            # A daemon, so that the end of the program does not wait for name servers.
            Thread(target=run, name="name lookup", daemon=True).start()
        except RuntimeError:  # the system has no more threads
            end(OSError(socket.EAI_AGAIN, "no thread"))
        return answer

    def _looked_up(self, name: str) -> _Result:
        try:
            return self._look_up(name) or OSError(socket.EAI_NONAME, "no address")
        except OSError as error:
            return error
        except Exception as error:  # those that wait must get it
            return OSError(socket.EAI_FAIL, type(error).__name__)
