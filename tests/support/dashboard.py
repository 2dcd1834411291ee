"""A browser without a window: it keeps the cookie, follows forms, and reads pages as text."""

import re
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from html import unescape

from callwright.client.transport import ASGITransport, httpx
from callwright.service import accounts
from callwright.service.accounts import passwords, sessions
from callwright.service.accounts.password_hashing import PasswordHashing
from callwright.service.dashboard.html.navigation import PAGES
from tests.support.service import Tenant

PASSWORD = "seven quiet herons"
ORIGIN = "http://service"
_TOKEN = re.compile(r'name="form_token" value="([0-9a-f]{64})"')
_HIDDEN = re.compile(r'<input type="hidden" name="([a-z_]+)" value="([^"]*)"')
_TAG = re.compile(r"<[^>]*>")


class Visit:
    """Somebody who looks at pages, logged in or not."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http

    async def page(self, path: str, *, status: int = 200) -> str:
        """The HTML of a page, which must be answered so."""
        answer = await self.http.get(path)
        assert answer.status_code == status, (path, answer.status_code, text_of(answer.text)[:400])
        return answer.text

    async def token(self, path: str = "/settings/session") -> str:
        """The token of the forms of this session."""
        found = _TOKEN.search(await self.page(path))
        assert found is not None
        return found[1]

    async def send(self, path: str, *, shown_at: str | None = None, **fields: str) -> httpx.Response:
        """Opens the page of a form, fills in fields, and sends it with what is hidden in its first form to there."""
        forms = (await self.page(shown_at or path)).split("<form")[1:]
        form = next((one for one in forms if _is_for(one, path)), "")
        hidden = {name: unescape(value) for name, value in _HIDDEN.findall(form.partition("</form>")[0])}
        return await self.http.post(path, data={**hidden, **fields}, headers={"Origin": ORIGIN})


def _is_for(form: str, path: str) -> bool:
    tag = form.partition(">")[0]
    return 'method="post"' in tag and ("action=" not in tag or f'action="{path}"' in tag)


def hidden_of(html: str) -> dict[str, str]:
    """What is hidden in the forms of a page."""
    return {name: unescape(value) for name, value in _HIDDEN.findall(html)}


def text_of(html: str) -> str:
    """What a page says, without its tags."""
    return re.sub(r"\s+", " ", unescape(_TAG.sub(" ", html))).strip()


def kind_of(path: str) -> str:
    """The page of an address, whatever it is about: `/calls/{id}`."""
    return re.sub(r"[a-z]{3}_[0-9A-Za-z]{24}", "{id}", path.partition("?")[0])


async def reached(visit: Visit, *, of_each_kind: int = 2) -> dict[str, httpx.Response]:
    """The answers of all addresses that pages lead to, from the first one on; of each kind so many at most."""
    found: dict[str, httpx.Response] = {}
    kinds: Counter[str] = Counter()
    waiting = [address for address, _ in PAGES]
    while waiting:
        path = waiting.pop(0)
        if path in found or kinds[kind_of(path)] >= of_each_kind:
            continue
        kinds[kind_of(path)] += 1
        answer = found[path] = await visit.http.get(path)
        if is_page(answer):
            links = re.findall(r'(?:href|src|action)="(/[^"]*)"', answer.text)
            waiting += [unescape(link) for link in links if not link.startswith(("/logout", "/static"))]
    return found


def is_page(answer: httpx.Response) -> bool:
    """Whether an answer is a page, and not a file or sound."""
    return answer.headers.get("content-type", "").startswith("text/html")


@asynccontextmanager
async def stranger(tenant: Tenant, address: str = "127.0.0.1", **headers: str) -> AsyncGenerator[Visit]:
    """Somebody who is not logged in, at an address."""
    transport = ASGITransport(app=tenant.service.asgi, client=(address, 123))
    async with httpx.AsyncClient(transport=transport, base_url=ORIGIN, headers=headers) as http:
        yield Visit(http)


async def login_code(tenant: Tenant, user_id: str | None = None) -> str:
    """The code of a link, of the first owner or another user."""
    services = tenant.services
    who = user_id or await services.database.read(accounts.first_owner, tenant.org_id)
    assert who is not None
    return await services.database.write(sessions.make_login_link, tenant.org_id, who, services.clock.now_ms())


@asynccontextmanager
async def logged_in(tenant: Tenant, *, role: str | None = None) -> AsyncGenerator[Visit]:
    """The first owner at the dashboard, or a new user with another role."""
    user_id = None
    if role is not None:
        services, email = tenant.services, f"{role}@example.com"
        given = (services.ids, tenant.org_id, email, services.clock.now_ms())
        user_id = await services.database.write(lambda connection: accounts.add_member(connection, *given, role=role))
    async with stranger(tenant) as visit:
        code = await login_code(tenant, user_id)
        answer = await visit.http.post("/login", data={"code": code}, headers={"Origin": ORIGIN})
        assert (answer.status_code, answer.headers["location"]) == (303, "/campaigns"), answer.text
        yield visit


async def password_of(tenant: Tenant, role: str) -> str:
    """A new user with a role, whose password is `PASSWORD`; returns the id. The address is that of `logged_in`."""
    services, now_ms = tenant.services, tenant.services.clock.now_ms()
    given = (services.ids, tenant.org_id, f"{role}@example.com", now_ms)
    user_id = await services.database.write(lambda connection: accounts.add_member(connection, *given, role=role))
    new_hash = await PasswordHashing().hashed(PASSWORD)
    await services.database.write(passwords.first_password, services.ids, user_id, new_hash, now_ms)
    return user_id
