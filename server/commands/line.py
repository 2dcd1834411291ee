"""The command line: which commands there are and which flags they take."""

import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, TypeVar

import anyio
import typer
from rich.console import Console
from rich.markup import escape

from callwright.client.errors import CallwrightError, ServiceProblem
from callwright.server.failures import first_cause, reason
from callwright.server.settings import BadSetting, ProgramSettings, read_settings
from callwright.service.data_folder import DataFolderInUse

from .accounts import CommandError

app = typer.Typer(
    name="callwright",
    help="A voice-agent platform that an AI assistant can run.",
    no_args_is_help=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
orgs = typer.Typer(help="Organizations and their play money.", no_args_is_help=True)
keys = typer.Typer(help="API keys and personal keys.", no_args_is_help=True)
app.add_typer(orgs, name="orgs")
app.add_typer(keys, name="keys")

T = TypeVar("T")
Data = Annotated[Path | None, typer.Option("--data", help="Folder of the service (CALLWRIGHT_DATA, ~/.callwright).")]
Database = Annotated[
    str | None,
    typer.Option("--database", help="Database URL (CALLWRIGHT_DATABASE_URL), SQLite in the folder if absent."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print the result alone, for scripts.")]


def _settings(
    data: Path | None, database: str | None, given: Mapping[str, str] = MappingProxyType({})
) -> ProgramSettings:
    """The settings; `given` wins over the environment."""
    try:
        return read_settings({**os.environ, **given}, data=data, database_url=database)
    except BadSetting as error:
        raise _failed(str(error)) from error


def _failed(message: str) -> typer.Exit:
    Console(stderr=True).print(f"[bold red]callwright:[/] {escape(message)}", highlight=False, soft_wrap=True)
    return typer.Exit(2)


def _run(command: Callable[..., Awaitable[T]], *arguments: object, uvloop: bool = False) -> T:
    """Runs a command. What the person can put right ends the program with a sentence and status 2."""
    try:
        return anyio.run(command, *arguments, backend_options={"use_uvloop": uvloop and sys.platform != "win32"})
    except Exception as error:
        cause = first_cause(error)
        if isinstance(cause, DataFolderInUse):
            raise _failed(f"{cause}; give another --data, or stop it first") from error
        if isinstance(cause, CommandError | CallwrightError):
            raise _failed(cause.message if isinstance(cause, ServiceProblem) else str(cause)) from error
        if (why := reason(cause)) is not None:
            raise _failed(why) from error
        raise


def _version(asked: bool) -> None:
    if asked:
        typer.echo(version("callwright"))
        raise typer.Exit


@app.callback()
def callwright(
    asked: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """A voice-agent platform that an AI assistant can run."""


@app.command()
def mcp(data: Data = None, database: Database = None) -> None:
    """The MCP server over stdio (also without any command)."""
    from callwright.server.stdio import run

    given = [f"--data={data}"] if data else []
    raise typer.Exit(run([*given, *([f"--database={database}"] if database else [])]))


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Port to listen on; 0 takes a free one.")] = 8080,
    allowed_host: Annotated[
        list[str] | None,
        typer.Option(help="A name by which clients reach this machine, for MCP; may be given more than once."),
    ] = None,
    sticky: Annotated[
        bool | None,
        typer.Option(
            "--sticky/--no-sticky",
            help="Whether a client always reaches this same process: older MCP clients then get sessions in it. "
            "Without the flag, yes on SQLite and no on Postgres.",
        ),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(help="Which MCP tools there are: analyst, operator, builder, all (CALLWRIGHT_PROFILE)."),
    ] = None,
    toolsets: Annotated[
        str | None,
        typer.Option(help="Toolsets or tools, with commas, in place of the profile's (CALLWRIGHT_TOOLSETS)."),
    ] = None,
    exclude_tools: Annotated[
        str | None, typer.Option(help="Toolsets or tools, with commas, to leave out (CALLWRIGHT_EXCLUDE_TOOLS).")
    ] = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Only tools that read (CALLWRIGHT_READ_ONLY).")
    ] = False,
    data: Data = None,
    database: Database = None,
) -> None:
    """The service over HTTP: REST at /v1, its description at /openapi.json, MCP at /mcp and /sse, /healthz."""
    from .serve import Listening
    from .serve import serve as run

    where = Listening(host, port, tuple(allowed_host or ()), sticky)
    chosen = {
        "CALLWRIGHT_PROFILE": profile,
        "CALLWRIGHT_TOOLSETS": toolsets,
        "CALLWRIGHT_EXCLUDE_TOOLS": exclude_tools,
        "CALLWRIGHT_READ_ONLY": "true" if read_only else None,
    }
    given = {name: text for name, text in chosen.items() if text is not None}
    _run(run, _settings(data, database, given), where, uvloop=True)


@app.command()
def demo(
    contacts: Annotated[int, typer.Option(min=1, max=10_000, help="How many people to call.")] = 40,
    out: Annotated[Path, typer.Option(help="Where to write the recording.")] = Path("callwright-demo.mp3"),
    data: Data = None,
) -> None:
    """The main job once, on the simulated network: agent, audience, campaign, transcript, recording."""
    from .demo import run

    raise typer.Exit(_run(run, contacts, out, data))


@app.command()
def doctor(
    base_url: Annotated[
        str | None, typer.Option(help="Look at this service (CALLWRIGHT_BASE_URL); without one, at the data folder.")
    ] = None,
    api_key: Annotated[
        str | None, typer.Option(help="Its key; better in CALLWRIGHT_API_KEY, which nobody sees.")
    ] = None,
    data: Data = None,
    database: Database = None,
) -> None:
    """Looks at a service, or at the data folder, and says what works. Status 1 where something has to be put right."""
    from .doctor import run

    given = {"CALLWRIGHT_BASE_URL": base_url, "CALLWRIGHT_API_KEY": api_key}
    raise typer.Exit(_run(run, _settings(data, database, {name: text for name, text in given.items() if text})))


@orgs.command("create")
def create_organization(
    name: str,
    plan: Annotated[str, typer.Option(help="starter, pro, growth or enterprise.")] = "starter",
    data: Data = None,
    database: Database = None,
    quiet: Quiet = False,
) -> None:
    """Makes an organization with 100 dollars of play money."""
    from . import accounts

    _run(accounts.create_organization, _settings(data, database), name, plan, quiet)


@orgs.command("list")
def list_organizations(data: Data = None, database: Database = None) -> None:
    """Shows the organizations."""
    from . import accounts

    _run(accounts.list_organizations, _settings(data, database))


@orgs.command("fund")
def fund(
    name: str,
    amount: Annotated[str, typer.Option(help="Dollars of play money to add, for example 50.00.")],
    data: Data = None,
    database: Database = None,
) -> None:
    """Adds play money to an organization's wallet."""
    from . import accounts

    _run(accounts.fund, _settings(data, database), name, amount)


@keys.command("create")
def create_key(
    org: Annotated[str, typer.Option(help="The organization's name or id.")] = "default",
    label: Annotated[str, typer.Option(help="What the key is for.")] = "",
    personal: Annotated[
        bool, typer.Option("--personal", help="A key for one person and the tool server alone: REST refuses it.")
    ] = False,
    profile: Annotated[
        str | None, typer.Option(help="The tools of a personal key: analyst, operator, builder (if absent) or all.")
    ] = None,
    spending_cap: Annotated[
        str | None, typer.Option(help="Dollars that a personal key may commit in all, for example 25.00.")
    ] = None,
    data: Data = None,
    database: Database = None,
    quiet: Quiet = False,
) -> None:
    """Makes an API key, or a personal one. It is shown once."""
    from . import accounts

    wanted = accounts.KeyWanted(org, label, personal, profile, spending_cap)
    _run(accounts.create_key, _settings(data, database), wanted, quiet)


@keys.command("list")
def list_keys(
    org: Annotated[str, typer.Option(help="The organization's name or id.")] = "default",
    data: Data = None,
    database: Database = None,
) -> None:
    """Shows an organization's keys, revoked ones too."""
    from . import accounts

    _run(accounts.list_keys, _settings(data, database), org)


@keys.command("revoke")
def revoke_key(key: str, data: Data = None, database: Database = None) -> None:
    """Revokes a key, by its id or its first 16 characters, from the next request on."""
    from . import accounts

    _run(accounts.revoke_key, _settings(data, database), key)
