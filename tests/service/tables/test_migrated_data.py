"""What migrations make of the data of older programs."""

import json
from functools import partial
from typing import Any

import pytest
from sqlalchemy import Connection, select, text

from callwright.contract.deployments.dialling import Compliance, RetryPolicy, Voicemail
from callwright.contract.deployments.settings import CampaignSettings
from callwright.service.dialling import transfers
from callwright.service.platform.clock.clock import moment
from callwright.service.platform.search_words import word_column
from callwright.service.tables import transcript_search
from callwright.service.tables.campaign_settings import settings_of
from callwright.service.tables.ledger import check
from callwright.service.tables.migrations import upgrade as migrate
from callwright.service.tables.schema import agent_versions, audiences, deployments, do_not_call, webhooks
from tests.support.database.indexed_words import Indexed, empty, indexed, indexed_terms
from tests.support.database.older_databases import insert, on, upgraded

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


@pytest.mark.parametrize("until_ms", [1_795_262_400_000, None])
def test_the_earlier_secret_of_a_subscription_is_kept_with_its_end(
    empty_database_url: str, until_ms: int | None
) -> None:
    stored = {"created_at": 1, "updated_at": 1, "org_id": "org_1", "metadata": "{}"}
    own = {"url": "https://example.com", "events": "[]", "description": "", "status": "active", "enabled_at": 1}
    organization = insert("organizations", id="org_1", name="a", plan="starter", created_at=1)
    turned = {"secret": "whsec_ö", "previous_secret": "whsec_ü", "previous_secret_until": until_ms}

    def fill(connection: Connection) -> None:
        upgraded(connection, "0009")
        organization(connection)
        insert("webhooks", id="whk_1", **turned, **stored, **own)(connection)
        insert("webhooks", id="whk_2", secret="whsec_a", **stored, **own)(connection)

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
        upgraded(connection, "0017")
        insert("organizations", id="org_1", name="a", plan="starter", created_at=1)(connection)
        for audience in ("aud_1", "aud_2"):
            insert("audiences", id=audience, name=audience, metadata="{}", description="", **named, **counts)(
                connection
            )
        for position, (row, audience, phone, dedupe_key) in enumerate(people):
            facts = {"id": row, "audience_id": audience, "phone": phone, "dedupe_key": dedupe_key}
            insert("audience_rows", position=position, **facts, **kept)(connection)

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
        upgraded(connection, "0023")
        insert("organizations", id="org_1", name="a", plan="starter", created_at=1)(connection)
        insert("audiences", id="aud_1", name="a", metadata="{}", description="", **named, **counts)(connection)
        for position, cells in enumerate(people):
            facts = {"id": f"ctc_{position}", "position": position, "phone": f"+{position}"}
            insert("audience_rows", cells=json.dumps(cells), **facts, **kept)(connection)
        for index, name in enumerate(("Zoë", None, "")):
            facts = {"id": f"cal_{index}", "to_number": f"+{index}", "contact_id": f"ctc_{index}", "created_at": index}
            insert("calls", contact_name=name, **facts, **made)(connection)

    on(empty_database_url, fill)
    migrate.upgrade(empty_database_url)

    def words(connection: Connection, table: str) -> list[Any]:
        return list(connection.execute(text(f"SELECT name_words FROM {table} ORDER BY id")).scalars())

    assert on(empty_database_url, lambda connection: words(connection, "audience_rows")) == [
        *(word_column("José Álvarez"), word_column("Мария"), None, None)
    ]
    assert on(empty_database_url, lambda connection: words(connection, "calls")) == [word_column("Zoë"), None, None]
    if empty_database_url.startswith("sqlite"):  # on Postgres the index is one of the table
        for index, found in (("audience_names", ["alvarez", "jose", "=d0bcd0b0d180d0b8d18f"]), ("call_names", ["zoe"])):
            terms = on(empty_database_url, partial(indexed_terms, index=index))
            assert sorted(term[12:] for term in terms) == sorted(found), index


