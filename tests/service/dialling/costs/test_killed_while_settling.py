"""SIGKILL between the question what a call cost and the commit: each call and the ledger change exactly once."""

from pathlib import Path
from random import Random

import anyio
import pytest

from callwright.service.platform.database.database import Database
from callwright.service.rules import review_thresholds
from tests.kills.charges import KilledCharging
from tests.support.campaigns import ONCE, people
from tests.support.ledger_check import check_ledgers
from tests.support.priced_calls import real_draft, start_by_plan, take_prices
from tests.support.scripted_carrier import ScriptedCarrier, driven_on_lines, lines_of
from tests.support.service import open_service

LIMIT_S = 90
CALLS, KILLS = 80, 5


@pytest.mark.requirement("COST-04")
async def test_late_prices_are_booked_once_whatever_process_is_killed_while_it_books_them(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(review_thresholds, "SHORT_CALL_MS", 0)  # so many short calls are looked at by a person
    with anyio.fail_after(LIMIT_S):
        async with open_service(database_url, tmp_path, workers=False) as tenant:
            await take_prices(tenant)
            fast = {"max_concurrency": 20, "calls_per_second": 100.0}
            made = await real_draft(tenant, people(CALLS), retry_policy=ONCE, **fast)
            await start_by_plan(tenant, made.id)
            async with lines_of(tenant, ScriptedCarrier(talk_s=0.02), lines=20):
                await driven_on_lines(tenant, made.id)
        processes = 1 if database_url.startswith("sqlite") else 2
        run = KilledCharging(database_url, tmp_path, Random(5), processes=processes)
        figures = await run.figures(KILLS)
        assert not figures.wrong, f"{figures}: {figures.wrong[:5]}"
        assert figures.calls == CALLS
        assert figures.kills, "every kill came after the end"
        assert any(count > 1 for count in figures.asked.values()), f"no kill came before a commit: {figures}"
        async with Database.opened(database_url) as database:
            await check_ledgers(database)
