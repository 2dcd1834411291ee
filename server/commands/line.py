"""The command line: which commands there are and which flags they take."""

from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from callwright.server.commands.accounts.account_lines import add_do_not_call_commands, audit, keys, orgs, users
from callwright.server.commands.call_tool_secrets import add_secret_command
from callwright.server.commands.demo.demo_folder import DEMO_DATA
from callwright.server.commands.invoking import AsJson, Data, Database, SharedDatabase, failed
from callwright.server.commands.invoking import run as _run
from callwright.server.commands.invoking import settings_of as _settings
from callwright.server.commands.providers import add_provider_commands
from callwright.server.commands.rule_lines import rules
from callwright.server.commands.tool_commands.call import call
from callwright.server.commands.tool_commands.noun_commands import groups

app = typer.Typer(
    name="callwright",
    help="A voice-agent platform that an AI assistant can run.",
    no_args_is_help=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # its table of flags truncates long words
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(orgs, name="orgs")
app.add_typer(users, name="users")
app.add_typer(keys, name="keys")
app.add_typer(rules, name="rules")
app.command(short_help="What was changed, when, and by which key.")(audit)
app.command("call", short_help="Any tool of an assistant; without a name, lists them.", add_help_option=False)(call)
for _noun, _group in groups():
    if _noun == "do-not-call":
        add_do_not_call_commands(_group)
    if _noun == "agents":
        add_secret_command(_group)
    if _noun == "providers":
        add_provider_commands(_group)
    app.add_typer(_group, name=_noun)


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


@app.command(short_help="The MCP server over stdio.")
def mcp(data: Data = None, database: Database = None) -> None:
    """The MCP server over stdio (also without any command, where stdin is no terminal)."""
    from callwright.server.commands.mcp import run

    given = [f"--data={data}"] if data else []
    raise typer.Exit(run([*given, *([f"--database={database}"] if database else [])]))


@app.command(short_help="The service over HTTP: REST and MCP.")
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
    paused: Annotated[
        bool,
        typer.Option(
            "--paused",
            help="Pause every campaign before anything is dialled: for a copy of a service (docs/backups.md).",
        ),
    ] = False,
    public_url: Annotated[
        str | None,
        typer.Option(
            help="The address at which others reach the service: https://voice.example.com (CALLWRIGHT_PUBLIC_URL)."
        ),
    ] = None,
    webhook_networks: Annotated[
        str | None,
        typer.Option(
            help="Networks of events and providers in development, with commas: localhost, or ranges such as "
            "127.0.0.0/8 (CALLWRIGHT_WEBHOOK_NETWORKS)."
        ),
    ] = None,
    data: Data = None,
    database: Database = None,
) -> None:
    """The service over HTTP: REST at /v1, MCP at /mcp and /sse, a page for people at /, the reference at /docs, its
    description at /openapi.json, /healthz.
    """
    from callwright.server.commands.serve import ServeOptions
    from callwright.server.commands.serve import serve as run

    where = ServeOptions(host, port, tuple(allowed_host or ()), sticky, paused)
    chosen = {
        "CALLWRIGHT_PROFILE": profile,
        "CALLWRIGHT_TOOLSETS": toolsets,
        "CALLWRIGHT_EXCLUDE_TOOLS": exclude_tools,
        "CALLWRIGHT_READ_ONLY": "true" if read_only else None,
        "CALLWRIGHT_PUBLIC_URL": public_url,
        "CALLWRIGHT_WEBHOOK_NETWORKS": webhook_networks,
    }
    given = {name: text for name, text in chosen.items() if text is not None}
    _run(run, _settings(data, database, given), where, uvloop=True)


@app.command("open", short_help="The dashboard, in the browser.")
def open_dashboard(
    org: Annotated[str | None, typer.Option(help="The organization, if there are several.")] = None,
    user: Annotated[
        str | None, typer.Option(help="Who logs in, by e-mail address; the first owner if left out.")
    ] = None,
    only_print: Annotated[bool, typer.Option("--print", help="Only print the link.")] = False,
    data: Data = None,
    database: Database = None,
) -> None:
    """Opens the dashboard of the service that runs on the folder, with a link that logs in once, within 15 minutes."""
    from callwright.server.commands.open_dashboard import run

    _run(run, _settings(data, database), org, user, only_print)


