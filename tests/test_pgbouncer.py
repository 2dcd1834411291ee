"""What pgbouncer is told about the server, and what is prepared behind it."""

import pytest
from sqlalchemy import make_url, text

from callwright.service.storage.database import opened
from callwright.service.storage.prepared import Prepared
from tests.databases import is_pooled
from tests.pgbouncer import target


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("postgresql://postgres@/postgres?host=%2Frun%2Fpg&port=5432", "host='/run/pg' port='5432' user='postgres'"),
        ("postgresql://ann:o'k@db:5433/x", "host='db' port='5433' user='ann' password='o''k'"),
    ],
)
def test_pgbouncer_is_told_where_the_server_is_and_by_which_account(url: str, words: str) -> None:
    assert target(make_url(url)) == words


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
async def test_nothing_is_prepared_on_the_server_behind_a_pooler_and_what_runs_often_is_without_one(
    database_url: str,
) -> None:
    held = Prepared(text("SELECT count(*) FROM pg_prepared_statements"))
    async with opened(database_url) as database:
        for run in (database.look_up, database.write):
            counts = [(await run(held.first, {}))[0] for _ in range(20)]
            assert (max(counts) == 0) == is_pooled()
