"""import_audience with the path of a file, CSV or XLSX.

A file is uploaded as it is (`file_upload.py`). From a later row on, and to a service that takes no uploads, it is sent
in parts, each after the previous one is imported.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePath
from typing import Annotated, Any

from anyio import to_thread
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from callwright.client.errors import CallwrightError
from callwright.contract.audiences import (
    AudienceImport,
    GetAudience,
    GetAudienceImport,
    ImportAudience,
    get_audience,
    get_audience_import,
    import_audience,
)
from callwright.contract.checks.counts import count_of
from callwright.contract.declaration.rows import CsvText
from callwright.list_files.unreadable import UnreadableList
from callwright.tools.arguments.arguments import narrowed
from callwright.tools.arguments.csv_parts import CsvPart, parts_of
from callwright.tools.arguments.file_arguments import PATIENCE_S
from callwright.tools.arguments.file_copy import FileCopy, copied
from callwright.tools.arguments.files import Folders
from callwright.tools.catalogue.registry import tool_named
from callwright.tools.confirmation.what_to_confirm import joining, rows_in
from callwright.tools.references.looked_up import looked_up
from callwright.tools.replies.asking import asked_plainly
from callwright.tools.replies.errors import explained_to
from callwright.tools.replies.waiting_for_imports import CsvToImportWaiting, ended
from callwright.tools.runtime.added_numbers import RowSettings
from callwright.tools.runtime.confirmation import Confirmation
from callwright.tools.runtime.tool import Projection, Reply, Tool, data_of, projected
from callwright.tools.runtime.tool_context import ToolContext
from callwright.tools.serving.file_upload import CallLimits, rows_of, uploaded
from callwright.tools.wording.cleaning import cleaned
from callwright.tools.wording.text import lines, shortened

_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 1.0
_GROWTH = 1.5
_PARTS_SHOWN = 20
_OPEN = ("uploading", "pending", "importing")
_COUNTS = ("added", "invalid", "duplicates")


class ImportAudienceFile(CsvToImportWaiting):
    """A file to import: CSV as text, or CSV or XLSX by its path."""

    csv: CsvText | None = None  # pyright: ignore[reportIncompatibleVariableOverride]  # one of the two is checked below
    path: Annotated[
        str | None, Field(min_length=1, max_length=4_096, description="In place of csv: a CSV or XLSX file.")
    ] = None
    from_row: Annotated[int, Field(ge=1, description="With path: the first data row to import.")] = 1
    content: Annotated[
        str | None, Field(description="What stands in the file a person agreed to; set by the confirmation alone.")
    ] = None


@dataclass
class _SentParts:
    """The parts sent so far, and the state of their imports."""

    name: str
    parts: list[CsvPart] = field(default_factory=list[CsvPart])
    imports: list[AudienceImport] = field(default_factory=list[AudienceImport])

    @property
    def rows(self) -> str:
        """The state of the rows, by their imports: added, refused as a whole, not yet known."""
        sent = list(zip(self.parts, self.imports, strict=True))
        nothing = [(part, found) for part, found in sent if _took_nothing(found)]
        open_ones = [(part, found) for part, found in sent if found.status in _OPEN]
        taken = [one for one in sent if one not in nothing and one not in open_ones]
        said = [
            self._taken(taken) if taken else None,
            f"Nothing of rows {self._range(nothing)} went in." if nothing else None,
            f"Rows {self._range(open_ones)} are being imported." if open_ones else None,
        ]
        return " ".join(filter(None, said)) or f"Nothing of {self.name} went in."

    def _taken(self, sent: Sequence[tuple[CsvPart, AudienceImport]]) -> str:
        added, invalid, duplicates = (sum(getattr(found, name) for _, found in sent) for name in _COUNTS)
        if all(found.status == "completed" for _, found in sent):
            return f"Rows {self._range(sent)} went in."
        return f"Of rows {self._range(sent)} {added:,} went in, {invalid:,} were invalid, {duplicates:,} duplicates."

    def _range(self, sent: Sequence[tuple[CsvPart, AudienceImport]]) -> str:
        return f"{sent[0][0].first_row:,} to {sent[-1][0].last_row:,} of {self.name}"


def _took_nothing(found: AudienceImport) -> bool:
    return not found.added and (found.status == "failed" or (found.invalid > 0 and found.invalid == found.total_rows))


def import_tool(folders: Folders, patience_s: float = PATIENCE_S) -> Tool:
    """`import_audience` that also takes the path of a file in these folders.

    After about `patience_s` a call ends, even within a file.
    """
    tool = tool_named(import_audience.name)
    return replace(
        tool,
        input_model=ImportAudienceFile,
        handler=partial(_imported, tool, folders, patience_s),
        confirmation=partial(_confirmation, folders),
        hidden=tool.hidden | {"content"},
    )


async def _confirmation(folders: Folders, context: ToolContext, asked: ImportAudienceFile) -> Confirmation | None:
    """What a person has to confirm: how many people of the file join which campaigns."""
    _check_one(asked)
    if asked.path is None:
        return await joining(context, asked.id, lambda: rows_in(asked.csv or ""))
    try:
        with await to_thread.run_sync(copied, folders, asked.path) as file:
            reads = await _reads(context, asked)
            count = rows_of if asked.from_row == 1 else partial(_rows, from_row=asked.from_row)
            confirmation = await joining(context, asked.id, lambda: count(file, reads))
    except UnreadableList as error:
        raise _unreadable(error, _sent_of(asked.path)) from error
    return (
        None if confirmation is None else replace(confirmation, pinned={**confirmation.pinned, "content": file.digest})
    )


def _check_one(asked: ImportAudienceFile) -> None:
    if (asked.csv is None) == (asked.path is None):
        raise ToolError("Invalid arguments: path: give either the path of a file, or its text as csv.")


async def _imported(
    tool: Tool, folders: Folders, patience_s: float, context: ToolContext, asked: ImportAudienceFile
) -> Reply:
    _check_one(asked)
    if asked.path is None:
        return await (tool.handler(context, asked) if tool.handler else asked_plainly(tool, context, asked))
    wait_s = float(asked.wait_seconds) if "wait_seconds" in asked.model_fields_set else patience_s
    deadline = context.session.clock.monotonic() + max(wait_s, patience_s)
    sent = _sent_of(asked.path)
    try:
        with await to_thread.run_sync(copied, folders, asked.path) as file:
            if asked.content not in (None, file.digest):
                raise ToolError(f"The file has changed since the person was asked: nothing of {sent.name} went in.")
            reads = await _reads(context, asked)
            if asked.from_row == 1:
                limits = CallLimits(deadline, wait_s)
                reply = await uploaded(context, asked, file, name=sent.name, reads=reads, limits=limits)
                if reply is not None:
                    return reply
            await to_thread.run_sync(_rows, file, reads, asked.from_row)  # checks all of it before the first is sent
            with closing(_parts(file, reads, asked.from_row)) as parts:
                next_row = await _send(tool, context, asked, parts, file.size, sent, deadline)
            if next_row is None:
                sent.imports[-1] = await ended(
                    context, sent.imports[-1], min(wait_s, deadline - context.session.clock.monotonic())
                )
            return _reply(tool, context, sent, next_row=next_row)
    except UnreadableList as error:
        raise _unreadable(error, sent) from error


def _sent_of(path: str) -> _SentParts:
    return _SentParts(shortened(cleaned(PurePath(path).name), 80))


def _unreadable(error: UnreadableList, sent: _SentParts) -> ToolError:
    return ToolError(f"Invalid arguments: path: {error}. {sent.rows}")


async def _reads(context: ToolContext, asked: ImportAudienceFile) -> RowSettings:
    """The audience's column and country of numbers, which help to find the sheet and the encoding of the file."""
    found = await looked_up(context, get_audience, GetAudience(id=asked.id))
    column, country = found.get("phone_column"), found.get("default_country")
    return RowSettings(column if isinstance(column, str) else None, country if isinstance(country, str) else None)


