"""Getting in: links work once and for a while, sessions end, and pages lead to where one logs in."""

from pathlib import Path

import pytest

from callwright.service import accounts
from callwright.service.accounts import sessions
from callwright.service.platform.clock.clock import HOUR, MINUTE
from callwright.service.rest.authentication.auth_throttle import ALLOWED
from callwright.service.settings import ServiceSettings
from tests.support.clock_set_by_test import Process
from tests.support.dashboard import ORIGIN, hidden_of, logged_in, login_code, stranger, text_of
from tests.support.service import Tenant, open_service


@pytest.mark.requirement("DASH-01")
async def test_a_link_logs_in_once(tenant: Tenant) -> None:
    code = await login_code(tenant)
    async with stranger(tenant) as first, stranger(tenant) as second:
        assert (await first.http.post("/login", data={"code": code})).status_code == 303
        again = await second.http.post("/login", data={"code": code})
        assert (again.status_code, "was used" in again.text) == (401, True)
        assert "New campaign" in await first.page("/campaigns")
        assert (await second.http.get("/campaigns")).headers["location"] == "/login?next=%2Fcampaigns"


@pytest.mark.requirement("DASH-02")
async def test_a_link_is_good_for_fifteen_minutes_and_a_session_for_twelve_idle_hours(
    tenant: Tenant, process: Process
) -> None:
    http, clock, database = process.http, process.clock, process.services.database
    owner = await database.read(accounts.first_owner, tenant.org_id)
    assert owner is not None

    async def status(path: str = "/campaigns") -> int:
        return (await http.get(path)).status_code

    late, code = [
        await database.write(sessions.make_login_link, tenant.org_id, owner, clock.now_ms()) for _ in range(2)
    ]
    clock.move(15 * MINUTE - 1)
    assert (await http.post("/login", data={"code": code})).status_code == 303
    clock.move(1)
    assert (await http.post("/login", data={"code": late})).status_code == 401
    for _ in range(2):
        clock.move(12 * HOUR - 2 * MINUTE)
        assert await status() == 200
    clock.move(12 * HOUR)
    assert await status() == 303


@pytest.mark.requirement("DASH-03")
@pytest.mark.parametrize(
    ("public_url", "name"), [(None, "callwright_session"), ("https://a.example", "__Host-callwright")]
)
async def test_the_cookie_is_kept_from_scripts_other_sites_and_plain_http(
    database_url: str, tmp_path: Path, public_url: str | None, name: str
) -> None:
    settings = ServiceSettings(data=tmp_path, database_url=database_url, public_url=public_url)
    async with open_service(database_url, tmp_path, workers=False, settings=settings) as tenant:
        async with stranger(tenant) as visit:
            answer = await visit.http.post("/login", data={"code": await login_code(tenant)})
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"{name}=svc_ses_")
    flags = {part.strip().lower() for part in cookie.split(";")[1:]}
    assert {"httponly", "samesite=lax", "path=/"} <= flags
    assert ("secure" in flags) == (public_url is not None)
    assert not any(flag.startswith("domain") for flag in flags)


@pytest.mark.parametrize(
    "target", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)"]
)
async def test_a_login_leads_to_no_other_site(tenant: Tenant, target: str) -> None:
    async with stranger(tenant) as visit:
        answer = await visit.http.post("/login", data={"code": await login_code(tenant), "next": target})
        assert answer.headers["location"] == "/campaigns"


async def test_a_login_leads_back_to_the_page_that_was_wanted(tenant: Tenant) -> None:
    async with stranger(tenant) as visit:
        sent_to = (await visit.http.get("/calls?outcome=busy")).headers["location"]
        assert sent_to == "/login?next=%2Fcalls%3Foutcome%3Dbusy"
        assert 'value="/calls?outcome=busy"' in await visit.page(sent_to)


@pytest.mark.requirement("DASH-04")
async def test_who_guesses_codes_is_slowed_down(tenant: Tenant) -> None:
    async with stranger(tenant) as visit:
        answers = [(await visit.http.post("/login", data={"code": f"{at:048x}"})) for at in range(ALLOWED + 1)]
    assert [answer.status_code for answer in answers] == [401] * ALLOWED + [429]
    assert int(answers[-1].headers["retry-after"]) > 0


@pytest.mark.requirement("DASH-05")
async def test_logging_out_ends_the_session_and_everywhere_ends_all_of_them(tenant: Tenant) -> None:
    async with logged_in(tenant) as here, logged_in(tenant) as there, logged_in(tenant) as elsewhere:
        answer = await here.send("/logout", shown_at="/settings/session")
        assert answer.headers["location"] == "/login"
        assert (await here.http.get("/campaigns")).status_code == 303
        await there.page("/campaigns")
        await there.send("/logout", shown_at="/settings/session", everywhere="yes")
        for visit in (there, elsewhere):
            assert (await visit.http.get("/campaigns")).status_code == 303


@pytest.mark.requirement("DASH-05")
async def test_the_session_of_a_user_who_leaves_ends_at_once(tenant: Tenant) -> None:
    async with logged_in(tenant, role="member") as visit:
        await visit.page("/campaigns")
        services = tenant.services
        who = await services.database.read(accounts.find_user, "member@example.com")
        await services.database.write(accounts.leave, services.ids, tenant.org_id, who.id, services.clock.now_ms())
        assert (await visit.http.get("/campaigns")).status_code == 303


