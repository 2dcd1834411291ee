"""The log of inbound routing: each question to a number's webhook, and what the caller got."""

import pytest

from tests.support.dashboard import logged_in, text_of
from tests.support.service import Tenant
from tests.support.webhooks.routing import CALLER, GOOD, bad, logged

PATH = "/numbers/routing"


@pytest.mark.requirement("DASH-56")
async def test_each_question_shows_the_answer_or_why_the_fallback_was_taken(tenant: Tenant) -> None:
    quiet = await tenant.client.phone_numbers.rent(country="US", label="quiet")
    asked = await tenant.client.phone_numbers.rent(country="US", label="asked")
    await tenant.client.phone_numbers.set_inbound_routing(id=asked.id, url="https://example.com/hook")
    await logged(tenant, asked.id, GOOD, bad())
    async with logged_in(tenant, role="viewer") as visit:
        html = await visit.page(PATH)
        assert f'<option value="{asked.id}" selected>' in html
        text = text_of(html)
        assert "The caller hears the busy tone." in text
        assert "The endpoint did not answer within 1 second." in text
        assert ("succeeded answer" in text, "timeout" in text, "1,000" in text) == (True, True, True)
        assert CALLER not in html
        failed = text_of(await visit.page(f"{PATH}?number={asked.id}&failed=true"))
        assert ("timeout" in failed, "succeeded answer" in failed) == (True, False)
        fast = text_of(await visit.page(f"{PATH}?number={asked.id}&slow=false&created_from=2020-01-01T00:00"))
        assert ("timeout" in fast, "succeeded answer" in fast) == (False, True)
        later = await visit.page(f"{PATH}?number={asked.id}&created_from=2090-01-01T00:00")
        assert "Nothing fits these filters" in later
        assert "has no routing webhook" in await visit.page(f"{PATH}?number={quiet.id}")
        assert f'href="{PATH}?number={asked.id}"' in await visit.page(f"/numbers/{asked.id}")


@pytest.mark.requirement("DASH-56")
async def test_a_filter_that_is_wrong_says_so_and_a_number_of_others_is_not_there(tenant: Tenant) -> None:
    async with logged_in(tenant) as visit:
        assert "You have no number yet" in await visit.page(PATH)
        number = await tenant.client.phone_numbers.rent(country="US")
        page = await visit.page(f"{PATH}?number={number.id}&created_from=soon", status=400)
        assert ("created_from" in page, 'value="soon"' in page) == (True, True)
        async with tenant.another_organization() as other:
            theirs = await other.client.phone_numbers.rent(country="US")
            await visit.page(f"{PATH}?number={theirs.id}", status=404)
