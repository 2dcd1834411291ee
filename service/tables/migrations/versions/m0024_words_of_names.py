"""People of lists and calls keep the words of their names, by which they are found."""

import json
from collections.abc import Callable

import sqlalchemy as sa
from alembic import op

from callwright.list_files.name_columns import name_of
from callwright.service.platform.search_words import word_column

revision = "0024"
down_revision = "0023"

_AT_ONCE = 2_000


def upgrade() -> None:
    """Fills in the words of the people and calls that are there."""
    op.add_column("audience_rows", sa.Column("name_words", sa.Text()))
    op.add_column("calls", sa.Column("name_words", sa.Text()))
    _fill("audience_rows", "cells", _name)
    _fill("calls", "contact_name", _same)
    op.drop_index("ix_calls_created", table_name="calls")
    op.create_index("ix_calls_created", "calls", ["org_id", "created_at", "id", "name_words"])
    if op.get_bind().dialect.name == "sqlite":  # of two indexes that look equally good, SQLite takes the newer one
        op.drop_index("ix_calls_deployment", table_name="calls")
        op.create_index("ix_calls_deployment", "calls", ["deployment_id", "created_at", "id"])


def _name(cells: str) -> str | None:
    return name_of(json.loads(cells))


def _same(name: str) -> str:
    return name


def _fill(table: str, column: str, read: Callable[[str], str | None]) -> None:
    connection = op.get_bind()
    next_rows = sa.text(f"SELECT id, {column} AS source FROM {table} WHERE id > :after ORDER BY id LIMIT {_AT_ONCE}")
    store = sa.text(f"UPDATE {table} SET name_words = :words WHERE id = :id")
    after = ""
    while rows := connection.execute(next_rows, {"after": after}).all():
        after = rows[-1].id
        named = [(row.id, word_column(read(row.source))) for row in rows if row.source is not None]
        if found := [{"id": row_id, "words": words} for row_id, words in named if words]:
            connection.execute(store, found)
