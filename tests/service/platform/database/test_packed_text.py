"""Texts that are compressed on SQLite: read as they were written, whenever and however they were stored."""

import pytest
from sqlalchemy import Connection, insert, select, text

from callwright.service.platform.database.database import Database
from callwright.service.platform.database.packed_text import PackedText
from callwright.service.platform.database.prepared import Prepared
from callwright.service.tables.schema import organizations, outbox
from callwright.service.tables.schema.packed import EVENT_DATA, EVIDENCE, TURNS

OWNER = {"id": "org_1", "name": "Ada", "plan": "pro", "created_at": 1}
EVENT = {"id": "evt_1", "org_id": "org_1", "type": "call.started", "created_at": 1, "simulated": True}
DATA = '{"call_id":"cal_0Vc","deployment_id":"dep_0Vc","agent_id":"agt_0Vc","call_type":"outbound","attempt_number":1}'
HAPPENED = select(outbox.c.data).where(outbox.c.id == "evt_1")


@pytest.mark.parametrize("said", [DATA, "", "x", "Zoë 👋 " * 3_000, "\ud800", "\x00" * 100, DATA * 500])
def test_a_text_is_read_as_it_was_written(said: str) -> None:
    packed = EVENT_DATA.packed(said)
    assert (packed if isinstance(packed, str) else EVENT_DATA.unpacked(packed)) == said


def test_a_text_that_would_not_get_shorter_stays_as_it_is() -> None:
    assert EVENT_DATA.packed("qzj") == "qzj"


@pytest.mark.parametrize(
    ("column", "stored", "said"),
    [
        (EVENT_DATA, "00430f74430cfbc0e9be1600", '{"call_id":"cal_1","disposition":"busy"}'),
        (EVIDENCE, "00c31a23e67a1811e216a4145b0b00", '{"rules_version":"2027.1.1","regions":["FR"]}'),
        (TURNS, "00232a503d32f5b0065b6d2c00", '[{"index":0,"role":"contact","text":"Hi.","start_seconds":0.5}]'),
    ],
)
def test_what_earlier_versions_stored_stays_readable(column: PackedText, stored: str, said: str) -> None:
    assert column.unpacked(bytes.fromhex(stored)) == said


def test_a_new_dictionary_leaves_texts_of_the_old_one_readable() -> None:
    old, new = PackedText("one two three four"), PackedText("one two three four", "five six seven eight")
    assert new.unpacked(_bytes(old.packed("one two three four"))) == "one two three four"
    assert new.unpacked(_bytes(new.packed("five six seven eight"))) == "five six seven eight"


def _bytes(packed: str | bytes) -> bytes:
    assert isinstance(packed, bytes)
    return packed


async def test_a_column_is_short_on_sqlite_and_its_statements_see_texts(database_url: str) -> None:
    def stored(connection: Connection) -> tuple[list[str], str, int]:
        connection.execute(insert(organizations), OWNER)
        connection.execute(insert(outbox), {**EVENT, "data": DATA})
        Prepared(insert(outbox)).run_many(connection, [{**EVENT, "id": f"evt_{one}", "data": DATA} for one in (2, 3)])
        found = connection.execute(select(outbox.c.data)).scalars().all()
        kept = connection.execute(text("SELECT length(data) FROM outbox WHERE id = 'evt_3'")).scalar_one()
        return list(found), Prepared(HAPPENED).first(connection, {}).data, kept

    async with Database.opened(database_url) as database:
        found, one, kept = await database.write(stored)
    assert found == [DATA] * 3
    assert one == DATA
    assert kept == len(DATA) if database_url.startswith("postgresql") else kept < len(DATA) / 2


async def test_a_text_that_was_stored_plainly_is_read(database_url: str) -> None:
    def stored(connection: Connection) -> str:
        connection.execute(insert(organizations), OWNER)
        connection.execute(insert(outbox), {**EVENT, "data": DATA})
        connection.execute(text("UPDATE outbox SET data = :data"), {"data": DATA})
        return connection.execute(HAPPENED).scalar_one()

    async with Database.opened(database_url) as database:
        assert await database.write(stored) == DATA