def _parts(file: FileCopy, reads: RowSettings, from_row: int) -> Generator[CsvPart]:
    return parts_of(file.bytes, from_row=from_row, country=reads.country, column=reads.column)


def _rows(file: FileCopy, reads: RowSettings, from_row: int) -> int:
    """The number of data rows of a file from a row on. Raises UnreadableList if any of it cannot be read."""
    return sum(part.last_row - part.first_row + 1 for part in _parts(file, reads, from_row))


async def _send(
    tool: Tool,
    context: ToolContext,
    asked: ImportAudienceFile,
    parts: Iterator[CsvPart],
    total: int,
    sent: _SentParts,
    deadline: float,
) -> int | None:
    """Sends at least one part, even after the deadline, so that every call makes progress; the row to go on with."""
    while (part := await to_thread.run_sync(next, parts, None)) is not None:
        if sent.imports:
            await _settled(context, sent, deadline)
            if context.session.clock.monotonic() >= deadline:
                return part.first_row
        sent.imports.append(await _begun(tool, context, asked, part, sent))
        sent.parts.append(part)
        await context.progress(float(part.ends_at), float(total), f"row {part.last_row:,} sent")
    return None


async def _begun(
    tool: Tool, context: ToolContext, asked: ImportAudienceFile, part: CsvPart, sent: _SentParts
) -> AudienceImport:
    question = narrowed(asked.model_copy(update={"csv": part.csv}), ImportAudience)
    try:
        # The parts of one call have one key each, so that repeating the call sends none of them twice.
        key = f"{context.key or context.session.ids()}-{part.first_row}"
        return await context.client.ask(import_audience, question, idempotency_key=key)
    except ToolError as refused:
        rows = f"rows {part.first_row:,} to {part.last_row:,}"
        raise ToolError(f"{sent.rows} Of {rows} and what follows nothing was sent: {refused}") from refused
    except CallwrightError as error:
        said = explained_to(context.session, error, tool)
        where = f"Rows {part.first_row:,} to {part.last_row:,} failed: {said}"
        raise ToolError(f"{sent.rows} {where} {_again(part.first_row)}") from error


