"""The same seed says the same words, whatever the order and the number of lines."""

import random
from pathlib import Path

import pytest
from sqlalchemy import Connection, select

from callwright.service.dialling.eligibility import do_not_call
from callwright.service.settings import ServiceSettings
from callwright.service.tables.schema import calls, transcripts
from tests.support.campaigns import make_agent, people, run
from tests.support.service import Tenant, open_service

Words = dict[tuple[str, int], tuple[str, bytes]]


def words_of(connection: Connection, deployment_id: str) -> Words:
    """What happened and what was said on each call, by number and attempt."""
    rows = connection.execute(
        select(calls.c.to_number, calls.c.attempt_number, calls.c.outcome, transcripts.c.turns)
        .outerjoin(transcripts, transcripts.c.call_id == calls.c.id)
        .where(calls.c.deployment_id == deployment_id)
    )
    return {(row.to_number, row.attempt_number): (row.outcome, (row.turns or "").encode()) for row in rows}


@pytest.mark.service(workers=True, extra_dollars=100)
async def test_another_order_and_other_lines_give_the_same_words(tenant: Tenant) -> None:
    rows = people(150)
    shuffled = random.Random(7).sample(rows, len(rows))
    agent = await make_agent(tenant)
    one = await run(tenant, rows, "one", agent_id=agent.id, max_concurrency=3)
    await tenant.database.write(do_not_call.clear_simulated, tenant.org_id)
    other = await run(tenant, shuffled, "other", agent_id=agent.id, max_concurrency=60, calls_per_second=37.0)
    read = tenant.database.read
    first, second = await read(words_of, one.id), await read(words_of, other.id)
    assert sum(1 for _, turns in first.values() if turns) > 60
    assert first == second


async def test_another_seed_gives_other_words_to_the_same_people(tmp_path: Path) -> None:
    found: list[Words] = []
    for seed in ("one", "two", "one"):
        folder = tmp_path / str(len(found))
        folder.mkdir()
        url = f"sqlite:///{folder / 'callwright.db'}"
        settings = ServiceSettings(data=folder, database_url=url, sim_seed=seed)
        async with open_service(url, folder, settings=settings) as tenant:
            ended = await run(tenant, people(60), max_concurrency=3 + len(found))
            found.append(await tenant.database.read(words_of, ended.id))
    assert found[0] == found[2] != found[1]
    same = [key for key in found[0] if found[0][key] == found[1].get(key)]
    assert len(same) < 30