@pytest.mark.requirement("DASH-06")
async def test_a_session_is_no_api_key(tenant: Tenant) -> None:
    async with logged_in(tenant) as visit:
        secret = visit.http.cookies["callwright_session"]
        answer = await visit.http.get("/v1/agents", headers={"Authorization": f"Bearer {secret}"})
        assert (answer.status_code, answer.json()["error"]) == (401, "api_key_required")
        without = await visit.http.get("/v1/agents")
        assert (without.status_code, without.json()["error"]) == (401, "api_key_required")


async def test_no_session_is_kept_in_the_clear(tenant: Tenant) -> None:
    async with logged_in(tenant) as visit:
        secret = visit.http.cookies["callwright_session"]
        row = await tenant.database.read(sessions.session_of, secret, tenant.services.clock.now_ms())
        assert row is not None
        assert secret not in {str(value) for value in row}


async def test_another_organization_of_the_user_can_be_shown_and_no_other(tenant: Tenant) -> None:
    async with tenant.another_organization() as other, logged_in(tenant, role="member") as visit:
        services = tenant.services
        who = await services.database.read(accounts.find_user, "member@example.com")
        token = await visit.token()
        fields = {"form_token": token, "org_id": other.org_id}
        refused = await visit.http.post("/settings/session", data=fields, headers={"Origin": ORIGIN})
        assert (refused.status_code, "not in this organization" in refused.text) == (409, True)
        await services.database.write(
            accounts.join, services.ids, other.org_id, who.id, "viewer", services.clock.now_ms()
        )
        assert (await visit.http.post("/settings/session", data=fields, headers={"Origin": ORIGIN})).status_code == 303
        assert "viewer" in text_of(await visit.page("/settings/session"))


@pytest.mark.requirement("DASH-65")
async def test_a_link_for_who_is_logged_in_already_begins_a_new_session_and_ends_the_former(tenant: Tenant) -> None:
    async with logged_in(tenant) as visit, stranger(tenant) as former:
        former.http.cookies.update(visit.http.cookies)
        assert "You are logged in" in text_of(await visit.page("/login?next=/calls"))
        answer = await visit.send("/login", code=await login_code(tenant))
        assert (answer.status_code, answer.headers["location"]) == (303, "/campaigns")
        await visit.page("/campaigns")
        assert (await former.http.get("/campaigns")).status_code == 303


@pytest.mark.requirement("DASH-65")
async def test_a_link_that_is_somebody_elses_logs_in_only_who_says_so(tenant: Tenant) -> None:
    async with logged_in(tenant, role="member") as visit:
        sent = await visit.send("/login", code=await login_code(tenant))
        assert "You are logged in as member" in text_of(sent.text)
        assert "member@example.com" in await visit.page("/settings/account")
        hidden = hidden_of(sent.text)
        answer = await visit.http.post("/login", data={**hidden, "anew": "yes"}, headers={"Origin": ORIGIN})
        assert answer.status_code == 303
        assert "member@example.com" not in await visit.page("/settings/account")


@pytest.mark.requirement("DASH-65")
async def test_a_wrong_code_leaves_who_is_logged_in_where_they_are(tenant: Tenant) -> None:
    async with logged_in(tenant) as visit:
        assert (await visit.send("/login", code="0" * 48)).status_code == 401
        await visit.page("/campaigns")


@pytest.mark.requirement("DASH-93")
@pytest.mark.parametrize(
    ("host", "origin", "is_taken"),
    [
        ("evil.example", "http://evil.example", False),
        ("10.0.0.5:8080", "https://a.example", True),
        ("127.0.0.1:8080", "http://127.0.0.1:8080", True),
        ("127.0.0.1:8080", "http://evil.example", False),
    ],
)
async def test_with_a_public_url_its_pages_alone_send_forms_and_those_of_this_machine(
    database_url: str, tmp_path: Path, host: str, origin: str, is_taken: bool
) -> None:
    settings = ServiceSettings(data=tmp_path, database_url=database_url, public_url="https://a.example")
    async with open_service(database_url, tmp_path, workers=False, settings=settings) as tenant:
        async with stranger(tenant) as visit:
            fields, headers = {"code": await login_code(tenant)}, {"Host": host, "Origin": origin}
            answer = await visit.http.post("/login", data=fields, headers=headers)
    assert answer.status_code == (303 if is_taken else 403)


@pytest.mark.requirement("DASH-94")
@pytest.mark.parametrize(
    ("referer", "leads_to"),
    [
        (f"{ORIGIN}/agents/new?copy=1", "/login?next=%2Fagents%2Fnew%3Fcopy%3D1"),
        ("https://elsewhere.example/agents/new", "/login"),
        ("http://[", "/login"),
        ("", "/login"),
    ],
)
async def test_a_form_that_is_sent_without_a_session_leads_back_to_its_page_of_this_service_alone(
    tenant: Tenant, referer: str, leads_to: str
) -> None:
    async with stranger(tenant) as visit:
        sent = await visit.http.post(
            "/agents/new", data={"name": "Rita"}, headers={"Origin": ORIGIN, "Referer": referer}
        )
    assert (sent.status_code, sent.headers["location"]) == (303, leads_to)
