"""Lists of calls by the name of the person, which an index of words finds."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, insert, select, union_all

from callwright.service.platform.database.columns import leads_to
from callwright.service.platform.database.few_rows import ByIndex, of_span
from callwright.service.platform.database.listing import Span
from callwright.service.platform.database.name_words import NameWords
from callwright.service.tables.schema import calls
from callwright.service.tables.schema.campaigns import SORTED_OWNER, UNDER_WAY

_C = calls.c
NAMES = NameWords(calls, "call_names", owner="org_id")
"""The words of the names in calls. On SQLite a place is the millisecond in which calls were made."""
_OF_MOMENTS = select(_C.created_at, _C.name_words)


def add(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Puts the names of calls that were just made into the index."""
    by_org: dict[str, list[tuple[int, str | None]]] = {}
    for row in rows:
        by_org.setdefault(row["org_id"], []).append((row["created_at"], row.get("name_words")))
    for org_id, names in by_org.items():
        NAMES.add(connection, org_id, names)


def put(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Writes calls, with the index of their names."""
    connection.execute(insert(calls), list(rows))
    add(connection, rows)


def remove(connection: Connection, org_id: str, rows: Sequence[Any]) -> None:
    """Takes the names of calls out of the index, after they were taken out of the calls.

    `rows` are the calls as they were before. Words stay that another call of the same millisecond has.
    """
    had: dict[int, set[str]] = {}
    for row in rows:
        had.setdefault(row.created_at, set()).update((row.name_words or "").split())
    if not NAMES.has_places(connection) or not any(had.values()):
        return
    others = _OF_MOMENTS.where(_C.org_id == org_id, _C.created_at.in_(had), _C.name_words.is_not(None))
    for at_ms, words in connection.execute(others).all():
        had[at_ms] -= set(words.split())
    NAMES.remove(connection, org_id, ((at_ms, " ".join(sorted(words))) for at_ms, words in had.items()))


def by_name(
    connection: Connection, org_id: str, name: str, conditions: Sequence[ColumnElement[bool]], *, most: int
) -> ByIndex:
    """Finds the calls of an organization by a name, which has a letter or a digit. `conditions` are all filters."""

    def in_turn(span: Span) -> Select[Any]:
        (column, _), *_ = span.order
        exact = span.rounded.column if span.rounded is not None else column
        owner = _C.org_id if exact is _C.created_at else SORTED_OWNER
        return select(calls).where(owner == org_id, *conditions)

    def known(ids: Sequence[str]) -> Select[Any]:
        return select(_C.id).where(_C.id.in_(ids))

    def gathered(few: Select[Any], span: Span) -> Select[Any]:
        return select(calls).where(_C.id.in_(of_span(connection, few, span)))

    return ByIndex(connection, _found(connection, org_id, name, conditions), known, gathered, in_turn, most)


def _found(connection: Connection, org_id: str, name: str, conditions: Sequence[ColumnElement[bool]]) -> Select[Any]:
    own, matches = _C.org_id == org_id, NAMES.matches(connection, org_id, name)
    if NAMES.has_places(connection):
        joined = leads_to(NAMES.places, calls, _C.created_at == NAMES.places.c.rowid)
        return select(_C.id).select_from(joined).where(own, matches, *conditions)
    return select(_C.id).where(_C.id.in_(union_all(*_parts(select(_C.id).where(own, *conditions), matches))))


def _parts(own: Select[Any], matches: ColumnElement[bool]) -> Iterator[Select[Any]]:
    """The calls that have ended, which the index of Postgres has, and those under way, which are few."""
    yield own.where(_C.ended_at.is_not(None), matches)
    for each in UNDER_WAY:
        yield own.where(_C.ended_at.is_(None), each)
