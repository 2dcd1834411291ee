"""Imports files into audiences: which import a process works on, and how its file is read.

After a crash an import continues after the last piece that was committed; no row is added twice.
"""

import logging
from functools import partial
from typing import Any

from anyio import to_thread
from sqlalchemy import Connection, Row, Select, bindparam, exists, select, update

from callwright.contract.audiences import MAX_ROWS
from callwright.list_files.unreadable import UnreadableList
from callwright.service.campaigns.adding_people import RulesChanged, rules_of_file
from callwright.service.platform.clock.clock import HOUR
from callwright.service.platform.database.units import brief
from callwright.service.platform.lease import LeaseLost
from callwright.service.platform.refusals import Refusal
from callwright.service.platform.uploads import Uploads
from callwright.service.rules.list_pieces import Piece
from callwright.service.services import Services
from callwright.service.tables.import_uploads import LONGEST_IMPORT_MS
from callwright.service.tables.schema import audiences, imports
from callwright.service.tables.schema.leases import IMPORTS
from callwright.service.workers.import_records import fail, renew
from callwright.service.workers.import_rows import PIECE, RENEWED_AFTER, RowsOfFile
from callwright.service.workers.imported_files import ImportedFile, file_of, open_import
from callwright.service.workers.row_readers import processes_for, read_with

log = logging.getLogger(__name__)
_I = imports.c
_OTHER = imports.alias()
_IS_THERE = (_I.status != "uploading", _I.source_url.is_(None))
_BEGUN = update(imports).where(_I.id == bindparam("b_id")).values(status="importing")
_FIND = select(imports).where(_I.id == bindparam("id"))
_AGE = select(_I.created_at).where(_I.id == bindparam("id"))
_AUDIENCE = select(audiences).where(audiences.c.id == bindparam("id"))


async def work_on_one(services: Services, owner: str) -> bool:
    """Runs a waiting import to its end; false when none waits. Of an organization one runs at a time."""
    now_ms = services.clock.now_ms()
    if not await services.database.read(_waits, owner, now_ms):
        return False
    found = await services.database.write(_take, services, owner)
    if found is None:
        return False
    try:
        if not await services.database.write(expired, services, found, owner):
            await _work(services, found, owner)
    except LeaseLost:
        log.warning("another process works on an import now", extra={"import_id": found})
    else:
        await to_thread.run_sync(Uploads(services.settings).remove, found)
    return True


async def _work(services: Services, import_id: str, owner: str) -> None:
    while True:
        row, audience = await services.database.read(_with_audience, import_id)
        if audience is None:
            raise LeaseLost(import_id)  # it was deleted with its imports
        try:
            await _read(services, row, audience, owner)
        except RulesChanged:
            continue
        except UnreadableList as error:
            await services.database.write(fail, services, import_id, owner, str(error))
        except Refusal as refusal:
            await services.database.write(fail, services, import_id, owner, refusal.message.removeprefix("rows: "))
        return


def _with_audience(connection: Connection, import_id: str) -> tuple[Row[Any], Row[Any] | None]:
    row = connection.execute(_FIND, {"id": import_id}).one()
    return row, connection.execute(_AUDIENCE, {"id": row.audience_id}).one_or_none()


async def _read(services: Services, row: Row[Any], audience: Row[Any], owner: str) -> None:
    """Reads the rows of a file and takes them, from where an earlier run stood. Raises as `RowsOfFile.take` does."""
    total: int = row.total_rows if row.processed else await _count(services, row, audience, owner)
    with file_of(row, services.settings) as data:
        file = await to_thread.run_sync(open_import, data, audience)
        rules = rules_of_file(audience, file.header, file.phone_column)
        for begin in range(0, row.processed, RENEWED_AFTER):
            await to_thread.run_sync(file.skip, min(RENEWED_AFTER, row.processed - begin))
            await services.database.write(renew, services, row.id, owner)
        rows = RowsOfFile(services, row, owner, file, rules, total)
        await read_with(processes_for(total - row.processed), rules, partial(_piece, file), rows.take)


async def _piece(file: ImportedFile) -> Piece:
    return await to_thread.run_sync(file.piece, PIECE)


async def _count(services: Services, row: Row[Any], audience: Row[Any], owner: str) -> int:
    """How many rows a file has. Reading them takes longer than a lease, so it is renewed on the way."""
    rows = 0
    with file_of(row, services.settings) as data:
        file = await to_thread.run_sync(open_import, data, audience)
        while more := await to_thread.run_sync(file.skip, RENEWED_AFTER):
            rows += more
            if rows > MAX_ROWS:
                raise UnreadableList(f"it has more than {MAX_ROWS:,} rows; cut it in pieces")
            await services.database.write(renew, services, row.id, owner)
    return rows


def _waiting(connection: Connection, now_ms: int) -> Select[tuple[str]]:
    """The oldest import that has not ended and whose file is there, of an organization of which no other import is
    being worked on: a large list delays no other organization, and of one audience the first file is read first. A file
    that is being fetched is not there yet, and delays nobody.
    """
    other = (
        exists()
        .where(_OTHER.c.org_id == _I.org_id, _OTHER.c.id != _I.id, _OTHER.c.completed_at.is_(None))
        .where(_OTHER.c.source_url.is_(None), IMPORTS.held(connection, _OTHER, now_ms))
    )
    return select(_I.id).where(_I.completed_at.is_(None), *_IS_THERE, ~other).order_by(_I.created_at).limit(1)


@brief
def _waits(connection: Connection, owner: str, now_ms: int) -> bool:
    waiting = _waiting(connection, now_ms).where(IMPORTS.free(connection, owner, now_ms))
    return connection.execute(waiting).first() is not None


def _take(connection: Connection, services: Services, owner: str) -> str | None:
    """Leases an import that waits and is not locked; returns its id, or None."""
    now_ms = services.clock.now_ms()
    until_ms = now_ms + services.settings.deployment_lease_ms
    taken = IMPORTS.take(connection, _waiting(connection, now_ms), owner, now_ms, until_ms)
    for row in taken:
        connection.execute(_BEGUN, {"b_id": row.id})
    return taken[0].id if taken else None


def expired(connection: Connection, services: Services, import_id: str, owner: str) -> bool:
    """Whether the import is too old; then it fails. Rows that it has added stay."""
    row = connection.execute(_AGE, {"id": import_id}).one()
    created_at: int = row.created_at
    if services.clock.now_ms() < created_at + LONGEST_IMPORT_MS:
        return False
    hours = LONGEST_IMPORT_MS // HOUR
    fail(connection, services, import_id, owner, f"it has not ended within {hours} hours; import the file again")
    return True
