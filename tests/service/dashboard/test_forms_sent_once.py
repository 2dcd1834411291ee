"""The hidden mark of a form that makes something: what no page made is refused with words, and nothing fails."""

import pytest

from tests.support.campaigns import draft, people
from tests.support.dashboard import ORIGIN, hidden_of, logged_in, text_of
from tests.support.service import Tenant

pytestmark = pytest.mark.service(workers=False)
FORMS = (
    "/audiences/new",
    "/agents/new",
    "/campaigns/new",
    "/numbers/rent/one?country=US&number_type=local&price=1.15",
)
MARKS = ["é", "１２", "💥", "\ufeff", "\x00", "", "x" * 24, "0" * 25, "0" * 1_000]


@pytest.mark.requirement("DASH-87")
@pytest.mark.parametrize("mark", MARKS)
async def test_a_mark_that_no_page_made_is_refused_in_words_and_nothing_is_made(tenant: Tenant, mark: str) -> None:
    campaign = await draft(tenant, people(2))
    async with logged_in(tenant) as visit:
        for path in (
            "/numbers/rent/one?country=US&number_type=local&price=1.15",
            "/audiences/new",
            "/agents/new",
            "/campaigns/new",
            f"/campaigns/{campaign.id}/start",
        ):
            given = {**hidden_of(await visit.page(path)), "name": "Made by hand", "once": mark}
            answer = await visit.http.post(path, data=given, headers={"Origin": ORIGIN})
            assert (answer.status_code, "not as the page made it" in text_of(answer.text)) == (400, True), path
    assert "Made by hand" not in [audience.name async for audience in tenant.client.audiences.list()]
    assert (await tenant.client.deployments.get(id=campaign.id)).status == "draft"


@pytest.mark.requirement("DASH-87")
async def test_the_form_that_was_refused_comes_back_as_it_was_typed_and_can_be_sent(tenant: Tenant) -> None:
    async with logged_in(tenant) as visit:
        given = {**hidden_of(await visit.page("/audiences/new")), "name": "Patients of May", "once": "é"}
        refused = await visit.http.post("/audiences/new", data=given, headers={"Origin": ORIGIN})
        assert "Patients of May" in refused.text
        again = {**hidden_of(refused.text), "name": "Patients of May"}
        assert (await visit.http.post("/audiences/new", data=again, headers={"Origin": ORIGIN})).status_code == 303
    names = [audience.name async for audience in tenant.client.audiences.list()]
    assert names.count("Patients of May") == 1
