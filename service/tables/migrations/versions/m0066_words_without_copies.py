"""On SQLite the full-text table of transcripts keeps no second copy of the words, and rowids that are near each other.

A table beside it says which call is at a rowid. Marks of long values are hashes.
"""

import zlib
from hashlib import blake2b
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0066"
down_revision = "0065"

_MARKED = {
    "org": "org_id",
    "dep": "deployment_id",
    "agt": "agent_id",
    "aud": "audience_id",
    "ctc": "contact_id",
    "typ": "call_type",
    "sta": "status",
    "out": "outcome",
    "dis": "disposition",
    "tel": "to_number",
    "lng": "language",
    "ans": "answered_by",
    "ver": "agent_version",
}
_AT_ONCE = 1_000
_PLACES_BEFORE = 1_000_000
_PLACES = 10_000


def upgrade() -> None:
    """Carries the words over, some at a time. Takes a few minutes for a million transcripts."""
    connection = op.get_bind()
    if connection.dialect.name != "sqlite":
        return
    op.execute(
        "CREATE VIRTUAL TABLE new_transcript_words "
        "USING fts5(words, marks, content = '', columnsize = 0, tokenize = 'ascii')"
    )
    op.execute(
        "CREATE TABLE transcript_words_places "
        "(place INTEGER PRIMARY KEY, call_id VARCHAR(40) NOT NULL, checksum INTEGER NOT NULL)"
    )
    columns = ", ".join(f"calls.{column} AS {code}" for code, column in _MARKED.items())
    some = sa.text(
        "SELECT kept.rowid AS place, kept.call_id AS call_id, kept.words AS words, "
        f"calls.created_at AS at_ms, {columns} FROM transcript_words AS kept "
        "CROSS JOIN calls ON calls.id = kept.call_id "
        f"WHERE kept.rowid > :after ORDER BY kept.rowid LIMIT {_AT_ONCE}"
    )
    add = sa.text("INSERT INTO new_transcript_words (rowid, words, marks) VALUES (:place, :words, :marks)")
    say = sa.text("INSERT INTO transcript_words_places (place, call_id, checksum) VALUES (:place, :call_id, :checksum)")
    after = last = -1
    while rows := connection.execute(some, {"after": after}).mappings().all():
        after = rows[-1]["place"]
        carried: list[dict[str, Any]] = []
        for row in rows:
            last = max(row["at_ms"] * _PLACES + row["place"] % _PLACES_BEFORE, last + 1)
            carried.append(_carried(row, last))
        connection.execute(add, carried)
        connection.execute(say, carried)
    op.execute("DROP TABLE transcript_words")
    op.execute("ALTER TABLE new_transcript_words RENAME TO transcript_words")


def _carried(row: Any, place: int) -> dict[str, Any]:
    marks = " ".join(code + _spelled(str(row[code])) for code in _MARKED if row[code] is not None)
    return {
        "place": place,
        "call_id": row["call_id"],
        "words": row["words"],
        "marks": marks,
        "checksum": zlib.crc32(f"{row['words']}\n{marks}".encode()),
    }


def _spelled(value: str) -> str:
    plain = value.encode(errors="surrogatepass")
    return f"x{plain.hex()}" if len(plain) <= 12 else f"h{blake2b(plain, digest_size=8).hexdigest()}"
