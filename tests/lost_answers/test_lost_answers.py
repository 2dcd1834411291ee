"""A carrier without a key that loses answers, hosts that are killed and frozen: nobody is rung twice."""

import os
from pathlib import Path
from random import Random

import pytest

from tests.lost_answers.run import Run
from tests.support.database.databases import Engine, RunDatabases

SHORT_S = 8.0

pytestmark = pytest.mark.xdist_group("lost answers")


@pytest.mark.requirement("LINE-01")
@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
async def test_nobody_is_rung_twice_and_each_leg_ends(database_url: str, engine: Engine) -> None:
    figures = await Run(database_url, Random(1), hosts=3).figures(SHORT_S)
    assert figures.kills, figures
    assert not figures.rung_twice, figures
    assert not figures.rung_though_not_dialled, figures
    assert not figures.open_legs, figures
    assert figures.causes["no_answer"], figures


@pytest.mark.requirement("LINE-01", "TWILIO-02")
@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
async def test_nobody_is_rung_twice_through_twilio(database_url: str, engine: Engine, tmp_path: Path) -> None:
    figures = await Run(database_url, Random(3), hosts=3, data=tmp_path).figures(SHORT_S)
    assert figures.kills, figures
    assert not figures.rung_twice, figures
    assert not figures.rung_though_not_dialled, figures
    assert not figures.open_legs, figures
    assert figures.causes["no_answer"] + figures.causes["user_busy"], figures


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
async def test_what_a_queue_does_rings_somebody_twice(databases: RunDatabases, engine: Engine) -> None:
    for seed in range(5):  # as a rule the first run shows it
        url = databases.postgres(f"queue_{os.getpid()}_{seed}", migrated=True)
        try:
            figures = await Run(url, Random(seed), hosts=4, as_a_queue=True).figures(2 * SHORT_S)
        finally:
            databases.drop(url)
        if figures.rung_twice:
            return
    raise AssertionError("nobody was rung twice without the fence: the proof shows nothing")
