"""The migrations: they make the declared schema, on both engines, whoever starts them."""

import json
import re
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import Connection, Engine, inspect, make_url, select, text

from callwright.contract.deployments.dialling import Compliance, RetryPolicy, Voicemail
from callwright.contract.deployments.settings import CampaignSettings
from callwright.service.platform.database.engines import make_engine
from callwright.service.platform.database.unavailable import DatabaseUnusable
from callwright.service.platform.search_words import word_column
from callwright.service.tables import migrations as folder
from callwright.service.tables import transcript_search
from callwright.service.tables.campaign_settings import settings_of
from callwright.service.tables.migrations import upgrade as migrate
from callwright.service.tables.schema import deployments, metadata, service_state, webhooks
from tests.support.database.databases import is_pooled
from tests.support.processes.programs import until

T = TypeVar("T")
ADVISORY_LOCK = 7_263_901
VERSIONS = Path(str(folder.__file__)).parent / "versions"


_DEPLOYMENT: dict[str, Any] = {
    "org_id": "org_1",
    "status": "active",
    "status_changed_at": 1,
    "simulated": True,
    "seed": "0",
    "agent_id": "agt_1",
    "audience_id": "aud_1",
    "phone_number_ids": "[]",
    "max_concurrency": 1,
    "created_at": 1,
    "updated_at": 1,
    "metadata": "{}",
}
_NO_SETTINGS: dict[str, Any] = {
    **dict.fromkeys(("retry_policy", "voicemail", "compliance"), "{}"),
    **dict.fromkeys(("calls_per_second", "ring_timeout_seconds", "max_call_duration_seconds"), 0),
    "caller_id_strategy": "",
}


def on(url: str, work: Callable[[Connection], T]) -> T:
    """What a piece of work returns on a database."""
    engine = make_engine(url, writer=True, creates=True)
    try:
        with engine.begin() as connection:
            return work(connection)
    finally:
        engine.dispose()


def _declared(item: Any, name: str | None, kind: str, reflected: bool, compared: Any) -> bool:
    """Leaves out what cannot be compared: indexes of expressions, and the virtual table of words on SQLite."""
    del item, kind, reflected, compared
    return "transcript_words" not in (name or "") and name != "ix_deliveries_once"


def _differences(connection: Connection) -> list[Any]:
    sqlite = connection.dialect.name == "sqlite"
    options: dict[str, Any] = {"compare_type": True, "compare_server_default": sqlite, "include_object": _declared}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* expression-based index")
        return compare_metadata(MigrationContext.configure(connection, opts=options), metadata)


def _upgraded(connection: Connection, revision: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(VERSIONS.parent))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


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
        _upgraded(connection, "0001")
        connection.execute(text("INSERT INTO service_state (name, value) VALUES ('kept', 'x')"))

    on(empty_database_url, first)
    assert on(empty_database_url, migrate.revision_of) == "0001"
    migrate.upgrade(empty_database_url)
    assert on(empty_database_url, _differences) == []
    assert on(empty_database_url, lambda connection: connection.execute(select(service_state.c.value)).scalar()) == "x"


def _row(table: str, **values: Any) -> Callable[[Connection], Any]:
    names = ", ".join(values)
    statement = text(f"INSERT INTO {table} ({names}) VALUES ({', '.join(f':{name}' for name in values)})")
    return lambda connection: connection.execute(statement, values)


@pytest.mark.parametrize("until_ms", [1_795_262_400_000, None])
def test_the_earlier_secret_of_a_subscription_is_kept_with_its_end(
    empty_database_url: str, until_ms: int | None
) -> None:
    stored = {"created_at": 1, "updated_at": 1, "org_id": "org_1", "metadata": "{}"}
    own = {"url": "https://example.com", "events": "[]", "description": "", "status": "active", "enabled_at": 1}
    organization = _row("organizations", id="org_1", name="a", plan="starter", created_at=1)
    turned = {"secret": "whsec_ö", "previous_secret": "whsec_ü", "previous_secret_until": until_ms}

    def fill(connection: Connection) -> None:
        _upgraded(connection, "0009")
        organization(connection)
        _row("webhooks", id="whk_1", **turned, **stored, **own)(connection)
        _row("webhooks", id="whk_2", secret="whsec_a", **stored, **own)(connection)

    on(empty_database_url, fill)
    migrate.upgrade(empty_database_url)
    kept = select(webhooks.c.secret, webhooks.c.earlier_secrets).order_by(webhooks.c.id)
    rows = on(empty_database_url, lambda connection: connection.execute(kept).all())
    assert [(row.secret, json.loads(row.earlier_secrets)) for row in rows] == [
        ("whsec_ö", [["whsec_ü", until_ms or 0]]),
        ("whsec_a", []),
    ]


