"""import_audience with the path of a file: uploaded as it is to the address of its import, which is then waited for.

Where a connection breaks or the time is over, the upload goes on from what has arrived, also in a later call.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from anyio import to_thread
from mcp.server.mcpserver.exceptions import ToolError

from callwright.client.errors import (
    CallwrightError,
    InvalidRequest,
    NotFound,
    ServiceFailed,
    ServiceTimeout,
    ServiceUnreachable,
)
from callwright.contract.audiences import (
    AudienceImport,
    GetAudienceImport,
    ImportAudience,
    get_audience_import,
    import_audience,
)
from callwright.list_files.reading import open_list
from callwright.list_files.unreadable import UnreadableList
from callwright.tools.arguments.arguments import narrowed
from callwright.tools.arguments.csv_to_import import CsvToImport
from callwright.tools.arguments.file_copy import FileCopy
from callwright.tools.catalogue.audience_rows import shown_import
from callwright.tools.catalogue.registry import tool_named
from callwright.tools.replies.errors import explained_to
from callwright.tools.replies.waiting_for_imports import OPEN
from callwright.tools.runtime.added_numbers import BATCH_ROWS, RowSettings, numbers_in_file, row_settings
from callwright.tools.runtime.open_uploads import OpenUpload
from callwright.tools.runtime.tool import Reply
from callwright.tools.runtime.tool_context import ToolContext
from callwright.tools.wording.text import lines, moment

_READ_FIRST_BYTES = 900_000
"""Up to this size a file is read to its end before it is sent, so that what is wrong is told at once."""
PART_BYTES = 2_000_000
MOST_FAILURES = 5
"""How often in a row a part may fail before the call ends."""
_READ_SHARE, _SENT_SHARE = 10.0, 30.0
"""Percent of the progress once the file is read, and once it is uploaded; the import is the rest."""
_FIRST_PAUSE_S, _LONGEST_PAUSE_S, _GROWTH = 0.1, 2.0, 1.5
_TOLD_IN_BYTES = 100_000
_TIME_WAS_UP = "Time was up: call again with the same path, and it goes on from there."


class CallLimits(NamedTuple):
    """When a call ends at the latest, by the monotonic clock, and how long it waits for the import after the upload."""

    deadline: float
    wait_s: float


@dataclass
class _Told:
    """What the caller was told of the progress, in percent: it must only grow."""

    context: ToolContext
    percent: float = 0.0

    async def say(self, percent: float, words: str) -> None:
        if percent > self.percent:
            self.percent = percent
            await self.context.progress(percent, 100.0, words)


def rows_of(file: FileCopy, reads: RowSettings) -> int:
    """The number of data rows of a file. Raises `UnreadableList` if it cannot be read to its end, or has none."""
    if not (rows := sum(1 for _ in open_list(file.bytes, country=reads.country, column=reads.column).rows)):
        raise UnreadableList("it has no row but the header")
    return rows


async def uploaded(
    context: ToolContext, asked: CsvToImport, file: FileCopy, *, name: str, reads: RowSettings, limits: CallLimits
) -> Reply | None:
    """Uploads a file and waits for its import within the limits; the answer says how far it is.

    None where another service takes no uploads; nothing was sent to it then.

    Raises:
        ToolError: the file is not uploaded; the text says why, and what to do.
        UnreadableList: the file cannot be read. Nothing was sent.
    """
    told, uploads = _Told(context), context.session.open_uploads
    upload = uploads.find(asked.id, file.digest, now_s=context.session.clock.time())
    goes_on = upload is not None
    if upload is None:
        if context.session.masks:
            await _count_numbers(context, asked.id, file, name, told, limits.deadline)
        else:
            looked = rows_of if file.size <= _READ_FIRST_BYTES else _opened
            await to_thread.run_sync(looked, file, reads)
        upload = await _begun(context, asked)
        if upload is None:
            return None
        uploads.keep(file.digest, upload)
    try:
        arrived = await _sent(context, upload, file, told, deadline=limits.deadline, asks_first=goes_on)
    except CallwrightError as error:
        upload = uploads.latest(file.digest, upload)
        if isinstance(error, NotFound):
            uploads.end(file.digest, upload)
        raise _failed(context, error, upload, name) from error
    if arrived < file.size:
        upload = uploads.latest(file.digest, upload)
        reply = await shown_import(context, await _look(context, upload))
        text = f"{_mb(arrived)} of {_mb(file.size)} MB of {name} are uploaded. {_TIME_WAS_UP} {_blocks(upload)}"
        return Reply(text=lines(text, reply.text), data=reply.data, untrusted=reply.untrusted)
    uploads.end(file.digest, upload)
    until = min(limits.deadline, context.session.clock.monotonic() + limits.wait_s)
    reply = await shown_import(context, await _ended(context, upload, told, until))
    text = lines(f"{name} is uploaded, {_size(file.size)}.", reply.text)
    return Reply(text=text, data=reply.data, untrusted=reply.untrusted)


async def _count_numbers(
    context: ToolContext, audience_id: str, file: FileCopy, name: str, told: _Told, deadline: float
) -> None:
    """Counts the numbers of the file among those that the session adds: they are hidden, and must not be guessed. Rows
    that an earlier call looked at are passed over.
    """
    uploads, guesses = context.session.open_uploads, context.session.guesses
    rows = uploads.rows_looked_at(audience_id, file.digest)
    batches = numbers_in_file(file.bytes, await row_settings(context.client, audience_id), after=rows)
    while (numbers := await to_thread.run_sync(_next, batches)) is not None:
        await to_thread.run_sync(guesses.note_added, numbers)
        rows += BATCH_ROWS
        uploads.look_at(audience_id, file.digest, rows)
        await told.say(_READ_SHARE * min(file.bytes.tell() / file.size, 1.0), f"about {rows:,} rows looked at")
        if context.session.clock.monotonic() >= deadline:
            raise ToolError(f"About {rows:,} rows of {name} were looked at; nothing is sent yet. {_TIME_WAS_UP}")
    if not rows:
        raise UnreadableList("it has no row but the header")


def _opened(file: FileCopy, reads: RowSettings) -> None:
    open_list(file.bytes, country=reads.country, column=reads.column)


def _next(batches: Iterator[list[str]]) -> list[str] | None:
    return next(batches, None)


async def _begun(context: ToolContext, asked: CsvToImport) -> OpenUpload | None:
    key = f"{context.key or context.session.ids()}-upload"
    try:
        begun = await context.client.ask(import_audience, narrowed(asked, ImportAudience), idempotency_key=key)
    except InvalidRequest as error:
        if context.session.remote and not isinstance(error, NotFound) and error.status in (400, 422):
            return None
        raise
    if begun.upload_url is None or begun.expires_at is None:
        return None
    return OpenUpload(begun, begun.upload_url, begun.expires_at)


async def _sent(
    context: ToolContext, upload: OpenUpload, file: FileCopy, told: _Told, *, deadline: float, asks_first: bool
) -> int:
    """Sends what has not arrived, at least one part of it; how many bytes have arrived at the end or the deadline.

    Raises:
        CallwrightError: the service refuses it, or it failed too often in a row.
    """
    clock = context.session.clock
    begun_s, arrived, before, failures, pause = clock.monotonic(), 0, 0, 0, _FIRST_PAUSE_S
    asks = asks_first
    while True:
        content = b"" if asks else await to_thread.run_sync(_block, file, arrived)
        try:
            state = await context.client.send_part(upload.url, content, begin=arrived, total=file.size)
        except NotFound:
            if (await _look(context, upload)).status in ("uploading", "failed"):
                raise
            return file.size  # the answer to the last part was lost
        except (ServiceTimeout, ServiceUnreachable, ServiceFailed):
            failures += 1
            if failures > MOST_FAILURES or clock.monotonic() >= deadline:
                raise
            await clock.sleep(pause)
            pause, asks = min(pause * _GROWTH, _LONGEST_PAUSE_S), True
            continue
        if state.expires_at is not None:
            context.session.open_uploads.wait_until(file.digest, upload, state.expires_at)
        if asks:
            before += state.bytes_received - arrived
        arrived, asks = state.bytes_received, False
        if state.is_complete:
            await told.say(_SENT_SHARE, f"{_size(file.size)} uploaded; its rows are counted")
            return file.size
        if content:
            failures, pause = 0, _FIRST_PAUSE_S
            await told.say(*_how_far(arrived, file.size, arrived - before, clock.monotonic() - begun_s))
            if clock.monotonic() >= deadline:
                return arrived


def _block(file: FileCopy, begin: int) -> bytes:
    file.bytes.seek(begin)
    return file.bytes.read(PART_BYTES)


def _how_far(arrived: int, total: int, sent: int, took_s: float) -> tuple[float, str]:
    """How much has arrived: percent of the progress, and in words with the speed and the time left."""
    words = f"{_mb(arrived)} of {_mb(total)} MB uploaded"
    if took_s > 0 and sent > 0:
        words += f", {_mb(sent / took_s)} MB a second, about {(total - arrived) * took_s / sent:,.0f} s left"
    return _READ_SHARE + (_SENT_SHARE - _READ_SHARE) * arrived / total, words


async def _look(context: ToolContext, upload: OpenUpload) -> AudienceImport:
    return await context.client.ask(
        get_audience_import, GetAudienceImport(id=upload.begun.audience_id, import_id=upload.begun.id)
    )


async def _ended(context: ToolContext, upload: OpenUpload, told: _Told, deadline: float) -> AudienceImport:
    """The import once it has ended, or as it is at the deadline. It goes on by itself, whoever looks."""
    clock, pause, found = context.session.clock, _FIRST_PAUSE_S, upload.begun
    while True:
        with suppress(CallwrightError):  # as an error it would be sent again, though all of it is there
            found = await _look(context, upload)
        if found.status not in OPEN or (left := deadline - clock.monotonic()) <= 0:
            break
        if found.total_rows:
            await told.say(_SENT_SHARE + (100 - _SENT_SHARE) * found.processed / found.total_rows, _rows_read(found))
        await clock.sleep(min(pause, left))
        pause = min(pause * _GROWTH, _LONGEST_PAUSE_S)
    if found.status not in OPEN:
        await told.say(100.0, _rows_read(found))
    return found


def _rows_read(found: AudienceImport) -> str:
    words = f"{found.processed:,} of {found.total_rows or 0:,} rows read"
    if found.rows_per_second:
        words += f", {found.rows_per_second:,} a second"
    return words if found.seconds_left is None else f"{words}, about {found.seconds_left:,} s left"


def _failed(context: ToolContext, error: CallwrightError, upload: OpenUpload, name: str) -> ToolError:
    if isinstance(error, NotFound):
        said = "The address for it is no longer valid: the import waited too long, was ended, or its key was revoked."
        return ToolError(f"{name} is not uploaded. {said} Call again with the same path to begin anew.")
    said = explained_to(context.session, error, tool_named(import_audience.name))
    return ToolError(
        f"{name} is not uploaded: {said} Call again with the same path, and it goes on from what has arrived. "
        f"{_blocks(upload)}"
    )


def _blocks(upload: OpenUpload) -> str:
    return (
        f"The import {upload.begun.id} waits for its file until {moment(upload.expires_at)} and fails after that. "
        "Until it has ended no campaign of the audience starts."
    )


def _size(size: int) -> str:
    return f"{size:,} bytes" if size < _TOLD_IN_BYTES else f"{_mb(size)} MB"


def _mb(size: float) -> str:
    return f"{size / 1_000_000:,.1f}"
