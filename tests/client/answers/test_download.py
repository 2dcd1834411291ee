from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import pytest

from callwright.client import (
    AnswerTooLarge,
    ContentRange,
    InvalidArguments,
    InvalidRequest,
    ServiceTimeout,
    ServiceUnreachable,
    UnexpectedAnswer,
)
from callwright.client.transport import AsyncByteStream, Request, Response, httpx
from callwright.contract.calls.calls import GetRecording, get_recording
from tests.client.scripted import ScriptedService, client_of, nested, scripted

AUDIO = bytes(range(256)) * 40
RECORDING = {"Content-Type": "audio/mpeg; rate=8000", "ETag": '"v1"'}


class Pieces(AsyncByteStream):
    """A body in pieces, which may fail or stall at its end. Counts what was taken."""

    def __init__(self, pieces: list[bytes], end: Exception | None = None, *, stalls: bool = False) -> None:
        self.pieces, self.end, self.stalls = pieces, end, stalls
        self.taken, self.closed = 0, False

    async def __aiter__(self) -> AsyncGenerator[bytes, None]:
        for piece in self.pieces:
            self.taken += 1
            yield piece
        if self.stalls:
            await anyio.sleep_forever()
        if self.end is not None:
            raise self.end

    async def aclose(self) -> None:
        self.closed = True


def names_in(folder: Path) -> list[str]:
    """The names of the files in a folder."""
    return sorted(entry.name for entry in folder.iterdir())


def recording(request: Request) -> Response:
    """Serves the audio whole, in part, or not at all when the tag still holds."""
    if request.headers.get("if-none-match") == '"v1"':
        return Response(304, headers={"ETag": '"v1"'})
    wanted = request.headers.get("range")
    if wanted is None:
        return Response(200, headers=RECORDING, content=AUDIO)
    first, _, last = wanted.removeprefix("bytes=").partition("-")
    part = AUDIO[int(first) : int(last) + 1 if last else None]
    if not part:
        return nested(416, "invalid_field", headers={"Content-Range": f"bytes */{len(AUDIO)}"})
    of = f"bytes {first}-{int(first) + len(part) - 1}/{len(AUDIO)}"
    return Response(206, headers=RECORDING | {"Content-Range": of}, content=part)


async def test_a_recording_tells_what_it_is_and_gives_its_bytes() -> None:
    async with scripted(recording) as (service, client):
        async with client.calls.get_recording(call_uuid="cal_1", format="mp3") as download:
            assert (download.status, download.media_type, download.size) == (200, "audio/mpeg", len(AUDIO))
            assert (download.etag, download.content_range) == ('"v1"', None)
            assert b"".join([chunk async for chunk in download.aiter_bytes()]) == AUDIO
    assert service.only.url.raw_path == b"/v1/calls/cal_1/recording?format=mp3"
    assert service.only.headers["accept-encoding"] == "identity"
    assert "audio/mpeg" in service.only.headers["accept"]
    assert "range" not in service.only.headers


@pytest.mark.parametrize(
    ("range_bytes", "header", "first", "last"),
    [((0, 99), "bytes=0-99", 0, 99), ((10_000, None), "bytes=10000-", 10_000, 10_239), ((5, 5), "bytes=5-5", 5, 5)],
)
async def test_a_range_gives_its_bytes_and_their_place(
    range_bytes: tuple[int, int | None], header: str, first: int, last: int
) -> None:
    async with scripted(recording) as (service, client):
        async with client.calls.get_recording(call_uuid="cal_1").asking(range_bytes=range_bytes) as download:
            assert download.status == 206
            assert download.content_range == ContentRange(first, last, len(AUDIO))
            assert await download.read(10_000) == AUDIO[first : last + 1]
    assert service.only.headers["range"] == header


async def test_a_recording_that_did_not_change_gives_304_and_no_bytes() -> None:
    async with client_of(recording) as client:
        async with client.calls.get_recording(call_uuid="cal_1").asking(if_none_match='"v1"') as download:
            assert (download.status, download.etag) == (304, '"v1"')
            assert await download.read(10) == b""


async def test_any_operation_that_downloads_takes_range_and_tag() -> None:
    service = ScriptedService(recording)
    asked = GetRecording(call_uuid="cal_1")
    async with client_of(service) as client:
        async with client.open(get_recording, asked, range_bytes=(0, 3), if_none_match='"v0"') as download:
            assert await download.read(4) == AUDIO[:4]
    assert service.only.headers["if-none-match"] == '"v0"'


async def test_a_range_beyond_the_end_is_a_problem() -> None:
    async with client_of(recording) as client:
        with pytest.raises(InvalidRequest) as caught:
            async with client.calls.get_recording(call_uuid="cal_1").asking(range_bytes=(99_999, None)):
                raise AssertionError("there is nothing to open")
    assert caught.value.status == 416


@pytest.mark.parametrize("range_bytes", [(-1, None), (-1, 4), (5, 4)])
async def test_a_range_without_bytes_is_refused(range_bytes: tuple[int, int | None]) -> None:
    async with client_of(recording) as client:
        with pytest.raises(InvalidArguments, match="range_bytes"):
            client.calls.get_recording(call_uuid="cal_1").asking(range_bytes=range_bytes)


@pytest.mark.parametrize("etag", ["", '"a"\r\nX: y', '"é"'])
async def test_a_tag_that_cannot_stand_in_a_header_is_refused(etag: str) -> None:
    async with client_of(recording) as client:
        with pytest.raises(InvalidArguments, match="if_none_match"):
            client.calls.get_recording(call_uuid="cal_1").asking(if_none_match=etag)