def test_people_of_an_older_database_are_counted_by_their_last_outcome(empty_database_url: str) -> None:
    outcomes = (("dep_1", "busy"), ("dep_1", "busy"), ("dep_1", "answered"), ("dep_1", None), ("dep_2", None))

    def fill(connection: Connection) -> None:
        upgraded(connection, "0024")
        insert("organizations", id="org_1", name="a", plan="starter", created_at=1)(connection)
        for deployment in ("dep_1", "dep_2"):
            insert("deployments", id=deployment, name=deployment, call_type="outbound", **_DEPLOYMENT, **_NO_SETTINGS)(
                connection
            )
        for position, (deployment, outcome) in enumerate(outcomes):
            facts = {"id": f"ctc_{position}", "position": position, "phone": f"+{position}", "attempt_times": "[]"}
            known = {"org_id": "org_1", "status": "exhausted", "attempts": 1}
            insert("deployment_contacts", deployment_id=deployment, last_outcome=outcome, **facts, **known)(connection)

    on(empty_database_url, fill)
    migrate.upgrade(empty_database_url)
    counts = text("SELECT last_outcomes FROM deployments ORDER BY id")
    found = on(empty_database_url, lambda connection: connection.execute(counts).scalars().all())
    assert [json.loads(one) for one in found] == [{"busy": 2, "answered": 1}, {}]


def test_names_of_more_people_than_are_filled_in_at_once_are_all_filled_in(empty_database_url: str) -> None:
    made = {"org_id": "org_1", "call_type": "outbound", "simulated": True, "agent_id": "agt_1", "created_at": 1}
    made |= {"attempt_number": 1, "from_number": "+1", "status": "completed", "outcome": "busy", "ended_at": 9}

    def fill(connection: Connection) -> None:
        upgraded(connection, "0023")
        insert("organizations", id="org_1", name="a", plan="starter", created_at=1)(connection)
        rows = [{**made, "id": f"cal_{i:05d}", "to_number": f"+{i}", "contact_id": f"c{i}"} for i in range(4_001)]
        names = ", ".join(rows[0])
        put = f"INSERT INTO calls ({names}, contact_name) VALUES ({', '.join(f':{n}' for n in rows[0])}, 'Ada')"
        connection.execute(text(put), rows)

    on(empty_database_url, fill)
    migrate.upgrade(empty_database_url)
    filled = text("SELECT count(*) FROM calls WHERE name_words = ' ada'")
    assert on(empty_database_url, lambda connection: connection.execute(filled).scalar_one()) == 4_001


def test_calls_that_were_transferred_before_were_so_at_their_end(empty_database_url: str) -> None:
    fixed: dict[str, Any] = {"org_id": "org_1", "call_type": "outbound", "simulated": True, "agent_id": "agt_1"}
    fixed |= {"attempt_number": 1, "from_number": "+1", "status": "completed", "created_at": 5, "ended_at": 9_000}

    def fill(connection: Connection) -> None:
        upgraded(connection, "0042")
        insert("organizations", id="org_1", name="Clinic", plan="growth", created_at=1)(connection)
        for call_id, outcome in (("cal_1", "transferred"), ("cal_2", "answered")):
            insert("calls", **fixed, id=call_id, contact_id=call_id, to_number=f"+{call_id}", outcome=outcome)(
                connection
            )

    on(empty_database_url, fill)
    migrate.upgrade(empty_database_url)
    found = text("SELECT transferred_at, transfer FROM calls ORDER BY id")
    rows = on(empty_database_url, lambda connection: connection.execute(found).all())
    transfer = transfers.shown(rows[0].transfer)
    assert transfer is not None
    assert (transfer.type, transfer.to, transfer.status, transfer.bridged_at) == (
        "warm",
        None,
        "bridged",
        moment(9_000),
    )
    assert [row.transferred_at for row in rows] == [9_000, None]
    assert rows[1].transfer is None


