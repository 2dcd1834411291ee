"""`callwright demo`: runs a campaign once in a terminal, through the MCP tools, as an assistant does.

It creates an agent and an audience, rents a phone number, previews the campaign and runs it on the simulated network,
prints a conversation, and writes its recording to a file. The data stays, so that there is something to look at.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from callwright.client import Client
from callwright.contract.checks.counts import count_of
from callwright.server.commands.demo.assistant import Assistant, DemoFailed, assistant_at
from callwright.server.commands.demo.next_steps import show_next_steps
from callwright.server.commands.demo.people import OwnList, listed_people, own_people
from callwright.server.embedded.failures import first_cause
from callwright.server.mcp.session import random_id

_LONGEST_CAMPAIGN_S = 600


@dataclass(frozen=True, kw_only=True)
class DemoOptions:
    """Whom the demonstration calls, and where recording and data go. `own` replaces the demonstration's own people."""

    contacts: int
    out: Path
    data: Path
    own: OwnList | None = None


async def run(asked: DemoOptions) -> int:
    """Runs the demonstration; 0 when everything worked."""
    console, failed = Console(), False
    folders = () if asked.own is None else (asked.own.file.absolute().parent,)
    try:
        async with assistant_at(console, asked.data, folders) as (assistant, client):
            await _show(console, assistant, client, asked)
    except* DemoFailed as group:
        console.print(
            Text.assemble(("The demonstration stopped: ", "bold red"), str(first_cause(group))), soft_wrap=True
        )
        if asked.own is not None:
            console.print("How the list is read: --phone-column NAME and --country US say it.")
        failed = True
    if not failed:
        show_next_steps(console, asked.data)
    return 1 if failed else 0


async def _show(console: Console, assistant: Assistant, client: Client, asked: DemoOptions) -> None:
    console.print(
        "[bold]Callwright[/] on a [yellow]simulated[/] network: no telephone rings, the money is play money.\n"
    )
    tag = random_id()[:6]
    if asked.own is None:
        called = await own_people(assistant, asked.contacts, tag)
    else:
        called = await listed_people(assistant, console, asked.own, tag)
    voices = await assistant.use("list_voices", "English voices", language="en-US")
    agent = await assistant.use(
        "create_agent",
        "Ada of Bright Dental",
        name=f"Ada {tag}",
        voice_id=voices["data"][0]["id"],
        language="en-US",
        system_prompt=called.prompt,
        welcome_message=called.welcome,
    )
    deployment = await assistant.use(
        "create_deployment",
        "a draft: nobody is called yet",
        name=f"Check-ups {tag}",
        agent_id=agent["id"],
        audience_id=called.audience_id,
        phone_number_ids=[await _number(assistant)],
        calls_per_second=10,
    )
    preview = await assistant.use("preview_deployment", "who, what, how much", id=deployment["id"])
    low, high = preview["cost"]["low"]["amount"], preview["cost"]["high"]["amount"]
    people = count_of(preview["eligible"], "person", "people")
    console.print(f"  {people}, {float(low):.2f} to {float(high):.2f} USD, greeting:", highlight=False)
    console.print(Text(f"  “{preview['greeting']}”", "italic"))
    for left_out in preview.get("blocked", []):
        reason = str(left_out["reason"]).replace("_", " ")
        console.print(f"  [dim]left out: {count_of(left_out['count'], 'person', 'people')}, {reason}[/]")
    await assistant.use("start_deployment", "now they are called", id=deployment["id"])
    done = await _watch(console, client, deployment["id"], called.count)
    _outcomes(console, done)
    await _listen(console, assistant, client, deployment["id"], asked.out)


async def _number(assistant: Assistant) -> str:
    """A number to call from: one that an earlier run has rented, or a new one."""
    rented = await assistant.use("list_phone_numbers", "is there one to call from?", status=["active"])
    if rented["data"]:
        return str(rented["data"][0]["id"])
    return str((await assistant.use("rent_phone_number", "a number to call from", country="US"))["id"])


async def _watch(console: Console, client: Client, deployment_id: str, contacts: int) -> dict[str, Any]:
    columns = (
        TextColumn("  calling"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("people, {task.fields[calls]} calls"),
    )
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("calling", total=contacts, calls=0)
        with anyio.fail_after(_LONGEST_CAMPAIGN_S):
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
    call = await _conversation(assistant, deployment_id)
    if call is None:
        console.print("Nobody answered, so there is no conversation to hear.")
        return
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
    heard = f"{out} ({size // 1024} kB, {call['duration_seconds']} s)"
    console.print(Text.assemble(("Recording: ", "bold green"), heard), soft_wrap=True)


async def _conversation(assistant: Assistant, deployment_id: str) -> dict[str, Any] | None:
    """A call that reached its goal, else one that somebody answered, else None."""
    for said, chosen in (
        ("conversations that reached their goal", {"disposition": ["goal_met"]}),
        ("any conversation", {"outcome": ["answered"]}),
    ):
        found = await assistant.use("list_calls", said, deployment_id=deployment_id, per_page=1, **chosen)
        if found["data"]:
            return found["data"][0]
    return None
