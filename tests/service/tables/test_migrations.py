"""The migrations: they make the declared schema, on both engines, whoever starts them."""

import re
import threading
import warnings
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, Engine, inspect, make_url, select, text

from callwright.service.platform.database.engines import make_engine
from callwright.service.platform.database.unavailable import DatabaseUnusable
from callwright.service.tables.migrations import upgrade as migrate
from callwright.service.tables.schema import metadata, service_state
from tests.support.database.databases import is_pooled
from tests.support.database.older_databases import VERSIONS, on, upgraded
from tests.support.processes.programs import until

ADVISORY_LOCK = 7_263_901


def _declared(item: Any, name: str | None, kind: str, reflected: bool, compared: Any) -> bool:
    """Leaves out what cannot be compared: indexes of expressions, and the indexes of words."""
    del item, kind, reflected, compared
    of_words = ("transcript_words", "call_names", "audience_names", "ix_calls_names", "ix_audience_rows_names")
    return not any(each in (name or "") for each in of_words) and name != "ix_deliveries_once"


def _differences(connection: Connection) -> list[Any]:
    sqlite = connection.dialect.name == "sqlite"
    options: dict[str, Any] = {"compare_type": True, "compare_server_default": sqlite, "include_object": _declared}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* expression-based index")
        return compare_metadata(MigrationContext.configure(connection, opts=options), metadata)


def test_the_migrations_make_what_the_tables_declare(empty_database_url: str) -> None:
    migrate.upgrade(empty_database_url)
    assert on(empty_database_url, _differences) == []
    assert on(empty_database_url, migrate.revision_of) == migrate.REVISION


def test_a_table_that_no_migration_makes_would_be_noticed(database_url: str) -> None:
    on(database_url, lambda connection: connection.execute(text("DROP TABLE service_state")))
    assert [difference[0] for difference in on(database_url, _differences)] == ["add_table"]


def test_the_newest_migration_is_the_one_the_program_knows() -> None:
    chain: dict[str, str | None] = {}
    for path in VERSIONS.glob("m*.py"):
        source = path.read_text(encoding="utf-8")
        found = re.search(r'^revision = "(\d+)"$', source, re.M)
        before = re.search(r'^down_revision = (?:"(\d+)"|None)$', source, re.M)
        assert found is not None, path
        assert before is not None, path
        assert path.name.startswith(f"m{found[1]}_")
        chain[found[1]] = before[1]
    revisions = sorted(chain)
    assert revisions[-1] == migrate.REVISION
    assert [chain[revision] for revision in revisions] == [None, *revisions[:-1]]


def test_an_empty_database_has_no_revision(empty_database_url: str) -> None:
    assert on(empty_database_url, migrate.revision_of) is None


def test_a_second_upgrade_changes_nothing(database_url: str) -> None:
    def put(connection: Connection) -> None:
        connection.execute(service_state.insert(), {"name": "kept", "value": "x"})

    on(database_url, put)
    migrate.upgrade(database_url)
    assert on(database_url, lambda connection: connection.execute(select(service_state.c.value)).scalar()) == "x"


def test_an_older_database_is_brought_up_with_its_data(empty_database_url: str) -> None:
    def first(connection: Connection) -> None:
        upgraded(connection, "0001")
        connection.execute(text("INSERT INTO service_state (name, value) VALUES ('kept', 'x')"))

    on(empty_database_url, first)
    assert on(empty_database_url, migrate.revision_of) == "0001"
    migrate.upgrade(empty_database_url)
    assert on(empty_database_url, _differences) == []
    assert on(empty_database_url, lambda connection: connection.execute(select(service_state.c.value)).scalar()) == "x"


def test_a_database_of_a_newer_program_is_refused_and_left_alone(database_url: str) -> None:
    on(database_url, lambda connection: connection.execute(text("UPDATE alembic_version SET version_num = '9999'")))
    with pytest.raises(RuntimeError, match="9999"):
        migrate.upgrade(database_url)
    assert on(database_url, migrate.revision_of) == "9999"


def test_upgrades_at_the_same_time_do_no_harm(empty_database_url: str) -> None:
    ready, failures = threading.Barrier(4, timeout=10), list[BaseException]()

    def upgrade() -> None:
        try:
            ready.wait()
            migrate.upgrade(empty_database_url)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=upgrade) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []
    assert on(empty_database_url, _differences) == []


def test_sorted_names_have_the_c_collation_on_postgres(database_url: str) -> None:
    def collations(connection: Connection) -> list[str | None]:
        columns = inspect(connection).get_columns("agents")
        return [column["type"].__dict__.get("collation") for column in columns if column["name"] == "name"]

    assert on(database_url, collations) == (["C"] if database_url.startswith("postgresql") else [None])


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
@pytest.mark.parametrize(
    "setting", ["default_transaction_isolation = 'serializable'", "statement_timeout = 50", "lock_timeout = 50"]
)
def test_processes_that_start_at_once_wait_for_each_other_whatever_the_database_says(
    empty_database_url: str, setting: str
) -> None:
    name = make_url(empty_database_url).database
    on(empty_database_url, lambda connection: connection.execute(text(f'ALTER DATABASE "{name}" SET {setting}')))
    failed: list[Exception] = []

    def start() -> None:
        try:
            migrate.upgrade(empty_database_url)
        except Exception as error:
            failed.append(error)

    starts = [threading.Thread(target=start) for _ in range(2)]
    holder, watcher = make_engine(empty_database_url), make_engine(empty_database_url)
    with holder.connect() as held, held.begin():
        held.execute(text("SET LOCAL statement_timeout = 0"))
        held.execute(text(f"SELECT pg_advisory_xact_lock({ADVISORY_LOCK})"))
        for each in starts:
            each.start()
        until(lambda: failed != [] or _waits_long(watcher) == len(starts), "both wait for the lock for a while")
    for each in starts:
        each.join()
    holder.dispose()
    watcher.dispose()
    assert failed == []
    assert on(empty_database_url, migrate.revision_of) == migrate.REVISION


def _waits_long(watcher: Engine) -> int:
    """How many wait for an advisory lock for longer than any timeout of the test."""
    waiting = """SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'advisory' AND datname = current_database()
    AND clock_timestamp() - query_start > interval '150 ms'"""
    with watcher.connect() as connection:
        return connection.execute(text(waiting)).scalar_one()


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_a_database_that_keeps_text_in_another_encoding_is_refused(empty_database_url: str) -> None:
    if is_pooled():
        pytest.skip("pgbouncer keeps connections to a database that is dropped here")
    name = make_url(empty_database_url).database
    admin = make_url(empty_database_url).set(database="postgres").render_as_string(hide_password=False)
    engine = make_engine(admin).execution_options(isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for encoding in ("LATIN1", "SQL_ASCII"):
            connection.execute(text(f'DROP DATABASE "{name}"'))
            made = f"CREATE DATABASE \"{name}\" ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0"
            connection.execute(text(made))
            with pytest.raises(DatabaseUnusable, match=f"keeps text as {encoding}.*UTF8"):
                migrate.upgrade(empty_database_url)
    engine.dispose()
