"""`callwright demo`: runs a campaign once in a terminal, through the MCP tools, as an assistant does.

It creates an agent and an audience, rents a phone number, previews the campaign and runs it on the simulated network,
prints a conversation, and writes its recording to a file.
"""

import contextlib
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any

import anyio
from mcp import Client as McpClient
from mcp.types import TextContent
from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from callwright.client import Client
from callwright.contract.checks.counts import count_of
from callwright.server.embedded.embedded import embedded
from callwright.server.embedded.failures import first_cause
from callwright.server.mcp.app import build
from callwright.server.mcp.session import ServerSession, SystemClock, random_id
from callwright.server.settings import read_settings

PROMPT = """You call patients of the practice Bright Dental on behalf of its front desk.
- Ask whether they can come on {{day}}
- Ask whether the morning or the afternoon suits them better
- Confirm that their phone number is still the right one
The practice is at 12 Harbour Street. It is open from nine to five on weekdays. A check-up takes about thirty minutes.
A check-up is covered by most insurance plans. Parking is free behind the building."""
WELCOME = "Hello {{first_name}}, this is Ada, the automated assistant of Bright Dental."
NAMES = ("Maria", "James", "Aisha", "Chen", "Olga", "Tom", "Lucia", "Kofi", "Emma", "Ravi")
DAYS = ("Tuesday", "Wednesday", "Thursday")
OUTCOMES = 12
"""This many contacts have a reserved number each, which forces an outcome; the others are random."""


class DemoFailed(Exception):
    """A tool answered with an error."""


class Assistant:
    """Calls tools and returns their answers as data."""

    def __init__(self, client: McpClient, console: Console) -> None:
        self._client = client
        self._console = console

    async def use(self, tool: str, shown: str = "", **arguments: Any) -> dict[str, Any]:
        """Calls a tool. Raises `DemoFailed` with its text if it fails."""
        self._console.print(f"[cyan]→ {tool}[/] [dim]{shown}[/]", highlight=False)
        result = await self._client.call_tool(tool, arguments)
        words = "\n".join(part.text for part in result.content if isinstance(part, TextContent))
        if result.is_error:
            raise DemoFailed(f"{tool}: {words}")
        return result.structured_content or {}


def _people(count: int) -> list[dict[str, str]]:
    people: list[dict[str, str]] = []
    for index in range(count):
        reserved = index <= OUTCOMES
        number = f"+120255501{index:02d}" if reserved else f"+1415{200 + index // 7_900:03d}{2_100 + index % 7_900:04d}"
        people.append({"phone_number": number, "first_name": NAMES[index % len(NAMES)], "day": DAYS[index % len(DAYS)]})
    return people


@asynccontextmanager
async def _assistant(console: Console, data: Path) -> AsyncGenerator[tuple[Assistant, Client]]:
    settings = read_settings({}, data=data)
    async with embedded(settings, lambda _: None) as client:
        session = ServerSession(lambda: nullcontext(client), ids=random_id, clock=SystemClock(), base_url=None)
        async with McpClient(build(session.opened)) as mcp:
            yield Assistant(mcp, console), client


async def run(contacts: int, out: Path, data: Path | None) -> int:
    """Runs the demonstration; 0 when everything worked."""
    console, failed = Console(), False
    with contextlib.ExitStack() as stack:
        folder = data or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="callwright-")))
        try:
            async with _assistant(console, folder) as (assistant, client):
                await _show(console, assistant, client, contacts, out)
        except* DemoFailed as group:
            console.print(f"[bold red]The demonstration stopped:[/] {first_cause(group)}", highlight=False)
            failed = True
    return 1 if failed else 0


