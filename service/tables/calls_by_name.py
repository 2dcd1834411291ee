"""Lists of calls by the name of the person, which an index of words finds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, insert, literal, literal_column, select, union_all

from callwright.service.platform.database import few_rows
from callwright.service.platform.database.columns import leads_to
from callwright.service.platform.database.few_rows import ByIndex, of_span
from callwright.service.platform.database.listing import Span
from callwright.service.platform.database.name_words import NameWords
from callwright.service.tables import call_spans, number_hours
from callwright.service.tables.schema import calls
from callwright.service.tables.schema.campaigns import SORTED_OWNER, UNDER_WAY

_C = calls.c
NAMES = NameWords(calls, "call_names", owner="org_id")
"""The words of the names in calls. On SQLite a place is the millisecond in which calls were made."""
_OF_MOMENTS = select(_C.created_at, _C.name_words)


def add(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Puts the names of calls that were just made into the index, and counts the calls of their numbers."""
    by_org: dict[str, list[tuple[int, str | None]]] = {}
    for row in rows:
        by_org.setdefault(row["org_id"], []).append((row["created_at"], row.get("name_words")))
    for org_id, names in by_org.items():
        NAMES.add(connection, org_id, names)
    number_hours.add(connection, rows)


def put(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Writes calls, with the index of their names and the counts of their numbers."""
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


@dataclass(frozen=True)
class Named:
    """The calls of an organization by a name, which has a letter or a digit, and by when they were made."""

    connection: Connection
    org_id: str
    name: str
    made: call_spans.Span

    def are_few(self) -> bool:
        """Whether few calls have the name, whatever their other filters: then all of them can be read."""
        found, matches = select(literal(1)), NAMES.matches(self.connection, self.org_id, self.name)
        if NAMES.has_places(self.connection):
            asked = found.select_from(NAMES.places).where(matches, *self.made.conditions(NAMES.places.c.rowid))
        else:
            own = (_C.org_id == self.org_id, _C.ended_at.is_not(None))
            asked = found.select_from(calls).where(*own, matches, *self.made.conditions(_C.created_at))
        counted = select(func.count()).select_from(asked.limit(few_rows.FEW + 1).subquery())
        return self.connection.execute(counted).scalar_one() <= few_rows.FEW

    def listed(
        self, conditions: Sequence[ColumnElement[bool]], *, most: int, others: Select[Any] | None = None
    ) -> ByIndex:
        """Finds the calls. `conditions` are all filters but those on when calls were made.

        `others` has the ids of all these calls too, if another filter finds them: then the index is not asked.
        """

        def in_turn(span: Span) -> Select[Any]:
            (column, _), *_ = span.order
            exact = span.rounded.column if span.rounded is not None else column
            owner = _C.org_id if exact is _C.created_at else SORTED_OWNER
            return select(calls).where(owner == self.org_id, *self.made.conditions(_C.created_at), *conditions)

        def known(ids: Sequence[str]) -> Select[Any]:
            return select(_C.id).where(_C.id.in_(ids))

        def gathered(few: Select[Any], span: Span) -> Select[Any]:
            return select(calls).where(_C.id.in_(of_span(self.connection, few, span)))

        found = self._found(conditions) if others is None else others
        return ByIndex(self.connection, found, known, gathered, in_turn, most)

    def _found(self, conditions: Sequence[ColumnElement[bool]]) -> Select[Any]:
        own, matches = _C.org_id == self.org_id, NAMES.matches(self.connection, self.org_id, self.name)
        if NAMES.has_places(self.connection):
            # Without the sum SQLite concludes that calls have the bounds too, and reads all of these at each place.
            places = NAMES.places.c.rowid
            joined = leads_to(NAMES.places, calls, _C.created_at == places + literal_column("0"))
            return select(_C.id).select_from(joined).where(own, matches, *self.made.conditions(places), *conditions)
        named = select(_C.id).where(own, *self.made.conditions(_C.created_at), *conditions)
        return select(_C.id).where(_C.id.in_(union_all(*_parts(named, matches))))


def _parts(own: Select[Any], matches: ColumnElement[bool]) -> Iterator[Select[Any]]:
    """The calls that have ended, which the index of Postgres has, and those under way, which are few."""
    yield own.where(_C.ended_at.is_not(None), matches)
    for each in UNDER_WAY:
        yield own.where(_C.ended_at.is_(None), each)