def test_people_of_an_older_database_are_known_by_their_line(empty_database_url: str) -> None:
    kept = {"created_at": 1, "org_id": "org_1", "cells": "{}", "steering": "{}"}
    people = (
        ("ctc_1", "aud_1", "+5491123456789", "+5491123456789"),
        ("ctc_2", "aud_1", "+5491123456780", "+5491123456780"),
        ("ctc_3", "aud_1", "+541123456780", "+541123456780"),
        ("ctc_4", "aud_2", "+5491123456789", "17"),
        ("ctc_5", "aud_2", "+12125550100", "+12125550100"),
        ("ctc_6", "aud_2", "+5491123456780", None),
    )
    named = {"created_at": 1, "updated_at": 1, "org_id": "org_1", "status": "ready", "columns": "[]"}
    counts = {"dedupe": "phone", "row_count": 3, "valid_count": 3, "invalid_count": 0, "duplicate_count": 0}

    def fill(connection: Connection) -> None:
        _upgraded(connection, "0017")
        _row("organizations", id="org_1", name="a", plan="starter", created_at=1)(connection)
        for audience in ("aud_1", "aud_2"):
            _row("audiences", id=audience, name=audience, metadata="{}", description="", **named, **counts)(connection)
        for position, (row, audience, phone, dedupe_key) in enumerate(people):
            facts = {"id": row, "audience_id": audience, "phone": phone, "dedupe_key": dedupe_key}
            _row("audience_rows", position=position, **facts, **kept)(connection)

    on(empty_database_url, fill)
    migrate.upgrade(empty_database_url)
    keys = text("SELECT dedupe_key FROM audience_rows ORDER BY id")
    assert on(empty_database_url, lambda connection: connection.execute(keys).scalars().all()) == [
        *("+541123456789", "+5491123456780", "+541123456780", "17", "+12125550100", None)
    ]


def test_people_and_calls_of_an_older_database_are_found_by_their_names(empty_database_url: str) -> None:
    kept = {"created_at": 1, "org_id": "org_1", "steering": "{}", "audience_id": "aud_1"}
    named = {"created_at": 1, "updated_at": 1, "org_id": "org_1", "status": "ready", "columns": "[]"}
    counts = {"dedupe": "none", "row_count": 3, "valid_count": 3, "invalid_count": 0, "duplicate_count": 0}
    people = (
        {"first_name": "José", "last_name": "Álvarez"},
        {"name": "Мария"},
        {"city": "Rome"},
        {"name": "—"},
    )
    made: dict[str, Any] = {"org_id": "org_1", "call_type": "outbound", "simulated": True, "agent_id": "agt_1"}
    made |= {"attempt_number": 1, "from_number": "+1", "status": "completed", "outcome": "busy", "ended_at": 9}

    def fill(connection: Connection) -> None:
        _upgraded(connection, "0023")
        _row("organizations", id="org_1", name="a", plan="starter", created_at=1)(connection)
        _row("audiences", id="aud_1", name="a", metadata="{}", description="", **named, **counts)(connection)
        for position, cells in enumerate(people):
            facts = {"id": f"ctc_{position}", "position": position, "phone": f"+{position}"}
            _row("audience_rows", cells=json.dumps(cells), **facts, **kept)(connection)
        for index, name in enumerate(("Zoë", None, "")):
            facts = {"id": f"cal_{index}", "to_number": f"+{index}", "contact_id": f"ctc_{index}", "created_at": index}
            _row("calls", contact_name=name, **facts, **made)(connection)

    on(empty_database_url, fill)
    migrate.upgrade(empty_database_url)

    def words(connection: Connection, table: str) -> list[Any]:
        return list(connection.execute(text(f"SELECT name_words FROM {table} ORDER BY id")).scalars())

    assert on(empty_database_url, lambda connection: words(connection, "audience_rows")) == [
        *(word_column("José Álvarez"), word_column("Мария"), None, None)
    ]
    assert on(empty_database_url, lambda connection: words(connection, "calls")) == [word_column("Zoë"), None, None]


def test_people_of_an_older_database_are_counted_by_their_last_outcome(empty_database_url: str) -> None:
    outcomes = (("dep_1", "busy"), ("dep_1", "busy"), ("dep_1", "answered"), ("dep_1", None), ("dep_2", None))

    def fill(connection: Connection) -> None:
        _upgraded(connection, "0024")
        _row("organizations", id="org_1", name="a", plan="starter", created_at=1)(connection)
        for deployment in ("dep_1", "dep_2"):
            _row("deployments", id=deployment, name=deployment, call_type="outbound", **_DEPLOYMENT, **_NO_SETTINGS)(
                connection
            )
        for position, (deployment, outcome) in enumerate(outcomes):
            facts = {"id": f"ctc_{position}", "position": position, "phone": f"+{position}", "attempt_times": "[]"}
            known = {"org_id": "org_1", "status": "exhausted", "attempts": 1}
            _row("deployment_contacts", deployment_id=deployment, last_outcome=outcome, **facts, **known)(connection)

    on(empty_database_url, fill)
    migrate.upgrade(empty_database_url)
    counts = text("SELECT last_outcomes FROM deployments ORDER BY id")
    found = on(empty_database_url, lambda connection: connection.execute(counts).scalars().all())
    assert [json.loads(one) for one in found] == [{"busy": 2, "answered": 1}, {}]


