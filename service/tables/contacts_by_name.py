"""Lists of a campaign's contacts by their name, which an index of words of its audience finds."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, FromClause, Row, Select, select, tuple_

from callwright.service.platform.database.columns import leads_to
from callwright.service.platform.database.few_rows import ByIndex, of_span
from callwright.service.platform.database.listing import Span
from callwright.service.platform.database.name_words import NameWords
from callwright.service.tables.schema import audience_rows, deployment_contacts

_R, _K = audience_rows.c, deployment_contacts.c
NAMES = NameWords(audience_rows, "audience_names", owner="audience_id")
"""The words of the names in audiences. On SQLite a place is the position of a row in its audience."""
_POSITIONED = select(_R.position, _R.name_words).where(_R.name_words.is_not(None))


def add(connection: Connection, audience_id: str, rows: Sequence[tuple[int, str | None]]) -> None:
    """Puts the names of rows that were just added into the index: each its position and its words."""
    NAMES.add(connection, audience_id, rows)


def remove(connection: Connection, audience_id: str, ids: Sequence[str] | None = None) -> None:
    """Takes the names of an audience's rows out of the index: of these rows, which are still there, or of all."""
    if NAMES.has_places(connection):
        # Of some rows without their audience: SQLite would read all rows of it for each piece.
        own = _POSITIONED.where(_R.audience_id == audience_id if ids is None else _R.id.in_(ids))
        found = sorted((row.position, row.name_words) for row in connection.execute(own))
        NAMES.remove(connection, audience_id, found)


def by_name(
    connection: Connection,
    campaign: Row[Any],
    name: str,
    shown: Select[Any],
    conditions: Sequence[ColumnElement[bool]],
    *,
    most: int,
) -> ByIndex:
    """Finds the contacts of a campaign by a name, which has a letter or a digit.

    `shown` has all contacts, whosever, and `conditions` are all filters.
    """
    own, matches = _K.deployment_id == campaign.id, NAMES.matches(connection, campaign.audience_id, name)
    people: FromClause = audience_rows.join(deployment_contacts, _K.id == _R.id)
    if NAMES.has_places(connection):
        placed = leads_to(NAMES.places, deployment_contacts, _K.position == NAMES.places.c.rowid)
        people = leads_to(placed, audience_rows, _R.id == _K.id)
    found = select(_K.id).select_from(people).where(own, matches, *conditions)
    if not NAMES.has_places(connection):
        found = found.where(_R.audience_id == campaign.audience_id)

    # By both columns of the key: with the campaign alone, SQLite would read all contacts in the order of the list.
    key = tuple_(_K.deployment_id, _K.id)

    def known(ids: Sequence[str]) -> Select[Any]:
        del ids  # named with their campaign, SQLite would not look them up by the key, but read all contacts
        return found

    def gathered(few: Select[Any], span: Span) -> Select[Any]:
        keys = of_span(connection, few.add_columns(_K.deployment_id), span).subquery()
        return shown.where(key.in_(select(keys.c.deployment_id, keys.c.id)))

    def in_turn(span: Span) -> Select[Any]:
        del span
        return shown.where(own, *conditions)

    return ByIndex(connection, found, known, gathered, in_turn, most)
