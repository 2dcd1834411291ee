"""`callwright providers set` and `encrypt`: what no tool does, because keys must not stand in a conversation.

The key of a provider is asked for at a terminal, without showing it, or is the first line of standard input. It is no
flag, because other users of the machine see flags, and shells keep them.
"""

import sys
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from callwright.server.commands.command_error import CommandError
from callwright.server.commands.invoking import AsJson, Data, Database, run, settings_of
from callwright.server.settings import ProgramSettings

if TYPE_CHECKING:
    from callwright.contract.providers import Provider

Kind = Literal["openai", "deepgram", "elevenlabs", "cartesia"]


def add_provider_commands(group: typer.Typer) -> None:
    """Adds to the commands of providers what no tool does."""
    group.command("set", short_help="Sets a provider; asks for its key.")(set_provider)
    group.command("encrypt", short_help="Encrypts all keys with the first secrets key.")(encrypt)


def set_provider(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What agents call it, for example our-openai.")],
    kind: Annotated[Kind, typer.Option(help="The kind of service; openai is any with its interface at --url.")],
    roles: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,…",
            help="What it is used for: hearing, thinking, speaking. All that its kind can do if it is left out.",
        ),
    ] = None,
    url: Annotated[
        str | None, typer.Option(help="Its address, of kind openai; OpenAI's own if it is left out.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="The model, with one role.")] = None,
    voice: Annotated[str | None, typer.Option(help="The service's id of the voice.")] = None,
    default_for: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,…", help="The roles in which agents use it that name no provider themselves. None if left out."
        ),
    ] = None,
    no_key: Annotated[bool, typer.Option("--no-key", help="It takes no key, and none is asked for.")] = False,
    as_json: AsJson = False,
    data: Data = None,
    database: Database = None,
) -> None:
    """Sets a provider of speech or a language model as it is to be from now on.

    Its key is asked for, or read from standard input: `callwright providers set ours --kind openai < key.txt`. Nothing
    entered: the key that is set stays.
    """
    given: dict[str, Any] = {"name": name, "kind": kind, "url": url, "model": model, "voice": voice}
    given |= {"roles": _names(roles), "default_for": _names(default_for)}
    fields = {field: value for field, value in given.items() if value is not None}
    key = "" if no_key else secret_of(f"Key of {name} (not shown; empty keeps the one that is set)")
    if no_key or key:
        fields["key"] = key
    found = run(_set, settings_of(data, database), fields)
    if as_json:
        from callwright.server.commands.output.json_text import print_json

        print_json(found.model_dump(mode="json"))
        return
    typer.echo(f"{found.name} is set: {found.kind}, for {', '.join(found.roles)}; {_key_words(found)}")
    if found.default_for:
        typer.echo(f"Agents that name no provider use it for {', '.join(found.default_for)}.")


def _names(text: str | None) -> list[str] | None:
    """The names of a flag with commas; None if it was not given."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def secret_of(asked_for: str) -> str:
    """A secret, typed at a terminal where it is not shown, or the first line of standard input."""
    if sys.stdin.isatty():
        typed: str = typer.prompt(asked_for, default="", hide_input=True, show_default=False, err=True)
        return typed.strip()
    return sys.stdin.readline().strip()


def _key_words(provider: "Provider") -> str:
    if not provider.has_key:
        return "without a key"
    return f"its key ends with {provider.key_ends_with}" if provider.key_ends_with else "its key is set"


async def _set(settings: ProgramSettings, fields: dict[str, Any]) -> "Provider":
    from callwright.client.errors import ServiceProblem
    from callwright.server.embedded.embedded import embedded, remote

    opened = embedded(settings, _say_nothing) if settings.base_url is None else remote(settings)
    async with opened as client:
        try:
            return await client.providers.set(**fields)
        except ServiceProblem as problem:
            raise CommandError(problem.message) from problem


def _say_nothing(_: str) -> None:
    return None


def encrypt(data: Data = None, database: Database = None, as_json: AsJson = False) -> None:
    """Encrypts the keys of all providers of all organizations with the first of the secrets keys.

    For a change of the secrets key: start with CALLWRIGHT_SECRETS_KEY=NEW,OLD, run this, then start with NEW alone.
    """
    done, unreadable = run(_encrypted, settings_of(data, database))
    if as_json:
        from callwright.server.commands.output.json_text import print_json

        print_json({"encrypted": done, "unreadable": unreadable})
    else:
        from callwright.contract.checks.counts import count_of  # --help has to be quick

        typer.echo(f"{count_of(done, 'key is', 'keys are')} encrypted with the first secrets key.")
        for name in unreadable:
            typer.echo(f"The key of {name} cannot be read with any of them: set it again.", err=True)
    if unreadable:
        raise typer.Exit(1)


async def _encrypted(settings: ProgramSettings) -> tuple[int, list[str]]:
    from callwright.server.commands.accounts.accounts import account_database
    from callwright.service.platform import secret_box
    from callwright.service.settings import ServiceSettings
    from callwright.service.tables import providers

    made = ServiceSettings(data=settings.data, database_url=settings.database_url, secrets_key=settings.secrets_key)
    secret_box.load()
    async with account_database(settings) as (database, _, _):
        return await database.write(providers.encrypt_again, secret_box.SecretBox(made))
