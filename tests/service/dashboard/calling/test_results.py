"""Results of calls as charts, each with its finding in words and the same figures as a table."""

import re
from pathlib import Path

import pytest

from callwright.service.dashboard.html.charts import Bar, best_answered
from callwright.service.dashboard.pages.calling import results
from callwright.service.handlers.calls import read_groups
from callwright.service.platform.clock.clock import DAY, moment
from tests.support.calls.stored_calls import DIALLED_MS, put_call
from tests.support.campaigns import draft, people, run
from tests.support.dashboard import logged_in, text_of
from tests.support.service import Tenant, open_service

_TITLES = (
    *("By day (UTC)", "By hour where the person is", "By weekday where the person is", "By own number"),
    *("By version of the agent", "By outcome"),
)


@pytest.mark.requirement("DASH-54")
@pytest.mark.service(workers=True)
async def test_a_campaign_shows_its_results_as_charts_that_can_be_read_as_tables(tenant: Tenant) -> None:
    made = await run(tenant, people(6))
    stats = await tenant.client.calls.stats(deployment_id=[made.id], group_by=["outcome"])
    async with logged_in(tenant) as visit:
        html = await visit.page(f"/campaigns/{made.id}/results")
        assert f'href="/campaigns/{made.id}/results"' in await visit.page(f"/campaigns/{made.id}")
    text = text_of(html)
    assert f"{stats.calls} calls {stats.answered} answered" in text
    for title in _TITLES:
        assert f"<h2>{title}</h2>" in html
        assert f'aria-label="{title}, as a table"' in html
    for group in stats.groups:
        assert f"{group.key['outcome'].replace('_', ' ')} {group.calls} {group.answered} " in text
    assert html.count('role="img"') == 3
    assert all("nswered" in label for label in re.findall(r'role="img" aria-label="([^"]*)"', html))
    assert "style=" not in html


@pytest.mark.requirement("DASH-54")
async def test_all_calls_of_some_days_are_those_of_these_days(tenant: Tenant) -> None:
    for at in range(4):
        await put_call(tenant, created_at=DIALLED_MS + at * DAY, outcome="answered" if at else "busy")
    first, last = (f"{moment(DIALLED_MS + at * DAY):%Y-%m-%d}" for at in (1, 2))
    async with logged_in(tenant) as visit:
        page = text_of(await visit.page(f"/calls/results?from={first}&to={last}"))
        assert "2 calls 2 answered, 100%" in page
        assert "No calls were made" in await visit.page("/calls/results?from=2001-01-01&to=2001-01-02")
        assert "write a day such as" in await visit.page("/calls/results?from=soon%22", status=400)
        assert "comes after the last" in await visit.page(f"/calls/results?from={last}&to={first}", status=400)


@pytest.mark.requirement("DASH-54")
async def test_of_too_many_calls_the_newest_days_are_read_and_the_page_says_so(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_groups, "MOST_READ", 3)
    monkeypatch.setattr(results, "MOST_READ", 3)
    days = [f"{moment(DIALLED_MS + at * DAY):%Y-%m-%d}" for at in range(3)]
    for at in (0, 0, 1, 1, 2):
        await put_call(tenant, created_at=DIALLED_MS + at * DAY)
    async with logged_in(tenant) as visit:
        page = text_of(await visit.page(f"/calls/results?from={days[0]}"))
        assert f"calls from {days[1]} on" in page
        assert "none of ours 3 " in page
        monkeypatch.setattr(results, "MOST_READ", 0)
        page = text_of(await visit.page(f"/calls/results?from={days[0]}"))
    assert "The last day alone has more" in page
    assert "By own number" not in page


async def test_the_smallest_plan_answers_the_page(database_url: str, tmp_path: Path) -> None:
    async with open_service(database_url, tmp_path, plan="starter", workers=False) as tenant:
        await put_call(tenant)
        async with logged_in(tenant) as visit:
            assert "1 call 1 answered" in text_of(await visit.page("/calls/results"))


async def test_a_campaign_without_calls_says_so(tenant: Tenant) -> None:
    made = await draft(tenant, people(1))
    async with logged_in(tenant, role="viewer") as visit:
        assert "No calls were made" in await visit.page(f"/campaigns/{made.id}/results")
        await visit.page("/campaigns/dep_0000000000000000000000zz/results", status=404)


@pytest.mark.parametrize(
    ("bars", "said"),
    [
        ([Bar("a", 10, 5), Bar("b", 10, 1)], "Answered most often a: 50% of 10 calls; least often b: 10% of 10."),
        ([Bar("a", 10, 5), Bar("b", 1, 1)], "Answered a: 50% of 10 calls."),
        ([Bar("a", 6, 3), Bar("b", 8, 4)], "Answered equally often: 50%."),
        ([Bar("a", 6), Bar("b", 8)], "No call was answered."),
        ([Bar("a", 1, 1)], "Too few calls to compare: fewer than 5 in each."),
    ],
)
def test_a_finding_names_the_best_bar_of_those_with_enough_calls(bars: list[Bar], said: str) -> None:
    assert best_answered(bars) == said