async def _settled(context: ToolContext, sent: _SentParts, deadline: float) -> None:
    """Waits until the last import is done, so that of duplicate rows the first one in the file is kept."""
    clock, pause, last = context.session.clock, _FIRST_PAUSE_S, sent.imports[-1]
    question = GetAudienceImport(id=last.audience_id, import_id=last.id)
    part = sent.parts[-1]
    where = f"Rows {part.first_row:,} to {part.last_row:,} are import {last.id}"
    while True:
        try:
            last = await context.client.ask(get_audience_import, question)
        except CallwrightError as error:
            said = explained_to(context.session, error, tool_named(get_audience_import.name))
            raise ToolError(
                f"{sent.rows} {where}, but how it goes cannot be seen: {said} {_again(part.last_row + 1)}"
            ) from error
        sent.imports[-1] = last
        if last.status not in _OPEN:
            break
        if clock.monotonic() >= deadline:
            return
        await clock.sleep(pause)
        pause = min(pause * _GROWTH, _LONGEST_PAUSE_S)
    if last.status == "failed" or _took_nothing(last):
        why = context.hint(cleaned(last.status_reason or "")).rstrip(".") or "the service refused every row of it"
        raise ToolError(
            f"{sent.rows} {where}, and {why}. No more was sent. "
            + context.hint(
                f"get_audience_import with audience_id={last.audience_id} and import_id={last.id} says more. "
            )
            + _again(part.first_row)
        )


def _again(row: int) -> str:
    return (
        f"To go on, call again with the same path and from_row={row}. People who are there already are counted as "
        "duplicates, unless the audience has dedupe=none."
    )


def _reply(tool: Tool, context: ToolContext, sent: _SentParts, *, next_row: int | None) -> Reply:
    last = sent.imports[-1]
    data = data_of(
        projected(tool.output_model, last) if tool.output_model and issubclass(tool.output_model, Projection) else last
    )
    data["parts"] = [
        {"import_id": found.id, "first_row": part.first_row, "last_row": part.last_row}
        for part, found in zip(sent.parts, sent.imports, strict=True)
    ]
    for name in _COUNTS:
        data[name] = sum(getattr(found, name) for found in sent.imports)
    if next_row is not None:
        data["next_row"] = next_row
    return Reply(text=_words(tool, context, sent, next_row), data=data)


def _words(tool: Tool, context: ToolContext, sent: _SentParts, next_row: int | None) -> str:
    last: Any = sent.imports[-1]
    if len(sent.parts) == 1 and next_row is None:
        return lines(sent.rows, tool.reply(last, context))
    refused = [(part, found) for part, found in zip(sent.parts, sent.imports, strict=True) if found.invalid]
    hidden = len(refused) - _PARTS_SHOWN
    totals = [sum(getattr(found, name) for found in sent.imports) for name in _COUNTS]
    return lines(
        f"{sent.rows} They are {len(sent.parts)} imports, so far {totals[0]:,} added, {totals[1]:,} invalid, "
        f"{totals[2]:,} duplicates.",
        *(
            f"{found.id}: {found.invalid:,} invalid; its row 1 is row {part.first_row:,} of the file"
            for part, found in refused[:_PARTS_SHOWN]
        ),
        f"{count_of(hidden, 'more import has', 'more imports have')} invalid rows." if hidden > 0 else None,
        "The last import:",
        tool.reply(last, context),
        f"Time was up before the end of the file. {_again(next_row)}" if next_row else None,
    )