async def _show(console: Console, assistant: Assistant, client: Client, contacts: int, out: Path) -> None:
    console.print(
        "[bold]Callwright[/] on a [yellow]simulated[/] network: no telephone rings, the money is play money.\n"
    )
    tag = random_id()[:6]
    voices = await assistant.use("list_voices", "English voices", language="en-US")
    agent = await assistant.use(
        "create_agent",
        "Ada of Bright Dental",
        name=f"Ada {tag}",
        voice_id=voices["data"][0]["id"],
        language="en-US",
        system_prompt=PROMPT,
        welcome_message=WELCOME,
    )
    people = _people(contacts)
    audience = await assistant.use(
        "create_audience", f"{len(people)} patients", name=f"Patients {tag}", rows=people[:1_000]
    )
    for begin in range(1_000, len(people), 1_000):
        await assistant.use("add_audience_rows", id=audience["id"], rows=people[begin : begin + 1_000])
    number = await assistant.use("rent_phone_number", "a number to call from", country="US")
    deployment = await assistant.use(
        "create_deployment",
        "a draft: nobody is called yet",
        name=f"Check-ups {tag}",
        agent_id=agent["id"],
        audience_id=audience["id"],
        phone_number_ids=[number["id"]],
        calls_per_second=10,
    )
    preview = await assistant.use("preview_deployment", "who, what, how much", id=deployment["id"])
    low, high = preview["cost"]["low"]["amount"], preview["cost"]["high"]["amount"]
    console.print(
        f"  {count_of(preview['eligible'], 'person', 'people')}, {float(low):.2f} to {float(high):.2f} USD, greeting:"
    )
    console.print(f"  [italic]“{preview['greeting']}”[/]", highlight=False)
    await assistant.use("start_deployment", "now they are called", id=deployment["id"])
    done = await _watch(console, client, deployment["id"], contacts)
    _outcomes(console, done)
    await _listen(console, assistant, client, deployment["id"], out)


async def _watch(console: Console, client: Client, deployment_id: str, contacts: int) -> dict[str, Any]:
    columns = (
        TextColumn("  calling"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("people, {task.fields[calls]} calls"),
    )
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("calling", total=contacts, calls=0)
        with anyio.fail_after(600):
            while True:
                seen = await client.deployments.get(id=deployment_id)
                stats = seen.stats
                left = stats.pending + stats.in_flight + stats.retry_waiting
                progress.update(bar, completed=stats.contacts - left, calls=stats.attempts)
                if seen.status != "active":
                    break
                await anyio.sleep(0.05)
    if seen.status != "completed":
        raise DemoFailed(f"the campaign is {seen.status}: {seen.status_reason}")
    return seen.model_dump(mode="json")


def _outcomes(console: Console, deployment: dict[str, Any]) -> None:
    stats = deployment["stats"]
    table = Table("outcome", "calls", "disposition", "calls ", box=None, title_justify="left")
    outcomes = sorted(stats["outcomes"].items(), key=lambda item: -item[1])
    dispositions = sorted(stats["dispositions"].items(), key=lambda item: -item[1])
    for index in range(max(len(outcomes), len(dispositions))):
        left = outcomes[index] if index < len(outcomes) else ("", "")
        right = dispositions[index] if index < len(dispositions) else ("", "")
        table.add_row(left[0], str(left[1]), right[0], str(right[1]))
    console.print(table)
    spent = float(stats["spend"]["amount"])
    span = f"{_plain(deployment['started_at'])} to {_plain(deployment['completed_at'])}"
    console.print(f"  {count_of(stats['attempts'], 'call')}, {spent:.2f} USD of play money", highlight=False)
    console.print(f"  [dim]in the campaign's own time: {span} UTC[/]\n", highlight=False)


def _plain(moment: str) -> str:
    return moment.replace("T", " ").removesuffix("Z").rsplit(":", 1)[0]


async def _listen(console: Console, assistant: Assistant, client: Client, deployment_id: str, out: Path) -> None:
    found = await assistant.use(
        "list_calls",
        "conversations that reached their goal",
        deployment_id=deployment_id,
        disposition=["goal_met"],
        per_page=1,
    )
    call = found["data"][0]
    transcript = await assistant.use("get_transcript", call["id"], call_uuid=call["id"])
    said = Table.grid(padding=(0, 2))
    said.add_column(justify="right", style="dim", no_wrap=True)
    said.add_column(justify="right", no_wrap=True)
    said.add_column(overflow="fold")
    for turn in transcript["turns"]:
        colour = "green" if turn["role"] == "agent" else "yellow"
        said.add_row(f"{turn['start_seconds']:.1f} s", Text(turn["role"], style=colour), Text(turn["text"]))
    console.print(Padding(said, (1, 2)))
    async with client.calls.get_recording(call_uuid=call["id"]) as recording:
        await recording.save(out)
        size = (await anyio.Path(out).stat()).st_size
    console.print(f"[bold green]Recording:[/] {out} ({size // 1024} kB, {call['duration_seconds']} s)")
    console.print("Connect an assistant: add the command [bold]callwright mcp[/] to its MCP servers.")
