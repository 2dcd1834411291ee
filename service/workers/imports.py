"""Imports files into audiences: which import a process works on, and how its file is read.

After a crash an import continues after the last piece that was committed; no row is added twice.
"""

import logging
from functools import partial
from typing import Any

from anyio import to_thread
from sqlalchemy import Connection, Row, bindparam, select

from callwright.contract.audiences import MAX_ROWS
from callwright.list_files.unreadable import UnreadableList
from callwright.service.campaigns.adding_people import RulesChanged, rules_of_file
from callwright.service.platform.lease import LeaseLost
from callwright.service.platform.refusals import Refusal
from callwright.service.platform.uploads import Uploads
from callwright.service.rules.list_pieces import Piece
from callwright.service.services import Services
from callwright.service.tables.schema import audiences, imports
from callwright.service.workers.absurd_files import look_through
from callwright.service.workers.file_passes import Progress, watched, while_kept
from callwright.service.workers.import_records import expired, fail
from callwright.service.workers.import_rows import PIECE, RowsOfFile
from callwright.service.workers.import_turns import Turns, take, waits
from callwright.service.workers.imported_files import ImportedFile, file_of, open_import
from callwright.service.workers.row_readers import processes_for, read_with

log = logging.getLogger(__name__)
_FIND = select(imports).where(imports.c.id == bindparam("id"))
_LOOKED_THROUGH, _OPENED, _COUNTED = 2, 4, 10
"""Percent of an import after which its bytes were looked through, it was opened, and its rows were counted."""
_AUDIENCE = select(audiences).where(audiences.c.id == bindparam("id"))


async def work_on_one(services: Services, owner: str, turns: Turns | None = None) -> bool:
    """Runs a waiting import to its end; false when none waits. Of an organization one runs at a time, and the
    organizations take turns.
    """
    turns, now_ms = Turns() if turns is None else turns, services.clock.now_ms()
    if not await services.database.read(waits, owner, now_ms):
        return False
    taken = await services.database.write(take, services, owner, turns.order())
    if taken is None:
        return False
    found: str = taken.id
    turns.has_had(taken.org_id)
    try:
        if not await services.database.write(expired, services, found, owner):
            progress = Progress()
            await while_kept(services, found, owner, progress, partial(_work, services, found, owner, progress))
    except LeaseLost:
        said = "an import is left: it has ended or was deleted, or another process works on it now"
        log.warning(said, extra={"import_id": found})
    else:
        await to_thread.run_sync(Uploads(services.settings).remove, found)
    return True


async def _work(services: Services, import_id: str, owner: str, progress: Progress) -> None:
    while True:
        row, audience = await services.database.read(_with_audience, import_id)
        if audience is None:
            raise LeaseLost(import_id)  # it was deleted with its imports
        try:
            await _read(services, row, audience, owner, progress)
        except RulesChanged:
            continue
        except UnreadableList as error:
            await services.database.write(fail, services, import_id, owner, str(error))
        except Refusal as refusal:
            await services.database.write(fail, services, import_id, owner, refusal.message.removeprefix("rows: "))
        return


def _with_audience(connection: Connection, import_id: str) -> tuple[Row[Any], Row[Any] | None]:
    row = connection.execute(_FIND, {"id": import_id}).one_or_none()
    if row is None:
        raise LeaseLost(import_id)
    return row, connection.execute(_AUDIENCE, {"id": row.audience_id}).one_or_none()


async def _read(services: Services, row: Row[Any], audience: Row[Any], owner: str, progress: Progress) -> None:
    """Reads the rows of a file and takes them, from where an earlier run stood. Raises as `RowsOfFile.take` does."""
    if row.processed:
        total: int = row.total_rows
        progress.between(row.read_percent or 0, row.read_percent or 0)
    else:
        total = await _count(services, row, audience, progress)
        progress.between(_COUNTED, _COUNTED)
    progress.has_done(0)
    with file_of(row, services.settings) as data:
        file = await to_thread.run_sync(open_import, watched(data, progress), audience)
        rules = rules_of_file(audience, file.header, file.phone_column)
        await to_thread.run_sync(file.skip, row.processed)
        rows = RowsOfFile(services, row, owner, file, rules, total, progress)
        await read_with(processes_for(total - row.processed), rules, partial(_piece, file), rows.take)


async def _piece(file: ImportedFile) -> Piece:
    return await to_thread.run_sync(file.piece, PIECE)


async def _count(services: Services, row: Row[Any], audience: Row[Any], progress: Progress) -> int:
    """How many rows a file has."""
    with file_of(row, services.settings) as data:
        progress.between(0, _LOOKED_THROUGH)
        await to_thread.run_sync(look_through, watched(data, progress))
        progress.between(_LOOKED_THROUGH, _OPENED)
        file = await to_thread.run_sync(open_import, watched(data, progress), audience)
        progress.between(_OPENED, _COUNTED)
        rows = await to_thread.run_sync(file.skip, MAX_ROWS + 1)
    if rows > MAX_ROWS:
        raise UnreadableList(f"it has more than {MAX_ROWS:,} rows; cut it in pieces")
    return rows
