"""`callwright lines`: a process that carries calls and does nothing else, beside others on the same database."""

from contextlib import AsyncExitStack, ExitStack

from rich.console import Console

from callwright.contract.checks.counts import count_of
from callwright.server.commands.command_error import CommandError
from callwright.server.commands.serve import bound, drained
from callwright.server.commands.signals import stop_signals
from callwright.server.embedded.embedded import listening, service_of
from callwright.server.settings import ProgramSettings
from callwright.service.platform.database.engines import file_of
from callwright.service.telephony.lines.availability import why_no_lines


async def lines(settings: ProgramSettings, host: str, port: int) -> None:
    """Carries calls until stopped (Ctrl-C or SIGTERM), then lets those under way end. Raises `CommandError`."""
    if file_of(settings.database_url) is not None:
        raise CommandError(
            "lines of their own need a database that several processes share: --database postgresql://…; on SQLite "
            "`callwright serve` carries the calls itself"
        )
    by_twilio = settings.lines.twilio_account_sid is not None
    if settings.lines.sip_trunk is None and not by_twilio:
        raise CommandError(
            "there is no carrier to carry calls of: set CALLWRIGHT_SIP_TRUNK or CALLWRIGHT_TWILIO_ACCOUNT_SID"
        )
    if by_twilio and settings.lines.lines_url is None:
        raise CommandError(
            "CALLWRIGHT_TWILIO_ACCOUNT_SID needs CALLWRIGHT_LINES_URL here: the address at which Twilio reaches port "
            f"{port} of this process alone, such as https://lines-1.example.com"
        )
    if (why := why_no_lines(settings.lines.count)) is not None:
        raise CommandError(why)
    with ExitStack() as sockets, stop_signals() as told_to_stop:
        listener = sockets.enter_context(bound(host, port)) if by_twilio else None
        async with service_of(settings, workers=False) as (service, _), AsyncExitStack() as listeners:
            if listener is not None:
                await listeners.enter_async_context(listening(service.asgi.media, listener))
            said = f"[bold green]Callwright[/] carries up to {count_of(settings.lines.count, 'call')} at once"
            where = f"; sound from Twilio comes to port {port}, for {settings.lines.lines_url}" if by_twilio else ""
            Console(stderr=True, highlight=False, soft_wrap=True).print(said + where)
            await told_to_stop()
            await drained(service, told_to_stop)
