"""Names of people in calls and audiences have an index of their words; rows of audiences one of other own ids."""

from hashlib import blake2b
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0074"
down_revision = "0073"

_AT_ONCE = 10_000
_INDEXED = (
    ("call_names", "calls", "org_id", "created_at"),
    ("audience_names", "audience_rows", "audience_id", "position"),
)
_WITH = "WITH (gin_pending_list_limit = 256)"
"""Kilobytes of new words that each search reads through, until they are put into their places."""
_OTHER = sa.text("external_id <> coalesce(dedupe_key, '')")


def upgrade() -> None:
    """Takes about ten seconds for a million names, and as long for own ids."""
    op.create_index(
        "ix_audience_rows_own_id",
        "audience_rows",
        ["external_id", sa.text("substr(audience_id, 23)")],
        sqlite_where=_OTHER,
        postgresql_where=_OTHER,
    )
    if op.get_bind().dialect.name == "sqlite":
        for name, table, owner, place in _INDEXED:
            op.execute(
                f"CREATE VIRTUAL TABLE {name} USING fts5(words, content = '', columnsize = 0, detail = none, "
                "prefix = '13 14 15', tokenize = \"ascii tokenchars '='\")"
            )
            _fill(name, table, owner, place)
        return
    ended = "WHERE ended_at IS NOT NULL AND name_words IS NOT NULL"
    op.execute(f"CREATE INDEX ix_calls_names ON calls USING gin ({_vector('org_id')}) {_WITH} {ended}")
    named = "WHERE name_words IS NOT NULL"
    of_audience = _vector("audience_id")
    op.execute(f"CREATE INDEX ix_audience_rows_names ON audience_rows USING gin ({of_audience}) {_WITH} {named}")


def _vector(owner: str) -> str:
    words = (
        "CASE WHEN length(name_words) < 900 THEN name_words "
        "ELSE regexp_replace(name_words, '([^ ]{60})[^ ]+', '\\1', 'g') END"
    )
    tagged = f"replace({words}, ' ', ' ' || substr({owner}, 23) || '\\:')"
    return f"array_to_tsvector(string_to_array(substr({tagged}, 2), ' '))"


def _fill(name: str, table: str, owner: str, place: str) -> None:
    """Each owner after the other, in ascending order of the places."""
    connection = op.get_bind()
    owners = connection.execute(sa.text(f"SELECT DISTINCT {owner} FROM {table} WHERE name_words IS NOT NULL"))
    put = sa.text(f"INSERT INTO {name} (rowid, words) VALUES (:place, :words)")
    some = sa.text(
        f"SELECT {place} AS place, group_concat(name_words, '') AS words FROM {table} "
        f"WHERE {owner} = :owner AND {place} > :after AND name_words IS NOT NULL "
        f"GROUP BY {place} ORDER BY {place} LIMIT {_AT_ONCE}"
    )
    for (owner_id,) in owners.all():
        tag, after = blake2b(owner_id.encode(), digest_size=6).hexdigest(), -(1 << 62)
        while found := connection.execute(some, {"owner": owner_id, "after": after}).all():
            entries: list[dict[str, Any]] = [
                {"place": row.place, "words": " ".join(tag + word for word in dict.fromkeys(row.words.split()))}
                for row in found
            ]
            connection.execute(put, entries)
            after = found[-1].place