@pytest.mark.parametrize("revision", ["0004", "0005"])
def test_words_of_an_older_database_are_found_as_if_they_were_indexed_today(
    empty_database_url: str, revision: str
) -> None:
    fixed: dict[str, Any] = {"org_id": "org_1", "call_type": "outbound", "simulated": True, "agent_id": "agt_É'\"1"}
    fixed |= {"attempt_number": 1, "from_number": "+1", "status": "completed", "outcome": "answered", "ended_at": 9}
    made = [("cal_3", 7, "one"), ("cal_1", 5, "hello two"), ("cal_2", 7, "hello three"), ("cal_4", 6, "hello")]

    def fill(connection: Connection) -> None:
        upgraded(connection, revision)
        insert("organizations", id="org_1", name="Clinic", plan="growth", created_at=1)(connection)
        for call_id, at_ms, words in made:
            facts = {**fixed, "id": call_id, "created_at": at_ms, "to_number": f"+{call_id}", "contact_id": call_id}
            insert("calls", **facts, disposition="goal_met" if at_ms == 7 else None)(connection)
            insert("transcript_words", call_id=call_id, words=words)(connection)

    def again(connection: Connection) -> list[Indexed]:
        empty(connection)
        transcript_search.add(connection, [{"call_id": call_id, "words": words} for call_id, _, words in sorted(made)])
        return indexed(connection)

    on(empty_database_url, fill)
    migrate.upgrade(empty_database_url)
    carried = on(empty_database_url, indexed)
    assert [(row.call_id, row.words) for row in carried] == [(call_id, words) for call_id, _, words in sorted(made)]
    assert on(empty_database_url, again) == carried


