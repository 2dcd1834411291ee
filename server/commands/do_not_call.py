"""`callwright do-not-call`: the list of numbers that an organization does not call."""

from rich.console import Console
from rich.markup import escape
from sqlalchemy import Connection

from callwright.contract.checks.counts import count_of
from callwright.server.commands.accounts.accounts import account_database
from callwright.server.commands.command_error import CommandError
from callwright.server.commands.output.json_text import print_json
from callwright.server.settings import ProgramSettings
from callwright.service import accounts
from callwright.service.accounts import records
from callwright.service.dialling.eligibility import do_not_call as numbers
from callwright.service.platform.ids import Ids


async def empty(settings: ProgramSettings, org: str, simulated: bool, as_json: bool = False) -> None:
    """Takes the numbers of the simulated network off an organization's list; prints how many there were."""
    if not simulated:
        raise CommandError("add --simulated: only numbers of the simulated network are cleared, real ones stay")

    def work(connection: Connection, ids: Ids, now_ms: int) -> int:
        org_id = accounts.find_organization(connection, org)
        cleared = numbers.clear_simulated(connection, org_id)
        if cleared:
            records.add_audit_entry(
                connection, ids, org_id, "do_not_call.cleared", org_id, now_ms, {"simulated": cleared}
            )
        return cleared

    async with account_database(settings) as (database, ids, now_ms):
        cleared = await database.write(work, ids, now_ms)
    if as_json:
        print_json({"cleared": cleared})
        return
    Console().print(
        f"[bold]{escape(org)}[/] had {count_of(cleared, 'simulated number')} not to call, now none", highlight=False
    )
