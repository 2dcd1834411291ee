"""`callwright open`: a one-time link to the dashboard, opened in the browser of this machine."""

import webbrowser

from anyio import to_thread
from rich.console import Console
from sqlalchemy import Connection

from callwright.server.commands.accounts.accounts import account_database
from callwright.server.commands.command_error import CommandError
from callwright.server.settings import ProgramSettings
from callwright.service import accounts
from callwright.service.accounts import sessions
from callwright.service.platform.data_folder import DataFolder
from callwright.service.platform.ids import Ids

LOGIN = "/login"


async def run(settings: ProgramSettings, org: str | None, user: str | None, prints: bool) -> None:
    """Makes a link and opens it; with `prints` it is only printed. Raises `CommandError`."""
    root = settings.public_url or _served_at(settings)

    def work(connection: Connection, ids: Ids, now_ms: int) -> str:
        return login_code(connection, ids, org, user, now_ms)

    async with account_database(settings) as (database, ids, now_ms):
        code = await database.write(work, ids, now_ms)
    address = link(root, code)
    if not prints and await to_thread.run_sync(webbrowser.open, address):
        Console(stderr=True).print(f"The dashboard opens in your browser: {root}", highlight=False, soft_wrap=True)
        return
    Console().out(address)


def login_code(connection: Connection, ids: Ids, org: str | None, user: str | None, now_ms: int) -> str:
    """The code of a new link: of a user in an organization, by default the first owner of the only one.

    Raises:
        AccountError: there is no such organization or user, or it is not clear which is meant.
    """
    name = org or _only_organization(connection)
    if name == accounts.DEFAULT_ORGANIZATION:
        org_id = accounts.default_organization(connection, ids, now_ms)
    else:
        org_id = accounts.find_organization(connection, name)
    user_id = accounts.first_owner(connection, org_id) if user is None else accounts.find_user(connection, user).id
    if user_id is None:
        raise accounts.AccountError(f"{name} has no owner; say who logs in with --user")
    return sessions.make_login_link(connection, org_id, user_id, now_ms)


def _only_organization(connection: Connection) -> str:
    known = [str(row.name) for row in accounts.organizations_of(connection)]
    if len(known) > 1:
        raise accounts.AccountError(f"there are several organizations: {', '.join(known[:5])}; name one with --org")
    return known[0] if known else accounts.DEFAULT_ORGANIZATION


def link(root: str, code: str) -> str:
    """The address of a login code, which stands behind the #: browsers send that to nobody."""
    return f"{root}{LOGIN}#{code}"


def _served_at(settings: ProgramSettings) -> str:
    announced = DataFolder(settings.data).address()
    if announced is None:
        raise CommandError("no service runs on this folder; start one with `callwright serve`, then open it")
    return announced.base_url.removesuffix("/v1")