def test_words_that_were_kept_twice_are_carried_over_and_can_be_taken_out(empty_database_url: str) -> None:
    fixed: dict[str, Any] = {"org_id": "org_1", "call_type": "outbound", "simulated": True, "agent_id": "agt_1"}
    fixed |= {"attempt_number": 1, "from_number": "+1", "status": "completed", "outcome": "answered", "ended_at": 9}
    made = [(f"cal_{place:04d}", 7 + place // 3, f"hello number {place}") for place in range(2_100)]

    def fill(connection: Connection) -> None:
        upgraded(connection, "0064")
        insert("organizations", id="org_1", name="Clinic", plan="growth", created_at=1)(connection)
        for place, (call_id, at_ms, words) in enumerate(made):
            facts = {**fixed, "id": call_id, "created_at": at_ms, "to_number": f"+1212555{place}"}
            insert("calls", **facts, contact_id=call_id, agent_version=2)(connection)
            turns = json.dumps([{"text": words}])
            insert("transcripts", call_id=call_id, org_id="org_1", turns=turns)(connection)
            row = {"call_id": call_id, "words": words}
            if connection.dialect.name == "sqlite":
                row |= {"rowid": at_ms * 1_000_000 + place % 3, "marks": "orgx6f72675f31"}
            insert("transcript_words", **row)(connection)

    def again(connection: Connection) -> list[Indexed]:
        empty(connection)
        transcript_search.add(connection, [{"call_id": call_id, "words": words} for call_id, _, words in made])
        return indexed(connection)

    on(empty_database_url, fill)
    migrate.upgrade(empty_database_url)
    carried = on(empty_database_url, indexed)
    assert [(row.call_id, row.words) for row in carried] == [(call_id, words) for call_id, _, words in made]
    gone = [call_id for call_id, *_ in made[1:]]
    on(empty_database_url, lambda connection: transcript_search.remove(connection, gone))
    assert on(empty_database_url, indexed) == carried[:1]
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
        upgraded(connection, "0019")
        insert("organizations", id="org_1", name="a", plan="starter", created_at=1)(connection)
        insert("deployments", id="dep_1", name="a", call_type="outbound", **_DEPLOYMENT, **campaign)(connection)
        insert("deployments", id="dep_2", name="b", call_type="inbound", **_DEPLOYMENT, **_NO_SETTINGS)(connection)

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


@pytest.mark.requirement("WALLET-01")
def test_the_money_of_an_older_database_adds_up_and_its_audiences_know_their_countries(empty_database_url: str) -> None:
    moved = [("topup", 100, 100), ("call_charge", -30, 70), ("number_rental", -20, 50), ("adjustment", -5, 45)]
    stored = {"created_at": 1, "updated_at": 1, "metadata": "{}"}
    counts = dict.fromkeys(("row_count", "valid_count", "invalid_count", "duplicate_count"), 0)

    def fill(connection: Connection) -> None:
        upgraded(connection, "0026")
        for org_id, reserved in (("org_1", 24), ("org_2", 0)):
            insert("organizations", id=org_id, name=org_id, plan="starter", created_at=1)(connection)
            wallet = {"threshold_micros": 0, "low": False, "play_money": True, "updated_at": 1}
            insert("wallets", org_id=org_id, balance_micros=45, reserved_micros=reserved, **wallet)(connection)
            for index, (type_, micros, after) in enumerate(moved):
                facts = {"id": f"{org_id}_{index}", "org_id": org_id, "description": "", "created_at": index}
                insert("transactions", type=type_, amount_micros=micros, balance_after_micros=after, **facts)(
                    connection
                )
        own = {"org_id": "org_1", "name": "a", "description": "", "status": "ready", "dedupe": "phone", "columns": "[]"}
        insert("audiences", id="aud_1", **own, **counts, **stored)(connection)
        for index, country in enumerate(("US", "DE", "US", None)):
            facts = {"id": f"ctc_{index}", "org_id": "org_1", "audience_id": "aud_1", "position": index, "cells": "{}"}
            insert("audience_rows", phone="+1", country=country, steering="{}", created_at=1, **facts)(connection)

    on(empty_database_url, fill)
    migrate.upgrade(empty_database_url)
    assert [on(empty_database_url, lambda c, org=org: check(c, org)) for org in ("org_1", "org_2")] == [[], []]
    counted = select(audiences.c.countries)
    known = on(empty_database_url, lambda connection: json.loads(connection.execute(counted).scalar_one()))
    assert known == {"US": 2, "DE": 1, "*": 1}


def test_an_opt_out_of_an_older_database_stays_without_note_and_author(empty_database_url: str) -> None:
    def fill(connection: Connection) -> None:
        upgraded(connection, "0026")
        insert("organizations", id="org_1", name="a", plan="starter", created_at=1)(connection)
        entry = {"number": "+14155500000", "simulated": False, "reason": "opted_out", "source_call_id": "cal_1"}
        insert("do_not_call", id="dnc_1", org_id="org_1", created_at=7, **entry)(connection)

    on(empty_database_url, fill)
    migrate.upgrade(empty_database_url)
    (row,) = on(empty_database_url, lambda connection: connection.execute(select(do_not_call)).all())
    assert (row.number, row.source_call_id, row.created_at) == ("+14155500000", "cal_1", 7)
    assert (row.note, row.created_by_key_id, row.expires_at) == (None, None, None)


@pytest.mark.requirement("VERSION-12")
def test_what_an_agent_says_is_its_first_version_and_that_of_campaigns_that_go_on_with_it(
    empty_database_url: str,
) -> None:
    words = {"system_prompt": "Süß", "welcome_message": "", "language": "de", "voice_id": "de-DE-anna"}
    stored = {"org_id": "org_1", "metadata": "{}", "created_by_key_id": "key_1", **words}
    kept = {**words, "name": "Ada", "agent_updated_at": 5}
    of_campaign = {**_NO_SETTINGS, **_DEPLOYMENT, "created_at": 1}

    def fill(connection: Connection) -> None:
        upgraded(connection, "0039")
        insert("organizations", id="org_1", name="a", plan="starter", created_at=1)(connection)
        insert("agents", id="agt_1", name="Ada", created_at=5, updated_at=5, **stored)(connection)
        insert("agents", id="agt_2", name="Bea", created_at=5, updated_at=9, model_name="m", **stored)(connection)
        for number, (agent_id, status) in enumerate(
            (("agt_1", "active"), ("agt_1", "completed"), ("agt_2", "paused"), ("agt_1", "draft"))
        ):
            snapshot = None if status == "draft" else json.dumps(kept)
            own = {"id": f"dep_{number}", "name": f"{number}", "agent_id": agent_id, "status": status}
            insert("deployments", **{**of_campaign, **own, "agent_snapshot": snapshot})(connection)

    on(empty_database_url, fill)
    migrate.upgrade(empty_database_url)
    rows = on(
        empty_database_url,
        lambda connection: connection.execute(select(agent_versions).order_by(agent_versions.c.agent_id)).all(),
    )
    assert [(row.agent_id, row.version, row.created_at, row.actor, row.restored_from) for row in rows] == [
        ("agt_1", 1, 5, "key_1", None),
        ("agt_2", 1, 9, None, None),
    ]
    none = dict.fromkeys(("hearing_provider", "speaking_provider", "speaking_voice", "model_provider"))
    assert [json.loads(row.fields) for row in rows] == [
        {**words, **none, "model_name": None},
        {**words, **none, "model_name": "m"},
    ]
    snapshots = select(deployments.c.agent_snapshot).order_by(deployments.c.id)
    found = on(empty_database_url, lambda connection: connection.execute(snapshots).scalars().all())
    assert [None if each is None else json.loads(each) for each in found] == [{**kept, "version": 1}, kept, kept, None]
