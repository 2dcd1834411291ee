"""Downloads of recordings: headers first, then the bytes in chunks, all at once, or into a file."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from os import PathLike
from re import fullmatch
from types import TracebackType

import anyio

from callwright.client.errors import AnswerTooLarge, InvalidArguments, ServiceProblem, UnexpectedAnswer
from callwright.client.request import WireRequest
from callwright.client.transport import Stream, Transport
from callwright.contract.declaration.operation import AnyOperation

_SAVE_BYTES = 1024 * 1024 * 1024
_CLEAN_UP_S = 5.0


@dataclass(frozen=True)
class ContentRange:
    """The range of bytes that an answer holds, both ends included. `total_bytes` is None when it is not stated."""

    first_byte: int
    last_byte: int
    total_bytes: int | None


class Download:
    """An open answer of bytes. It can be read once, and only inside its context.

    `status` is 200 for all bytes, 206 for the range asked for, and 304, with no bytes, when `if_none_match` still
    matches. `size` is the number of bytes of this answer, None when the service does not state it. A service may ignore
    a range: then `content_range` is None and all bytes come. `headers` are the answer's, by name in lower case.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream, self._begun = stream, False
        self.status = stream.status
        self.headers = stream.headers
        self.media_type = stream.headers.get("content-type", "").partition(";")[0].strip().lower()
        self.etag = stream.headers.get("etag")
        self.size = _size(stream.headers.get("content-length"))
        self.content_range = _content_range(stream.headers.get("content-range"))
        self._encoded = "content-encoding" in stream.headers

    async def aiter_bytes(self, max_bytes: int | None = None) -> AsyncGenerator[bytes, None]:
        """The bytes in chunks as they arrive, at most `max_bytes` in all.

        Raises:
            AnswerTooLarge: there are more. Nothing is read if `size` already says so.
            ServiceTimeout, ServiceUnreachable: no more bytes came.
            UnexpectedAnswer: the answer ended before `size` bytes.
        """
        if self._begun:
            raise RuntimeError("a download can be read only once")
        self._begun, received = True, 0
        _check_bound(self.size or 0, max_bytes, self.status)
        while (chunk := await self._stream.next_chunk()) is not None:
            received += len(chunk)
            _check_bound(received, max_bytes, self.status)
            yield chunk
        if self.size is not None and received != self.size and not self._encoded and self.status != 304:
            raise UnexpectedAnswer(f"the answer ended after {received} of {self.size} bytes", status=self.status)

    async def read(self, max_bytes: int) -> bytes:
        """All bytes, if there are at most `max_bytes`.

        Raises:
            AnswerTooLarge: there are more.
        """
        body = bytearray()
        async for chunk in self.aiter_bytes(max_bytes):
            body += chunk
        return bytes(body)

    async def save(self, path: str | PathLike[str], *, max_bytes: int = _SAVE_BYTES) -> int:
        """Writes the bytes to a file, all or nothing, and replaces an existing file. Returns their number.

        Until it is complete, the bytes are in a file beside it, whose name ends with `.part`.

        Raises:
            AnswerTooLarge: there are more than `max_bytes`, by default 1 GiB.
        """
        target = anyio.Path(path)
        partial = target.with_name(f"{target.name}.part")
        written = 0
        try:
            async with await anyio.open_file(partial, "wb") as file:
                async for chunk in self.aiter_bytes(max_bytes):
                    written += await file.write(chunk)
            await partial.replace(target)
        except BaseException:
            with anyio.move_on_after(_CLEAN_UP_S, shield=True):
                await partial.unlink(missing_ok=True)
            raise
        return written


class DownloadRequest:
    """A download that has not begun: `async with` sends the request and yields the `Download`."""

    def __init__(self, transport: Transport, operation: AnyOperation, wire: WireRequest) -> None:
        self._transport, self._operation, self._wire = transport, operation, wire
        self._open: AbstractAsyncContextManager[Stream] | None = None

    def asking(
        self, *, range_bytes: tuple[int, int | None] | None = None, if_none_match: str | None = None
    ) -> "DownloadRequest":
        """The same download of a range only, or only if it changed.

        `range_bytes` is the first and the last byte, both counted from 0 and both included; None as the last one
        means to the end. `if_none_match` is an `etag` seen before.

        Raises:
            InvalidArguments: the range is empty, or the tag is not valid in a header.
        """
        wire = self._wire.with_headers(range=_range(range_bytes), if_none_match=_tag(if_none_match))
        return DownloadRequest(self._transport, self._operation, wire)

    async def __aenter__(self) -> Download:
        if self._open is not None:
            raise RuntimeError("this download is open already")
        deprecations = self._transport.deprecations
        try:
            download = Download(await self._transport.compat.send(self._operation, self._wire, self._opened))
        except ServiceProblem as problem:
            deprecations.check(self._operation.name, problem.headers)
            raise
        if download.status != 304 and download.media_type not in self._operation.media_types:
            await self.__aexit__(None, None, None)
            message = f"the answer to {self._operation.name} is of type {download.media_type[:100] or 'unknown'!r}"
            raise UnexpectedAnswer(message, status=download.status)
        deprecations.check(self._operation.name, download.headers)
        return download

    async def _opened(self, wire: WireRequest) -> Stream:
        opening = self._transport.stream(wire)
        stream = await opening.__aenter__()
        self._open = opening
        return stream

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        opening, self._open = self._open, None
        if opening is not None:
            await opening.__aexit__(kind, error, trace)


def _check_bound(received: int, max_bytes: int | None, status: int) -> None:
    if max_bytes is not None and received > max_bytes:
        raise AnswerTooLarge(limit_bytes=max_bytes, status=status)


def _size(value: str | None) -> int | None:
    return int(value) if value and fullmatch("[0-9]{1,15}", value) else None


def _content_range(value: str | None) -> ContentRange | None:
    match = fullmatch(r"bytes ([0-9]{1,15})-([0-9]{1,15})/([0-9]{1,15}|\*)", value or "")
    if match is None:
        return None
    first, last, total = match.groups()
    return ContentRange(int(first), int(last), None if total == "*" else int(total))


def _range(range_bytes: tuple[int, int | None] | None) -> str | None:
    if range_bytes is None:
        return None
    first, last = range_bytes
    if first < 0 or (last is not None and last < first):
        raise InvalidArguments("range_bytes must be the first and the last byte, counted from 0")
    return f"bytes={first}-{'' if last is None else last}"


def _tag(etag: str | None) -> str | None:
    if etag is not None and not (etag and all(" " <= character <= "~" for character in etag)):
        raise InvalidArguments("if_none_match must consist of ASCII characters")
    return etag