def test_names_of_more_people_than_are_filled_in_at_once_are_all_filled_in(empty_database_url: str) -> None:
    made = {"org_id": "org_1", "call_type": "outbound", "simulated": True, "agent_id": "agt_1", "created_at": 1}
    made |= {"attempt_number": 1, "from_number": "+1", "status": "completed", "outcome": "busy", "ended_at": 9}

    def fill(connection: Connection) -> None:
        _upgraded(connection, "0023")
        _row("organizations", id="org_1", name="a", plan="starter", created_at=1)(connection)
        rows = [{**made, "id": f"cal_{i:05d}", "to_number": f"+{i}", "contact_id": f"c{i}"} for i in range(4_001)]
        names = ", ".join(rows[0])
        put = f"INSERT INTO calls ({names}, contact_name) VALUES ({', '.join(f':{n}' for n in rows[0])}, 'Ada')"
        connection.execute(text(put), rows)

    on(empty_database_url, fill)
    migrate.upgrade(empty_database_url)
    filled = text("SELECT count(*) FROM calls WHERE name_words = ' ada'")
    assert on(empty_database_url, lambda connection: connection.execute(filled).scalar_one()) == 4_001


@pytest.mark.parametrize("revision", ["0004", "0005"])
def test_words_of_an_older_database_are_found_as_if_they_were_indexed_today(
    empty_database_url: str, revision: str
) -> None:
    fixed: dict[str, Any] = {"org_id": "org_1", "call_type": "outbound", "simulated": True, "agent_id": "agt_É'\"1"}
    fixed |= {"attempt_number": 1, "from_number": "+1", "status": "completed", "outcome": "answered", "ended_at": 9}
    made = [("cal_3", 7, "one"), ("cal_1", 5, "hello two"), ("cal_2", 7, "hello three"), ("cal_4", 6, "hello")]

    def fill(connection: Connection) -> None:
        _upgraded(connection, revision)
        _row("organizations", id="org_1", name="Clinic", plan="growth", created_at=1)(connection)
        for call_id, at_ms, words in made:
            facts = {**fixed, "id": call_id, "created_at": at_ms, "to_number": f"+{call_id}", "contact_id": call_id}
            _row("calls", **facts, disposition="goal_met" if at_ms == 7 else None)(connection)
            _row("transcript_words", call_id=call_id, words=words)(connection)

    def indexed(connection: Connection) -> list[Any]:
        sqlite = connection.dialect.name == "sqlite"
        columns = "rowid, call_id, words, marks" if sqlite else "call_id, words"
        return list(connection.execute(text(f"SELECT {columns} FROM transcript_words ORDER BY call_id")))

    def again(connection: Connection) -> list[Any]:
        connection.execute(text("DELETE FROM transcript_words"))
        transcript_search.add(connection, [{"call_id": call_id, "words": words} for call_id, _, words in sorted(made)])
        return indexed(connection)

    on(empty_database_url, fill)
    migrate.upgrade(empty_database_url)
    carried = on(empty_database_url, indexed)
    assert [(row.call_id, row.words) for row in carried] == [(call_id, words) for call_id, _, words in sorted(made)]
    assert on(empty_database_url, again) == carried


def test_a_campaign_of_an_older_database_keeps_its_settings(empty_database_url: str) -> None:
    campaign = {
        "caller_id_strategy": "sticky",
        "calls_per_second": 2,
        "calling_hours": None,
        "retry_policy": '{"max_attempts":2}',
        "voicemail": '{"action":"continue"}',
        "compliance": '{"consent_column":"ja"}',
        "ring_timeout_seconds": 20,
        "max_call_duration_seconds": 60,
    }

    def fill(connection: Connection) -> None:
        _upgraded(connection, "0019")
        _row("organizations", id="org_1", name="a", plan="starter", created_at=1)(connection)
        _row("deployments", id="dep_1", name="a", call_type="outbound", **_DEPLOYMENT, **campaign)(connection)
        _row("deployments", id="dep_2", name="b", call_type="inbound", **_DEPLOYMENT, **_NO_SETTINGS)(connection)

    on(empty_database_url, fill)
    migrate.upgrade(empty_database_url)
    rows = on(empty_database_url, lambda connection: connection.execute(select(deployments).order_by("id")).all())
    assert settings_of(rows[0]) == CampaignSettings(
        caller_id_strategy="sticky",
        calls_per_second=2.0,
        retry_policy=RetryPolicy(max_attempts=2),
        voicemail=Voicemail(action="continue"),
        compliance=Compliance(consent_column="ja"),
        ring_timeout_seconds=20,
        max_call_duration_seconds=60,
    )
    assert rows[1].settings is None


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
