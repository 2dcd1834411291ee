"""`callwright agents secret`: what no tool does, because secrets must not stand in a conversation."""

import re
from typing import TYPE_CHECKING, Annotated

import typer

from callwright.server.commands.command_error import CommandError
from callwright.server.commands.invoking import AsJson, Data, Database, run, settings_of
from callwright.server.commands.providers import secret_of
from callwright.server.settings import ProgramSettings

if TYPE_CHECKING:
    from callwright.client import Client
    from callwright.contract.agents.call_tools import CallToolSecret


_ID = re.compile(r"agt_[0-9A-Za-z]+")


def add_secret_command(group: typer.Typer) -> None:
    """Adds to the commands of agents what no tool does."""
    group.command("secret", short_help="Sets a secret header of a call tool; asks for its value.")(set_secret)


def set_secret(
    agent_id: Annotated[str, typer.Argument(metavar="AGENT", help="The agent's name, or its id, agt_….")],
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="The name of its tool.")],
    header: Annotated[str, typer.Argument(metavar="HEADER", help="The header, for example Authorization.")],
    as_json: AsJson = False,
    data: Data = None,
    database: Database = None,
) -> None:
    """Sets a secret header of a call tool, which goes only to the address that the tool has now.

    Its value is asked for, or read from standard input: `callwright agents secret agt_… free_times Authorization <
    token.txt`. Nothing entered: there is none any more.
    """
    value = secret_of(f"Value of {header} (not shown; empty removes it)")
    found = run(_set, settings_of(data, database), agent_id, tool, header, value)
    if as_json:
        from callwright.server.commands.output.json_text import print_json

        print_json(found.model_dump(mode="json"))
        return
    state = "is set" if found.is_set else "is not set"
    typer.echo(f"The secret header {found.header} of {found.tool} {state}. It is sent to {found.sent_to} alone.")


async def _id_of(client: "Client", name: str) -> str:
    """The id of the agent with this name. Raises `CommandError` if there is none."""
    found = (await client.agents.list(name=name, per_page=1)).data
    if not found:
        raise CommandError(f"no agent is named {name!r}; `callwright agents list` shows those there are")
    return found[0].id


async def _set(settings: ProgramSettings, agent_id: str, tool: str, header: str, value: str) -> "CallToolSecret":
    from callwright.client.errors import ServiceProblem
    from callwright.server.embedded.embedded import embedded, remote

    opened = embedded(settings, lambda _: None) if settings.base_url is None else remote(settings)
    async with opened as client:
        try:
            found_id = agent_id if _ID.fullmatch(agent_id) else await _id_of(client, agent_id)
            return await client.agents.set_call_tool_secret(id=found_id, tool=tool, header=header, value=value)
        except ServiceProblem as problem:
            raise CommandError(problem.message) from problem
