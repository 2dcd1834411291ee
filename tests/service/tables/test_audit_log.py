"""Reading the audit log: newest first, in parts, and by who, what and when."""

from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, insert

from callwright.service.accounts.principals import SERVICE
from callwright.service.tables import audit_log, schema
from callwright.service.tables.audit_log import EntryFilter, Position, entry_row
from tests.support.accounts import by_key
from tests.support.database.statements import recorded
from tests.support.service import Tenant, open_service

MOMENTS = (1_000, 2_000, 3_000)
NAMES = ("update_agent", "delete_agent")


async def put(tenant: Tenant, *rows: dict[str, Any]) -> None:
    await tenant.database.write(lambda connection: connection.execute(insert(schema.audit_log), rows).rowcount)


async def fill(tenant: Tenant) -> list[dict[str, Any]]:
    """Some entries in the past, several of them at each moment; those of their organization, the newest first."""
    ids = tenant.services.ids
    rows = [
        entry_row(ids, tenant.org_id, action, f"agt_{place}", by=by_key(f"key_{place}"), at_ms=at_ms)
        for at_ms, action, place in product(MOMENTS, NAMES, range(3))
    ]
    await put(tenant, *rows)
    return rows


async def walk(tenant: Tenant, wanted: EntryFilter, size: int) -> list[Any]:
    """All entries that are wanted, in parts of that size. Between the parts a newer one is added."""
    seen: list[Any] = []
    after: Position | None = None
    while True:
        read = partial(audit_log.entries, after=after, limit=size)
        found = await tenant.database.read(read, tenant.org_id, wanted)
        seen += found
        if len(found) < size:
            return seen
        after = Position(found[-1].at, found[-1].id)
        newer = entry_row(tenant.services.ids, tenant.org_id, NAMES[0], "agt_new", by=SERVICE, at_ms=MOMENTS[-1])
        await put(tenant, newer)


async def test_entries_come_newest_first_each_once_whatever_is_added_meanwhile(tenant: Tenant, other: Tenant) -> None:
    rows = await fill(tenant)
    await fill(other)
    for size in (1, 2, 5, 18, 50):
        found = [
            row for row in await walk(tenant, EntryFilter(until_ms=MOMENTS[-1] + 1), size) if row.subject != "agt_new"
        ]
        assert {row.id for row in found} == {row["id"] for row in rows}
        assert len(found) == len(rows)
        assert [row.at for row in found] == sorted((row.at for row in found), reverse=True)


async def test_entries_are_found_by_time_actor_action_and_subject(tenant: Tenant) -> None:
    await fill(tenant)

    async def found(**wanted: Any) -> set[tuple[int, str, str]]:
        given: dict[str, Any] = {"until_ms": MOMENTS[-1] + 1, **wanted}
        rows = await walk(tenant, EntryFilter(**given), 50)
        return {(row.at, row.action, row.subject) for row in rows}

    everything = {(at, name, f"agt_{place}") for at, name, place in product(MOMENTS, NAMES, range(3))}
    assert await found() == everything
    assert await found(since_ms=2_000) == {one for one in everything if one[0] >= 2_000}
    assert await found(since_ms=2_000, until_ms=3_000) == {one for one in everything if one[0] == 2_000}
    assert await found(actor="key_1") == {one for one in everything if one[2] == "agt_1"}
    assert await found(action="delete_agent") == {one for one in everything if one[1] == "delete_agent"}
    one = await found(subject="agt_2", action="update_agent", since_ms=3_000)
    assert one == {(3_000, "update_agent", "agt_2")}
    assert await found(subject="agt") == set()


async def test_a_part_is_read_by_the_index_from_where_it_begins(tmp_path: Path) -> None:
    async with open_service(f"sqlite:///{tmp_path / 'callwright.db'}", tmp_path, workers=False) as tenant:

        def plan(connection: Connection) -> str:
            statement = audit_log.statement("org_1", EntryFilter(), Position(1, "adt_1"), 10)
            text = statement.compile(connection, compile_kwargs={"literal_binds": True})
            return "\n".join(row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}"))

        said = await tenant.database.read(plan)
        assert "ix_audit_log_at (org_id=? AND at<?)" in said
        assert "TEMP B-TREE FOR ORDER BY" not in said  # only entries of one moment are sorted


async def test_the_labels_of_keys_are_told_by_their_ids(tenant: Tenant) -> None:
    async with tenant.another_organization():
        labels = await tenant.database.read(audit_log.labels_of, tenant.org_id)
        assert list(labels.values()) == ["tests"]


async def test_what_was_done_to_a_thing_is_found_by_its_index(tenant: Tenant) -> None:
    with recorded() as said:
        await tenant.client.audit_log.list(subject_id="agt_1")
        await tenant.database.read(audit_log.entries, tenant.org_id, EntryFilter(subject="agt_1"))
    pages = [each for each in said if "FROM audit_log" in each.text and "LIMIT" in each.text]
    plans = await tenant.database.read(lambda connection: [each.plan(connection) for each in pages])
    assert ["ix_audit_log_subject" in plan for plan in plans] == [True, True], plans
