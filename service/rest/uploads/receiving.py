"""Writes the body of a request to the file of an upload as it comes."""

from collections.abc import AsyncIterator, Awaitable, Callable

import anyio
from anyio import to_thread
from starlette.requests import ClientDisconnect, Request

from callwright.contract.problems import PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT
from callwright.service.platform.refusals import Refusal, invalid
from callwright.service.platform.uploads import WrittenUpload
from callwright.service.rest.incoming import BODY_LIMIT_S
from callwright.service.rest.uploads.parts import CONTENT_RANGE, Part

BLOCK = 1_000_000
"""Bytes that are held until they are written."""


async def receive(
    request: Request, part: Part, file: WrittenUpload, most_bytes: int, heard: Callable[[], Awaitable[None]]
) -> bool:
    """Adds what the part has beyond the bytes that have arrived; whether the body came to its end.

    A part that begins further on adds nothing. Of a part that came before nothing is written again. The file as a whole
    takes the place of what has arrived, unless it is empty or refused. When the connection ends early, what came
    stays. `heard` is called when new bytes come.

    Raises:
        Refusal: payload_too_large, request_timeout, invalid_field if the body is longer than the part it names, or what
            `heard` raises. Then nothing of it is kept, but what came before a timeout.
        StorageFull: the disk is full; nothing of it is kept.
    """
    _check_size(request, part, most_bytes)
    before, skipped = file.size, 0 if part.is_whole else file.size - part.begin
    begins_anew = part.is_whole
    if skipped < 0 or part.end == 0:
        return True
    try:
        async for block in _blocks(request, skipped, heard):
            if begins_anew:
                await to_thread.run_sync(file.begin_anew)
                begins_anew = False
            end = file.size + len(block)
            if end > most_bytes:
                raise _too_large(most_bytes)
            if part.end is not None and end > part.end:
                raise invalid(CONTENT_RANGE, "names fewer bytes than the body has")
            await to_thread.run_sync(file.append, block)
    except ClientDisconnect:
        return False
    except TimeoutError as error:
        raise Refusal(REQUEST_TIMEOUT, headers={"Connection": "close"}) from error
    except Exception:
        await to_thread.run_sync(file.take_back, before)
        raise
    finally:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(file.keep)
    return True


def _check_size(request: Request, part: Part, most_bytes: int) -> None:
    """Raises `Refusal` if the request says itself that it is more than may be sent. Nothing of it is read then."""
    length = request.headers.get("content-length", "")
    whole = int(length) if part.is_whole and length.isascii() and length.isdigit() else 0
    if max(whole, part.end or 0, part.total or 0) > most_bytes:
        raise _too_large(most_bytes)


def _too_large(most_bytes: int) -> Refusal:
    return Refusal(PAYLOAD_TOO_LARGE, f"An uploaded file has at most {most_bytes:,} bytes; cut it in pieces.")


async def _blocks(request: Request, skipped: int, heard: Callable[[], Awaitable[None]]) -> AsyncIterator[bytes]:
    """The body without its first bytes, in blocks. Raises `TimeoutError` when nothing comes for too long."""
    chunks, held = request.stream(), bytearray()
    while True:
        try:
            with anyio.fail_after(BODY_LIMIT_S):
                chunk = await anext(chunks, None)
        except (TimeoutError, ClientDisconnect):
            if held:
                yield bytes(held)
            raise
        if chunk is None:
            break
        new, skipped = chunk[skipped:], max(0, skipped - len(chunk))
        if new:
            await heard()
        held += new
        if len(held) >= BLOCK:
            yield bytes(held)
            held.clear()
    if held:
        yield bytes(held)