@app.command(short_help="Only the lines of real calls, on Postgres.")
def lines(
    host: Annotated[str, typer.Option(help="Address at which the sound from Twilio comes.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65_535, help="Port at which it comes.")] = 8081,
    data: Data = None,
    database: SharedDatabase = None,
) -> None:
    """Carries real calls, beside `serve` processes on the same Postgres; CALLWRIGHT_LINES says how many.

    It listens only for the sound that Twilio brings, at CALLWRIGHT_LINES_URL.
    """
    from callwright.server.commands.lines import lines as run

    _run(run, _settings(data, database), host, port, uvloop=True)


@app.command(short_help="A campaign once, on the simulated network.")
def demo(
    contacts: Annotated[int, typer.Option(min=1, max=10_000, help="How many people to call.")] = 40,
    own_list: Annotated[
        Path | None,
        typer.Option("--list", exists=True, dir_okay=False, help="Call the people of this CSV or XLSX file instead."),
    ] = None,
    phone_column: Annotated[
        str | None, typer.Option(help="With --list: the column with their numbers; found out if left out.")
    ] = None,
    country: Annotated[
        str | None, typer.Option(help="With --list: the country of numbers without a +, for example US.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Where to write the recording.")] = Path("callwright-demo.mp3"),
    data: Annotated[Path, typer.Option(help="Folder for its data, which stays; it may be used again.")] = DEMO_DATA,
) -> None:
    """The main job once, on the simulated network: agent, audience, campaign, transcript, recording.

    No telephone rings, whoever is on the list.
    """
    from callwright.server.commands.demo.demo import DemoOptions, run
    from callwright.server.commands.demo.people import OwnList

    if own_list is None and (phone_column or country):
        raise failed("--phone-column and --country say how to read a list; name it with --list")
    own = None if own_list is None else OwnList(file=own_list, phone_column=phone_column, country=country)
    raise typer.Exit(_run(run, DemoOptions(contacts=contacts, out=out, data=data, own=own)))


@app.command(short_help="Events as they happen, until Ctrl-C.")
def listen(
    webhook_id: Annotated[
        str | None, typer.Argument(help="Only what this webhook subscription wants, and what became of sending it.")
    ] = None,
    forward: Annotated[
        str | None, typer.Option(help="Send each event to this URL on this machine too, as the service would.")
    ] = None,
    secret: Annotated[
        str | None,
        typer.Option(
            help="With --forward, what to sign with; one is made if it is left out. Otherwise the secret of the "
            "subscription, to check the signatures in its log."
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="With a subscription: show what it does not want as well.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="A line of JSON for each event and each delivery.")] = False,
    data: Data = None,
    database: Database = None,
) -> None:
    """Events as they happen, until Ctrl-C: of the organization default in the data folder, or of the key's
    organization at the service that CALLWRIGHT_BASE_URL and CALLWRIGHT_API_KEY name.
    """
    from callwright.server.commands.events.listen import ListenOptions
    from callwright.server.commands.events.listen import run as follow

    _run(follow, _settings(data, database), ListenOptions(webhook_id, forward, secret, everything, as_json))


@app.command(short_help="What works, of a service or of the data folder.")
def doctor(
    base_url: Annotated[
        str | None, typer.Option(help="Look at this service (CALLWRIGHT_BASE_URL); without one, at the data folder.")
    ] = None,
    api_key: Annotated[
        str | None, typer.Option(help="Its key; better in CALLWRIGHT_API_KEY, which nobody sees.")
    ] = None,
    as_json: AsJson = False,
    data: Data = None,
    database: Database = None,
) -> None:
    """Looks at a service, or at the data folder, and says what works. Status 1 where something has to be put right."""
    from callwright.server.commands.doctor.doctor import run

    given = {"CALLWRIGHT_BASE_URL": base_url, "CALLWRIGHT_API_KEY": api_key}
    raise typer.Exit(
        _run(run, _settings(data, database, {name: text for name, text in given.items() if text}), as_json)
    )
