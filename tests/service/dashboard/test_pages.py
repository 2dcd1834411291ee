"""Every page: it is there, leads only to pages that are, shows no number, and forms follow the contract."""

import re
from html import unescape

import anyio
import pytest

from callwright.contract.agents.agents import create_agent
from callwright.contract.webhooks import create_webhook
from callwright.service.dashboard.html.forms import form_fields, input_of
from callwright.service.dashboard.html.navigation import PAGES
from tests.support.campaigns import people, phone, run
from tests.support.dashboard import ORIGIN, is_page, kind_of, logged_in, reached, stranger, text_of
from tests.support.imports import await_import
from tests.support.service import Tenant

pytestmark = pytest.mark.service(workers=True)


@pytest.mark.requirement("DASH-15")
async def test_every_page_is_reached_from_the_first_one_and_shows_no_number_of_a_person(tenant: Tenant) -> None:
    await run(tenant, people(4))
    await tenant.client.webhooks.create(url="https://hooks.example.com/a", events=["*"])
    await tenant.client.do_not_call.add(entries=[{"number": phone(99)}])  # pyright: ignore[reportArgumentType]
    async with logged_in(tenant) as visit:
        found = await reached(visit)
    shown = {path: answer.text for path, answer in found.items() if is_page(answer)}
    assert [path for path, text in shown.items() if any(phone(index) in text for index in (*range(4), 99))] == []
    assert {path: answer.status_code for path, answer in found.items() if answer.status_code not in (200, 303)} == {}
    assert len({kind_of(path) for path in found}) > 35


@pytest.mark.requirement("DASH-15")
@pytest.mark.parametrize("address", [address for address, _ in PAGES])
async def test_nobody_sees_a_page_without_a_session(tenant: Tenant, address: str) -> None:
    async with stranger(tenant) as visit:
        answer = await visit.http.get(address)
        assert answer.status_code == 303 or "Log in" in answer.text
        assert "Log out" not in answer.text


def test_a_form_has_the_labels_the_help_and_the_choices_of_the_contract() -> None:
    names = ("name", "voice_id", "system_prompt")
    name, voice, prompt = form_fields(create_agent, names, {"name": "Ada"}, None, {"voice_id": [("v", "A voice")]})
    assert (name.kind, name.value, name.is_required) == ("text", "Ada", True)
    assert name.help == create_agent.takes.model_fields["name"].description
    assert (voice.kind, voice.options) == ("choice", (("v", "A voice"),))
    assert prompt.kind == "area"
    sent = input_of(
        create_webhook, ("url", "events"), {"url": [" https://a.example "], "events": ["call.*\r\n\r\nx.y "]}
    )
    assert sent == {"url": "https://a.example", "events": ["call.*", "x.y"]}


async def test_an_agent_is_made_changed_and_deleted(tenant: Tenant) -> None:
    async with logged_in(tenant) as visit:
        words = {"name": "Ada", "voice_id": "en-US-ada", "language": "en-US", "system_prompt": "Say\r\nhello."}
        made = await visit.send("/agents/new", **words)
        page = made.headers["location"]
        assert "Say\nhello." in unescape(await visit.page(page))
        wrong = await visit.send(f"{page}/edit", **{**words, "language": "klingon!"})
        assert (wrong.status_code, 'id="fault-language"' in wrong.text) == (400, True)
        assert (await visit.send(f"{page}/edit", **{**words, "name": "Bob"})).headers["location"] == page
        assert (await visit.send(f"{page}/delete")).headers["location"] == "/agents"
        await visit.page(page, status=404)
    agents = [agent async for agent in tenant.client.agents.list()]
    assert agents == []


async def test_a_secret_of_a_subscription_is_shown_once(tenant: Tenant) -> None:
    async with logged_in(tenant) as visit:
        made = await visit.send(
            "/webhooks/new", url="https://hooks.example.com/b", events="call.completed\ncall.started"
        )
        secret = re.search(r"whsec_[0-9A-Za-z_-]{43}", unescape(made.text))
        assert secret is not None
        (webhook,) = [webhook async for webhook in tenant.client.webhooks.list()]
        page = await visit.page(f"/webhooks/{webhook.id}")
    assert secret[0] not in page
    assert sorted(webhook.events) == ["call.completed", "call.started"]


async def test_a_list_is_uploaded_and_its_refused_rows_are_named(tenant: Tenant) -> None:
    async with logged_in(tenant) as visit:
        made = await visit.send("/audiences/new", name="Spring", default_country="US")
        page = made.headers["location"]
        begun = (await visit.send(page)).json()
        content = b"name,phone\nAnn,(202) 555-0141\nBob,12\n"
        assert (await visit.http.put(begun["upload"], content=content)).status_code < 300
        address = f"{page.removesuffix('/upload')}/imports/{begun['import_id']}"
        state = (await visit.http.get(address)).json()
        for _ in range(1_000):
            if state["status"] not in ("uploading", "pending", "importing"):
                break
            await anyio.sleep(0.02)
            state = (await visit.http.get(address)).json()
        assert (state["added"], state["invalid"]) == (1, 1)
        rejects = text_of(await visit.page(page.replace("/upload", "/rejects")))
    assert "3 invalid phone this is not a phone number" in rejects


