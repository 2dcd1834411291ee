"""Every form and page of the dashboard, asked for by who may not, and with fields that nobody would write."""

import re

import pytest
from sqlalchemy import Connection

from callwright.service import accounts
from callwright.service.accounts import sessions
from callwright.service.app import pipeline_of
from callwright.service.dashboard.routes import dashboard_routes
from tests.support.campaigns import people, run
from tests.support.dashboard import ORIGIN, kind_of, logged_in, reached, stranger
from tests.support.service import Tenant

OWN = ("/logout", "/settings/session", "/settings/account")
"""What a viewer may change: their own session and account."""
ODD = {"name": "\x00", "amount": "1e999", "entries": "💥" * 3_000, "role": "root", "answer": "maybe", "next": "//x"}


def forms(tenant: Tenant) -> list[str]:
    """The addresses that take a form, with an id that nothing has."""
    routes = dashboard_routes(tenant.services, pipeline_of(tenant.services))
    taking = [route.path for route in routes if "POST" in (route.methods or ())]
    return [re.sub(r"\{[^}]*\}", "usr_" + "0" * 24, path) for path in taking if path != "/logout"]


@pytest.mark.requirement("DASH-08")
async def test_no_form_is_taken_from_a_viewer_or_a_stranger(tenant: Tenant) -> None:
    paths = forms(tenant)
    assert len(paths) > 40
    async with logged_in(tenant, role="viewer") as viewer, stranger(tenant) as nobody:
        token = await viewer.token()
        for path in paths:
            answer = await viewer.http.post(path, data={"form_token": token}, headers={"Origin": ORIGIN})
            if not path.startswith((*OWN, "/login", "/forgot", "/reset", "/invitation")):
                assert answer.status_code in (400, 403, 404, 409, 422), (path, answer.status_code)
            assert answer.status_code < 500, path
            refused = await nobody.http.post(path, data={"form_token": token}, headers={"Origin": ORIGIN})
            if not path.startswith(("/login", "/forgot", "/reset", "/invitation")):
                assert (refused.status_code, refused.headers["location"]) == (303, "/login"), path
            assert refused.status_code < 500, path


@pytest.mark.requirement("DASH-07")
@pytest.mark.parametrize("fields", [{}, ODD], ids=["empty", "odd"])
async def test_no_form_of_an_owner_fails_and_none_is_taken_from_another_site(
    tenant: Tenant, fields: dict[str, str]
) -> None:
    async with logged_in(tenant) as owner:
        token = await owner.token()
        for path in forms(tenant):
            given = {"form_token": token, **fields}
            elsewhere = await owner.http.post(path, data=given, headers={"Origin": "https://evil.example"})
            assert elsewhere.status_code in (400, 401, 403, 404), (path, elsewhere.status_code)
            answer = await owner.http.post(path, data=given, headers={"Origin": ORIGIN})
            assert answer.status_code < 500, (path, answer.text[:300])
            if path.startswith("/settings/account"):
                token = await owner.token()


@pytest.mark.requirement("DASH-15")
@pytest.mark.service(workers=True)
async def test_no_page_about_a_thing_is_shown_to_another_organization(tenant: Tenant) -> None:
    await run(tenant, people(3))
    await tenant.client.webhooks.create(url="https://hooks.example.com/a", events=["*"])
    services, now_ms = tenant.services, tenant.services.clock.now_ms()

    def others(connection: Connection) -> str:
        org = accounts.create_organization(connection, services.ids, "others", "growth", now_ms)
        user = accounts.add_member(connection, services.ids, org, "eve@example.com", now_ms, role="owner")
        return sessions.make_login_link(connection, org, user, now_ms)

    code = await services.database.write(others)
    async with logged_in(tenant) as owner, stranger(tenant) as eve:
        found = await reached(owner)
        about = [path for path, answer in found.items() if answer.status_code == 200 and kind_of(path) != path]
        # The operator of the installation is in both organizations.
        paths = [path for path in about if not path.startswith("/settings/people") and "_" in path.partition("?")[0]]
        assert len({kind_of(path) for path in paths}) > 20
        assert (await eve.http.post("/login", data={"code": code})).status_code == 303
        shown = {path: answer.status_code for path in paths if (answer := await eve.http.get(path)).status_code != 404}
        asks_first = [path for path in shown if kind_of(path) == "/webhooks/{id}/secret"]  # shows nothing of it
        for path in asks_first:
            assert (await eve.send(path)).status_code == 404
            del shown[path]
    assert shown == {}
