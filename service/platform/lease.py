"""Leases of rows: which process works on a deployment, an import or an endpoint queue.

A lease expires unless it is renewed; then another process takes over. It is not a lock: its holder checks in each
transaction that it still has it (`Lease.mine`). Leases of locked rows are neither taken nor waited for: the process
that holds the lock may have frozen.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    FromClause,
    Row,
    Select,
    Table,
    and_,
    bindparam,
    literal,
    or_,
    select,
    update,
)

from callwright.service.platform.database.concurrency import moment_of

RELEASED: Mapping[str, None] = {"lease_owner": None, "lease_until": None}
"""The columns of a row that nobody has leased."""


class LeaseLost(Exception):
    """Another process has the lease now; the unit of work is undone."""


class Lease:
    """The leases of a table's rows: its columns `lease_owner` and `lease_until`.

    With `by_database` leases expire by the database's clock, otherwise by the service's. Arguments are milliseconds
    since the epoch by the service's clock; `until_ms` minus `now_ms` is how long a lease lasts.
    """

    def __init__(self, table: Table, key: Column[Any], *, by_database: bool) -> None:
        self._table, self._key, self._by_database = table, key, by_database
        self._owner, self._until = table.c.lease_owner, table.c.lease_until
        is_this = key == bindparam("b_id")
        self._these = key.in_(bindparam("b_ids", expanding=True))
        self._locked = select(table).where(is_this).with_for_update()
        self._held = select(key).where(self._these, self._owner == bindparam("b_owner")).order_by(key)
        self._release = update(table).where(is_this, self._owner == bindparam("b_owner"))

    def until(self, connection: Connection, now_ms: int, until_ms: int) -> ColumnElement[int]:
        """When a lease that is taken or renewed now expires."""
        return self._now(connection, now_ms) + (until_ms - now_ms)

    def _now(self, connection: Connection, now_ms: int) -> ColumnElement[int]:
        return moment_of(connection, now_ms) if self._by_database else literal(now_ms, BigInteger)

    def free(self, connection: Connection, owner: str, now_ms: int) -> ColumnElement[bool]:
        """Whether the owner may take a row: nobody has leased it, its lease has expired, or it is the owner's."""
        return or_(self._owner.is_(None), self._owner == owner, self._until < self._now(connection, now_ms))

    def held(self, connection: Connection, rows: FromClause, now_ms: int) -> ColumnElement[bool]:
        """Whether somebody holds the lease of a row, which is of the table or an alias of it."""
        return and_(rows.c.lease_owner.is_not(None), rows.c.lease_until >= self._now(connection, now_ms))

    def take(
        self, connection: Connection, rows: Select[*tuple[Any, ...]], owner: str, now_ms: int, until_ms: int
    ) -> Sequence[Row[Any]]:
        """Leases those of the selected rows that are free and that nobody has locked; returns them as they were.

        `rows` selects the key first.
        """
        free = rows.where(self.free(connection, owner, now_ms)).with_for_update(skip_locked=True)
        taken = connection.execute(free).all()
        until = self.until(connection, now_ms, until_ms)
        self._set(connection, [row[0] for row in taken], {"lease_owner": owner, "lease_until": until})
        return taken

    def renew(
        self,
        connection: Connection,
        ids: Collection[str],
        owner: str,
        now_ms: int,
        until_ms: int,
        *,
        waits: bool = False,
    ) -> Sequence[str]:
        """Renews the leases that are still the owner's, and returns the ids of those.

        Without `waits` it leaves out the rows that others have locked at this moment.
        """
        given = {"b_ids": list(ids), "b_owner": owner}
        held = connection.execute(self._held.with_for_update(skip_locked=not waits), given).scalars().all()
        self._set(connection, held, {"lease_until": self.until(connection, now_ms, until_ms)})
        return held

    def _set(self, connection: Connection, ids: Sequence[str], values: Mapping[str, Any]) -> None:
        if ids:
            connection.execute(update(self._table).where(self._these).values(values), {"b_ids": list(ids)})

    def mine(self, connection: Connection, row_id: str, owner: str) -> Row[Any]:
        """The row, locked. Raises `LeaseLost` when another process has its lease by now, or the row is gone."""
        row = connection.execute(self._locked, {"b_id": row_id}).one_or_none()
        if row is None or row.lease_owner != owner:
            raise LeaseLost(row_id)
        return row

    def release(self, connection: Connection, row_id: str, owner: str, **also: Any) -> None:
        """Releases a lease, if it is the owner's, and sets other columns of its row at the same time."""
        connection.execute(self._release.values(**RELEASED, **also), {"b_id": row_id, "b_owner": owner})

    def end_all(self, connection: Connection) -> None:
        """Ends every lease. Only for a database that a single process uses, when that process starts."""
        connection.execute(update(self._table).where(self._owner.is_not(None)).values(lease_until=0))

    def shorten(self, connection: Connection, now_ms: int, longest_ms: int, slack_ms: int) -> None:
        """Sets leases that end more than `longest_ms` + `slack_ms` from now to end `longest_ms` from now."""
        end = self._now(connection, now_ms) + longest_ms
        connection.execute(update(self._table).where(self._until > end + slack_ms).values(lease_until=end))