@pytest.mark.requirement("DASH-16")
async def test_only_an_owner_tops_up_and_the_play_money_arrives(tenant: Tenant) -> None:
    before = (await tenant.client.wallet.get()).balance
    async with logged_in(tenant, role="member") as member:
        fields = {"form_token": await member.token(), "amount": "25.00"}
        refused = await member.http.post("/wallet/topup", data=fields, headers={"Origin": ORIGIN})
        assert (refused.status_code, "Only an owner" in refused.text) == (403, True)
    async with logged_in(tenant) as owner:
        asked = await owner.send("/wallet/topup", shown_at="/wallet", amount="25.00")
        checkout = asked.headers["location"].removeprefix(ORIGIN)
        paid = await owner.http.post(checkout)
        assert (paid.status_code, 'href="../../wallet"' in paid.text) == (200, True)
        assert "25.00 USD" in await owner.page("/wallet")
        wrong = await owner.send("/wallet/topup", shown_at="/wallet", amount="a lot")
        assert (wrong.status_code, 'value="a lot"' in wrong.text) == (409, True)
    assert float((await tenant.client.wallet.get()).balance.amount) == float(before.amount) + 25
    (asked_for,) = [entry async for entry in tenant.client.audit_log.list(action="wallet.topup_asked")]
    assert (asked_for.actor_label, asked_for.user_id) == ("Operator", asked_for.actor_id)


@pytest.mark.requirement("DASH-78")
async def test_what_was_booked_leads_to_the_call_that_it_is_about(tenant: Tenant) -> None:
    made = await run(tenant, people(1, sim_outcome="answered"))
    (call,) = [call async for call in tenant.client.calls.list(deployment_id=made.id)]
    async with logged_in(tenant) as visit:
        page = await visit.page("/wallet")
    assert f'<a href="/calls/{call.id}">call …{call.id[-6:]}</a>' in page
    assert re.search(r"-0\.\d{4} USD", page)
    assert re.search(r"\d bookings? in all", text_of(page))


@pytest.mark.requirement("DASH-75")
async def test_an_address_that_is_not_there_is_a_page_for_a_browser_and_a_problem_for_a_program(tenant: Tenant) -> None:
    browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    async with logged_in(tenant) as visit, stranger(tenant) as nobody:
        mine, theirs = [await one.http.get("/results", headers=browser) for one in (visit, nobody)]
        programs = [
            await visit.http.get("/results"),
            await visit.http.post("/results", headers=browser),
            await visit.http.get("/payments/nothing", headers=browser),
        ]
    assert (mine.status_code, theirs.status_code) == (404, 404)
    assert "There is no page at this address." in mine.text
    assert 'href="/campaigns">To the campaigns' in mine.text
    assert 'href="/login">Log in' in theirs.text
    assert [(answer.status_code, "error" in answer.json()) for answer in programs] == [(404, True)] * 3


@pytest.mark.requirement("DASH-79")
@pytest.mark.parametrize("path", ["/agents/new", "/audiences/new", "/do-not-call/add", "/webhooks/new"])
async def test_a_viewer_is_told_before_typing_that_a_form_is_for_members(tenant: Tenant, path: str) -> None:
    agent = await tenant.client.agents.create(
        name="Ada", voice_id="en-US-ada", language="en-US", system_prompt="Say hello."
    )
    async with logged_in(tenant, role="viewer") as viewer:
        page = await viewer.page(path, status=403)
        shown = await viewer.page(f"/agents/{agent.id}")
    assert "<textarea" not in page
    assert "Ask a member or an owner" in text_of(page)
    assert f"/agents/{agent.id}/edit" not in shown


@pytest.mark.requirement("DASH-74")
async def test_an_ordinary_list_needs_a_name_and_a_country_and_the_rest_stands_behind_more(tenant: Tenant) -> None:
    async with logged_in(tenant) as visit:
        form = await visit.page("/audiences/new")
        await tenant.client.audiences.create(name="Spring", default_country="DE")
        again = await visit.page("/audiences/new")
        wrong = await visit.send("/audiences/new", name="Autumn", phone_column="x" * 101)
    ordinary, more = form.split("<summary>More</summary>")
    assert 'name="default_country"' in ordinary
    assert [name for name in ("phone_column", "dedupe", "priority_column") if f'name="{name}"' not in more] == []
    assert ">United States</option>" in form
    assert '<option value="DE" selected>Germany</option>' in again
    assert '<details class="more-fields" open>' in wrong.text
    assert "rows with the same number" in form


@pytest.mark.requirement("DASH-74")
async def test_the_rows_that_were_not_taken_are_a_file_in_which_no_cell_is_a_formula(tenant: Tenant) -> None:
    audience = await tenant.client.audiences.create(name="Spring", default_country="US")
    content = "name,phone\nAnn,(202) 555-0141\nBob,=12\nEve,(202) 555-0142\nIda,(202) 555-0141\n"
    await await_import(tenant, audience.id, content)
    async with logged_in(tenant) as visit:
        page = text_of(await visit.page(f"/audiences/{audience.id}/rejects"))
        file = await visit.http.get(f"/audiences/{audience.id}/rejects.csv")
    lines = file.text.removeprefix("\ufeff").splitlines()
    assert "the headings are line 1" in page
    assert lines[0] == "Line,Why,In words,Column,Value"
    assert [line.split(",")[0] for line in lines[1:]] == ["3", "5"]
    assert all(not cell.startswith("=") for line in lines for cell in line.split(","))


async def test_what_a_user_does_is_in_the_audit_log_with_the_users_name(tenant: Tenant) -> None:
    async with logged_in(tenant) as visit:
        words = {"name": "Ada", "voice_id": "en-US-ada", "language": "en-US", "system_prompt": "Say hello."}
        made = await visit.send("/agents/new", **words)
        agent = await tenant.client.agents.get(id=made.headers["location"].removeprefix("/agents/"))
        assert agent.created_by_key_id is None
        (entry,) = [entry async for entry in tenant.client.audit_log.list(subject_id=agent.id)]
        assert (entry.action, entry.actor_label) == ("create_agent", "Operator")
        assert entry.user_id == entry.actor_id