async def test_leaving_early_closes_the_answer_without_reading_the_rest() -> None:
    body = Pieces([b"x" * 100] * 1000)
    async with client_of(lambda request: Response(200, headers=RECORDING, stream=body)) as client:
        async with client.calls.get_recording(call_uuid="cal_1") as download:
            async for chunk in download.aiter_bytes():
                assert len(chunk) == 100
                break
    assert (body.taken, body.closed) == (1, True)


async def test_an_error_inside_the_context_closes_the_answer_and_passes() -> None:
    body = Pieces([b"x"])
    async with client_of(lambda request: Response(200, headers=RECORDING, stream=body)) as client:
        with pytest.raises(ZeroDivisionError):
            async with client.calls.get_recording(call_uuid="cal_1"):
                raise ZeroDivisionError
    assert body.closed


async def test_reading_is_bound_by_what_arrives() -> None:
    body = Pieces([b"x" * 100] * 1000)
    async with client_of(lambda request: Response(200, headers=RECORDING, stream=body)) as client:
        async with client.calls.get_recording(call_uuid="cal_1") as download:
            assert download.size is None
            with pytest.raises(AnswerTooLarge) as caught:
                await download.read(250)
    assert caught.value.limit_bytes == 250
    assert (body.taken, body.closed) == (3, True)


async def test_a_size_above_the_bound_is_refused_before_reading() -> None:
    body = Pieces([b"x" * 100])
    headers = RECORDING | {"Content-Length": "100"}
    async with client_of(lambda request: Response(200, headers=headers, stream=body)) as client:
        async with client.calls.get_recording(call_uuid="cal_1") as download:
            with pytest.raises(AnswerTooLarge):
                await download.read(99)
    assert body.taken == 0


async def test_a_download_is_read_once() -> None:
    async with client_of(recording) as client:
        async with client.calls.get_recording(call_uuid="cal_1") as download:
            await download.read(100_000)
            with pytest.raises(RuntimeError, match="only once"):
                await download.read(100_000)


async def test_an_answer_that_ends_early_is_not_taken_for_the_whole() -> None:
    headers = RECORDING | {"Content-Length": "200"}
    async with client_of(lambda request: Response(200, headers=headers, stream=Pieces([b"x" * 100]))) as client:
        async with client.calls.get_recording(call_uuid="cal_1") as download:
            with pytest.raises(UnexpectedAnswer, match="after 100 of 200 bytes"):
                await download.read(1000)


async def test_a_connection_that_breaks_on_the_way_is_an_error_of_this_client() -> None:
    body = Pieces([b"x"], httpx.ReadError("x"))
    async with client_of(lambda request: Response(200, headers=RECORDING, stream=body)) as client:
        async with client.calls.get_recording(call_uuid="cal_1") as download:
            with pytest.raises(ServiceUnreachable) as caught:
                await download.read(1000)
    assert caught.value.retryable
    assert body.closed


async def test_bytes_that_stop_coming_time_out() -> None:
    body = Pieces([b"x"], stalls=True)
    with anyio.fail_after(5):
        async with client_of(lambda request: Response(200, headers=RECORDING, stream=body), timeout_s=0.01) as client:
            async with client.calls.get_recording(call_uuid="cal_1") as download:
                with pytest.raises(ServiceTimeout):
                    await download.read(1000)
    assert body.closed


async def test_saving_writes_the_file_whole(tmp_path: Path) -> None:
    target = tmp_path / "call.mp3"
    target.write_bytes(b"older")
    async with client_of(recording) as client:
        async with client.calls.get_recording(call_uuid="cal_1") as download:
            assert await download.save(target) == len(AUDIO)
    assert target.read_bytes() == AUDIO
    assert names_in(tmp_path) == ["call.mp3"]


@pytest.mark.parametrize("end", [httpx.ReadError("x"), None], ids=["broken", "too large"])
async def test_saving_that_fails_leaves_what_was_there(tmp_path: Path, end: Exception | None) -> None:
    target = tmp_path / "call.mp3"
    target.write_bytes(b"older")
    body = Pieces([b"x" * 10] * 3, end)
    async with client_of(lambda request: Response(200, headers=RECORDING, stream=body)) as client:
        async with client.calls.get_recording(call_uuid="cal_1") as download:
            with pytest.raises((ServiceUnreachable, AnswerTooLarge)):
                await download.save(target, max_bytes=1000 if end else 15)
    assert target.read_bytes() == b"older"
    assert names_in(tmp_path) == ["call.mp3"]


@pytest.mark.parametrize("headers", [{"Content-Type": "text/html"}, {}])
async def test_bytes_of_another_type_are_refused_and_closed(headers: dict[str, str]) -> None:
    body = Pieces([b"<html>"])
    async with client_of(lambda request: Response(200, headers=headers, stream=body)) as client:
        with pytest.raises(UnexpectedAnswer, match="get_recording"):
            async with client.calls.get_recording(call_uuid="cal_1"):
                raise AssertionError("this must not open")
    assert body.closed


async def test_a_download_that_is_open_cannot_be_opened_again() -> None:
    async with client_of(recording) as client:
        opening = client.calls.get_recording(call_uuid="cal_1")
        async with opening:
            with pytest.raises(RuntimeError, match="open already"):
                await opening.__aenter__()
        async with opening as download:
            assert await download.read(100_000) == AUDIO
