"""Counts of calls, from which statistics are answered."""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

from callwright.service.rules.value_counts import changed

revision = "0053"
down_revision = "0052"

_KIND = (
    *("org_id", "deployment_id", "agent_id", "agent_version", "audience_id", "call_type", "status", "outcome"),
    *("disposition", "language", "answered_by", "ended_by"),
)
_MORE = ("id", "created_at", "hangup_cause", "duration_ms", "cost_micros", "ended_at")
_KEY = ("org_id", "span_ms", "begins_at", "kind_id")
_SUMS = ("calls", "hang_ups", "duration_ms", "charged", "cost_micros")
_HOUR = 3_600_000
_AT_ONCE = 5_000


def upgrade() -> None:
    """Calls that have ended are counted, some thousand at a time. They come in the order of their ids, and so of time:
    few counts are changed by more than one piece.
    """
    op.create_table(
        "call_kinds",
        sa.Column("id", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("org_id", sa.String(40), sa.ForeignKey("organizations.id"), nullable=False),
        sa.Column("deployment_id", sa.String(40)),
        sa.Column("agent_id", sa.String(40), nullable=False),
        sa.Column("agent_version", sa.Integer()),
        sa.Column("audience_id", sa.String(40)),
        sa.Column("call_type", sa.String(10), nullable=False),
        sa.Column("status", sa.String(20), nullable=False),
        sa.Column("outcome", sa.String(30)),
        sa.Column("disposition", sa.String(40)),
        sa.Column("language", sa.String(40)),
        sa.Column("answered_by", sa.String(30)),
        sa.Column("ended_by", sa.String(20)),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_call_kinds_deployment", "call_kinds", ["org_id", "deployment_id"])
    op.create_table(
        "call_counts",
        sa.Column("org_id", sa.String(40), primary_key=True),
        sa.Column("span_ms", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("begins_at", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("kind_id", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("calls", sa.Integer(), nullable=False),
        sa.Column("hang_ups", sa.Integer(), nullable=False),
        sa.Column("duration_ms", sa.BigInteger(), nullable=False),
        sa.Column("durations", sa.Text(), nullable=False),
        sa.Column("charged", sa.Integer(), nullable=False),
        sa.Column("cost_micros", sa.BigInteger(), nullable=False),
        sa.Column("costs", sa.Text(), nullable=False),
        sqlite_with_rowid=False,
    )
    incoming = sa.text("ended_at IS NULL AND call_type = 'inbound'")
    op.create_index("ix_calls_coming_in", "calls", ["org_id"], sqlite_where=incoming, postgresql_where=incoming)
    _count()


def _table(name: str, *columns: str) -> sa.TableClause:
    found: list[sa.ColumnClause[Any]] = [sa.column(column) for column in columns]
    return sa.table(name, *found)


def _pieces(connection: sa.Connection) -> Iterator[list[dict[str, Any]]]:
    calls, after = _table("calls", *_KIND, *_MORE), ""
    own = calls.c
    while True:
        some = sa.select(calls).where(own.id > after).order_by(own.id).limit(_AT_ONCE)
        if not (rows := connection.execute(some).mappings().all()):
            return
        after = rows[-1]["id"]
        yield [dict(row) for row in rows if row["ended_at"] is not None]


def _count() -> None:
    connection, known = op.get_bind(), set[int]()
    kinds, counts = _table("call_kinds", "id", *_KIND), _table("call_counts", *_KEY, *_SUMS, "durations", "costs")
    own = counts.c
    its_key = [own[name] == sa.bindparam(f"b_{name}") for name in _KEY]
    for piece in _pieces(connection):
        new: dict[int, dict[str, Any]] = {}
        found: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        for call in piece:
            values = [call[name] for name in _KIND]
            text = json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()
            kind = int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), signed=True)
            new[kind] = dict(zip(_KIND, values, strict=True)) | {"id": kind}
            for span in (0, 24 * _HOUR, _HOUR):
                begins_at = call["created_at"] // span * span if span else 0
                found.setdefault((call["org_id"], span, begins_at, kind), []).append(call)
        if rows := [row for kind, row in new.items() if kind not in known]:
            connection.execute(sa.insert(kinds), rows)
            known.update(new)
        added: list[dict[str, Any]] = []
        for key, group in found.items():
            where = {f"b_{name}": value for name, value in zip(_KEY, key, strict=True)}
            before = connection.execute(sa.select(counts).where(*its_key), where).mappings().one_or_none()
            row = _counted(before, group)
            if before is None:
                added.append(dict(zip(_KEY, key, strict=True)) | row)
            else:
                connection.execute(sa.update(counts).where(*its_key).values(**row), where)
        if added:
            connection.execute(sa.insert(counts), added)


def _counted(before: Any, group: list[dict[str, Any]]) -> dict[str, Any]:
    """A row of counts with a group of calls added. Calls without an answer have no duration."""
    reached = [call for call in group if call["outcome"] in ("answered", "transferred")]
    costs = [call["cost_micros"] for call in group if call["cost_micros"]]
    sums = {
        "calls": len(group),
        "hang_ups": sum(call["hangup_cause"] == "contact_hangup" for call in reached),
        "duration_ms": sum(call["duration_ms"] for call in reached),
        "charged": len(costs),
        "cost_micros": sum(costs),
    }
    row: dict[str, Any] = {name: value + (before[name] if before else 0) for name, value in sums.items()}
    row["durations"] = changed(before["durations"] if before else "", [call["duration_ms"] for call in reached])
    row["costs"] = changed(before["costs"] if before else "", costs)
    return row
