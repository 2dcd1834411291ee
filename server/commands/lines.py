"""`callwright lines`: a process that carries calls and does nothing else, beside others on the same database."""

from rich.console import Console

from callwright.contract.checks.counts import count_of
from callwright.server.commands.command_error import CommandError
from callwright.server.commands.serve import drained
from callwright.server.commands.signals import stop_signals
from callwright.server.embedded.embedded import service_of
from callwright.server.settings import ProgramSettings
from callwright.service.platform.database.engines import file_of
from callwright.service.telephony.lines.availability import why_no_lines


async def lines(settings: ProgramSettings) -> None:
    """Carries calls until stopped (Ctrl-C or SIGTERM), then lets those under way end. Raises `CommandError`."""
    if file_of(settings.database_url) is not None:
        raise CommandError(
            "lines of their own need a database that several processes share: --database postgresql://…; on SQLite "
            "`callwright serve` carries the calls itself"
        )
    if settings.lines.twilio_account_sid is not None:
        raise CommandError(
            "Twilio brings the sound of calls to `callwright serve`: let that carry them (CALLWRIGHT_LINES), each "
            "process with its own CALLWRIGHT_LINES_URL. `callwright lines` carries calls of CALLWRIGHT_SIP_TRUNK alone"
        )
    if settings.lines.sip_trunk is None:
        raise CommandError("there is no carrier to carry calls of: set CALLWRIGHT_SIP_TRUNK")
    if (why := why_no_lines(settings.lines.count)) is not None:
        raise CommandError(why)
    with stop_signals() as told_to_stop:
        async with service_of(settings, workers=False) as (service, _):
            said = f"[bold green]Callwright[/] carries up to {count_of(settings.lines.count, 'call')} at once"
            Console(stderr=True, highlight=False, soft_wrap=True).print(said)
            await told_to_stop()
            await drained(service, told_to_stop)
