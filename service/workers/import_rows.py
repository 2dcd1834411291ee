"""Takes the rows of a file into an audience: piece by piece, each in one transaction with the progress of the import.

Nothing of a file is taken if more than half of its rows are bad, for example because its numbers are in another column:
the few rows that can be read would join running campaigns.
"""

import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

from anyio import to_thread
from sqlalchemy import Connection, Row, delete, update
from sqlalchemy.exc import DBAPIError

from callwright.service.campaigns.adding_people import add_read
from callwright.service.campaigns.spending_cap import lock_spending_key
from callwright.service.platform.database.bulk import BulkInsert
from callwright.service.platform.lease import LeaseLost
from callwright.service.platform.phone import redacted
from callwright.service.platform.uploads import Uploads
from callwright.service.rules.list_pieces import ReadPiece
from callwright.service.rules.rows import BadRow, RowRules
from callwright.service.services import Services
from callwright.service.tables.schema import import_errors, imports
from callwright.service.tables.schema.leases import IMPORTS
from callwright.service.workers.file_passes import Progress
from callwright.service.workers.import_records import complete, fail, until
from callwright.service.workers.imported_files import ImportedFile
from callwright.service.workers.read_pieces import (
    LookedOver,
    PackedPiece,
    WaitingPieces,
    take_each,
    unpacked_each,
    waited,
    waiting_file,
)

log = logging.getLogger(__name__)
PIECE = 1_000
"""Rows of one transaction, few enough that other writes are not delayed noticeably."""
_LOOKED_OVER = 30
"""Percent of an import after which its first row is taken, where half of a file is read before."""
_I = imports.c
_REFUSED = ("22", "23", "54")
"""Classes of SQLSTATE that say the data cannot be stored: trying again would not help."""
_ERRORS = BulkInsert(import_errors, list(import_errors.c.keys()))


@dataclass(frozen=True)
class RowsOfFile:
    """The rows of a file, which are read by `rules`. `total` of them stand in it."""

    services: Services
    row: Row[Any]
    owner: str
    file: ImportedFile
    rules: RowRules
    total: int
    progress: Progress

    async def take(self, pieces: AsyncIterator[PackedPiece]) -> None:
        """Takes all rows and completes the import, or ends it without any where more than half of them are bad.

        Raises:
            RulesChanged: the audience reads the file by other rules by now; rows that were taken stay.
            UnreadableList: the file cannot be read.
            Refusal: its rows may not be added.
            LeaseLost: another process works on it.
        """
        if not self.row.processed:
            uploads = Uploads(self.services.settings)
            with waiting_file(uploads) as file:
                waiting = WaitingPieces(file, uploads)
                found = await self._look_over(pieces, waiting)
                if 2 * found.bad > found.rows:
                    await self._refuse(waiting, found)
                    return
                if not await take_each(waited(waiting), self._take_one):
                    return
        if not await take_each(unpacked_each(pieces), self._take_one):
            return
        await self.services.database.write(complete, self.services, self.row.id, self.owner)

    async def _look_over(self, pieces: AsyncIterator[PackedPiece], waiting: WaitingPieces) -> LookedOver:
        """Keeps pieces until it is known whether more than half of all rows are bad. Of a good file that is half."""
        found = LookedOver(self.total)
        self.progress.between(self.progress.percent, _LOOKED_OVER)
        async for piece in pieces:
            await to_thread.run_sync(waiting.add, piece)
            found.add(piece)
            self.progress.has_done(found.share)
            if found.is_good:
                break
        return found

    async def _take_one(self, piece: ReadPiece) -> bool:
        """Takes a piece; false where the database cannot store a value in it, which ends the import."""
        try:
            await self.services.database.write(_take_piece, self, piece)
        except DBAPIError as error:
            if str(getattr(error.orig, "sqlstate", None))[:2] not in _REFUSED:
                raise
            log.error("rows of an import cannot be stored", extra={"import_id": self.row.id})
            reason = f"the database cannot store a value in rows {piece.begin + 1} to {piece.end}"
            await self.services.database.write(fail, self.services, self.row.id, self.owner, reason)
            return False
        return True

    async def _refuse(self, waiting: WaitingPieces, found: LookedOver) -> None:
        """Ends an import of a file that is mostly bad. No row is added. After a crash the import starts again."""
        write = self.services.database.write
        while (piece := await to_thread.run_sync(waiting.next)) is not None:
            await write(_list_bad, self.services, self.row.id, self.owner, piece)
        reason = (
            f"{found.bad:,} of {found.rows:,} rows are bad, which is more than half, so none was taken. "
            "list_import_errors says what is wrong with them. Numbers were read from the column "
            f"{redacted(self.file.phone_column)}. Correct the file and import it again; if the column or the country "
            "is wrong, first set phone_column or default_country with update_audience, which works while the audience "
            "is empty."
        )
        if 2 * found.bad_zones > found.bad:
            reason += (
                f" Time zones were read from the column {redacted(str(found.zone_column))}: write names such as "
                "America/New_York, or give the column another name if it holds none."
            )
        await write(_fail_whole, self, reason, found)


def _list_bad(connection: Connection, services: Services, import_id: str, owner: str, piece: ReadPiece) -> None:
    IMPORTS.mine(connection, import_id, owner)
    if not piece.begin:
        connection.execute(delete(import_errors).where(import_errors.c.import_id == import_id))
    _keep_errors(connection, services, import_id, piece, piece.unreadable())


def _fail_whole(connection: Connection, file: RowsOfFile, reason: str, found: LookedOver) -> None:
    import_id = file.row.id
    IMPORTS.mine(connection, import_id, file.owner)
    values = {"total_rows": found.rows, "processed": found.rows, "invalid": found.bad, "read_as": file.file.read_as}
    connection.execute(update(imports).where(_I.id == import_id).values(values))
    fail(connection, file.services, import_id, file.owner, reason)


def _keep_errors(
    connection: Connection, services: Services, import_id: str, piece: ReadPiece, bad: Sequence[BadRow]
) -> None:
    ids = services.ids.several("ier", len(bad))
    _ERRORS.run(
        connection,
        [
            {"id": error_id, "import_id": import_id, **one._asdict(), "line": piece.line_of(one.row_number)}
            for error_id, one in zip(ids, bad, strict=True)
        ],
    )


def _take_piece(connection: Connection, file: RowsOfFile, piece: ReadPiece) -> None:
    services, import_id = file.services, file.row.id
    began_ms = services.clock.now_ms()
    by = lock_spending_key(connection, file.row.created_by_key_id)
    row = IMPORTS.mine(connection, import_id, file.owner)
    if row.processed != piece.begin:
        raise LeaseLost(import_id)
    if not piece.begin:  # a run that was cut off may have listed rows before the country or the column was corrected
        connection.execute(delete(import_errors).where(import_errors.c.import_id == import_id))
    taken = add_read(
        connection,
        services.ids,
        row.audience_id,
        piece.rows,
        file.rules,
        file.file.header,
        source=file.file.source,
        now_ms=services.clock.now_ms(),
        by=by,
        public_url=services.settings.public_url,
    )
    _keep_errors(connection, services, import_id, piece, taken.bad)
    connection.execute(
        update(imports)
        .where(_I.id == import_id)
        .values(
            begun_at=row.begun_at or began_ms,
            total_rows=file.total,
            processed=piece.end,
            read_as=file.file.read_as,
            added=_I.added + taken.added,
            invalid=_I.invalid + taken.invalid,
            duplicates=_I.duplicates + taken.duplicates,
            lease_until=until(connection, services),
        )
    )
