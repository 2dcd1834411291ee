"""Everything that a service can come to keep about one person, and a search for what is left of it."""

from dataclasses import dataclass
from typing import Any, Literal

import anyio
from sqlalchemy import Connection, String, Text, func, select, text

from callwright.service.dialling.eligibility import do_not_call
from callwright.service.platform.database.packed_text import PackedText
from callwright.service.platform.database.sqlite.full_text import MarkedIndex
from callwright.service.tables.schema import calls, metadata, outbox, transcript_words
from callwright.service.tables.transcript_search import MARKED
from tests.support.campaigns import make_agent, rent, run
from tests.support.database.indexed_words import NAME_INDEXES, indexed_terms
from tests.support.imports import await_import
from tests.support.service import Tenant
from tests.support.webhooks.sent_events import put_attempt, put_delivery, subscribe

NUMBER = "+14155500007"
DIGITS = NUMBER.removeprefix("+")
FIRST, LAST = "Quirina", "Zwettler"
OTHER_NUMBER, OTHER_NAME = "+14155500008", "Balthasar"
TRACES = (DIGITS, FIRST, LAST)
CSV = f"""phone_number,first_name,last_name,crm,sim.outcome
{NUMBER},{FIRST},{LAST},{DIGITS},answered
{OTHER_NUMBER},{OTHER_NAME},Kern,K-8,answered
{NUMBER},{FIRST},{LAST},{DIGITS},answered
+1234,{FIRST},{LAST},{DIGITS},answered
+14155500009,Olga,Prem,K-9,no_answer
"""
MOST = 5_000_000
MARK = MarkedIndex(calls, transcript_words, MARKED).mark
INDEXED = text("SELECT count(*) FROM transcript_words WHERE transcript_words MATCH :match")


@dataclass(frozen=True)
class Life:
    """Where the person occurs."""

    audience_id: str
    deployment_id: str
    call_id: str
    import_id: str


async def live(tenant: Tenant) -> Life:
    """A person is imported, called, recorded, told of to a subscription, and called once more by hand."""
    client = tenant.client
    agent = await make_agent(tenant)
    number = await rent(tenant)
    made = await client.audiences.create(name="Patients", external_id_column="crm")
    imported = await await_import(tenant, made.id, CSV)
    assert (imported.added, imported.invalid, imported.duplicates) == (3, 1, 1)
    given: dict[str, Any] = {"audience_id": made.id, "agent_id": agent.id, "phone_number_ids": [number.id]}
    ended = await run(tenant, [], "Reminders", **given)
    (call,) = (await client.calls.list(to=NUMBER)).data
    formats: tuple[Literal["mp3", "wav"], ...] = ("mp3", "wav")
    for audio in formats:
        async with client.calls.get_recording(call_uuid=call.id, format=audio) as download:
            await download.read(MOST)
    (event_id, *_) = await tenant.database.read(
        lambda connection: connection.execute(select(outbox.c.id).where(outbox.c.subject_id == call.id)).scalars().all()
    )
    webhook = await subscribe(tenant)
    delivery_id = await put_delivery(tenant, webhook.id, event_id)
    await put_attempt(tenant, delivery_id, 1, response_excerpt=f"stored for {FIRST} {LAST}, {NUMBER}")
    person: dict[str, Any] = {"first_name": FIRST, "last_name": LAST, "sim.outcome": "answered"}
    placed = await client.idempotent(f"call-{DIGITS}").calls.place(
        agent_id=agent.id, phone_number_id=number.id, to=NUMBER, variables=person
    )
    await tenant.ended(placed.id)
    rows: list[dict[str, Any]] = [
        {"phone_number": NUMBER, **person},
        {"phone_number": "nonsense", "crm": DIGITS, "first_name": FIRST},
    ]
    await client.audiences.create(name="Further", external_id_column="crm", rows=rows)
    return Life(made.id, ended.id, call.id, imported.id)


async def opt_out(tenant: Tenant, number: str = NUMBER) -> None:
    """The person is on the do-not-call list of the simulated network."""
    now_ms = tenant.services.clock.now_ms()
    listed = (tenant.services.ids, tenant.org_id, {number: "cal_1"})
    await tenant.database.write(lambda each: do_not_call.opt_out(each, *listed, simulated=True, now_ms=now_ms))


def _found(connection: Connection, traces: tuple[str, ...]) -> set[str]:
    places: set[str] = set()
    sqlite = connection.dialect.name == "sqlite"
    for table in metadata.sorted_tables:
        if sqlite and table is transcript_words:  # an index without what it was made of
            continue
        for column in table.columns:
            if isinstance(column.type, PackedText):  # nothing can be found in it before it is read
                texts = [each.lower() for each in connection.execute(select(column)).scalars() if each is not None]
                if any(trace.lower() in each for each in texts for trace in traces):
                    places.add(f"{table.name}.{column.name}")
            elif isinstance(column.type, (String, Text)):
                for trace in traces:
                    like = func.lower(column).contains(trace.lower(), autoescape=True)
                    if connection.execute(select(func.count()).select_from(table).where(like)).scalar_one():
                        places.add(f"{table.name}.{column.name}")
    if sqlite:
        for index in NAME_INDEXES:
            terms = indexed_terms(connection, index)
            if any(trace.lower() in term for term in terms for trace in traces):
                places.add(index)
        for trace in traces:
            number = MARK("to_number", f"+{trace.removeprefix('+')}")
            if connection.execute(INDEXED, {"match": f'"{trace}" * OR "{number}"'}).scalar_one():
                places.add("transcript_words")
    return places


async def places_with(tenant: Tenant, *traces: str) -> set[str]:
    """The columns of all tables in which one of the texts stands."""
    return await tenant.database.read(_found, traces)


async def files_of(tenant: Tenant, call_id: str) -> list[str]:
    """The recordings of a call on the disk."""
    folder = anyio.Path(tenant.services.settings.data)
    return [str(path) async for path in folder.rglob(f"{call_id}*")]
