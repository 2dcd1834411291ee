"""The states that the tasks begin with: people, calls and conversations, the same in every run.

`build` makes a data folder. What a right answer holds follows from the words and counts here.
"""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

import anyio

from callwright.client import Client
from callwright.client.transport import ASGITransport
from callwright.contract.deployments.call_price import MICROS
from callwright.contract.deployments.deployments import Deployment
from callwright.service import accounts
from callwright.service.app import running
from callwright.service.settings import ServiceSettings

PROMPT = """You call patients of Bright Dental about their yearly check-up.
- Ask whether {{day}} suits them
- Ask whether the morning or the afternoon suits them better
The practice is open from nine to five. A check-up takes thirty minutes and costs nothing."""
SURVEY = """You call customers of Northern Power and offer the new green tariff.
- Ask whether they want to hear about the green tariff
The tariff costs 32 cents a kilowatt hour. It can be ended every month."""
GREETING = "Hello {{first_name}}, this is Ada, the automated assistant of Bright Dental."
SURVEY_GREETING = "Good day, this is Ada of Northern Power. Is this {{first_name}} {{last_name}}?"

ROBOT = (
    "Am I talking to a robot?",
    "Hold on, are you a machine?",
    "Is this a real person?",
    "Wait. Are you human at all?",
    "Is that a computer speaking?",
    "You sound like one of those recordings. Are you?",
)
OTHER_DAYS = ("Thursday", "next Monday", "Friday afternoon", "the third of December", "Wednesday morning")
REASONS = {
    "too expensive": (320, ("No, that is too expensive.", "No. I can't afford that.", "Far too dear for me, no.")),
    "has a supplier already": (
        260,
        (
            "No, I have another supplier already.",
            "No thanks, we are with somebody else.",
            "I just changed supplier, no.",
        ),
    ),
    "no time": (190, ("No, I have no time for this.", "No. I'm far too busy.", "Not now, no, I have no time.")),
    "bad experience": (
        120,
        ("No. You cut me off last winter.", "After the trouble with your bills? No.", "No, your service was terrible."),
    ),
    "moving away": (80, ("No, we are moving away.", "No. I am leaving this flat.", "We move abroad next month, no.")),
}
"""Why people say no in the survey: how many, and in which words."""
KELLER = "As I told you, I had a hip operation in October, so I cannot climb your stairs."
_FIRST = (
    "Anna",
    "Ben",
    "Clara",
    "David",
    "Ella",
    "Finn",
    "Grace",
    "Hugo",
    "Iris",
    "Jonas",
    "Kate",
    "Liam",
    "Mona",
    "Noah",
)
_LAST = (
    "Adams",
    "Brown",
    "Clark",
    "Davis",
    "Evans",
    "Fisher",
    "Green",
    "Hill",
    "Irving",
    "Jones",
    "King",
    "Lewis",
    "Moore",
)


@dataclass(frozen=True)
class World:
    """A data folder with an organization, and a key of it."""

    folder: Path
    key: str


def _people(first_number: int, count: int) -> Iterator[dict[str, str]]:
    names = cycle((first, last) for last in _LAST for first in _FIRST)
    for index in range(count):
        first, last = next(names)
        number = first_number + index
        yield {
            "phone_number": f"+1312{555 + number // 10_000:03d}{number % 10_000:04d}",
            "first_name": first,
            "last_name": last,
            "customer_no": f"C-{number:05d}",
            "sim.outcome": "answered",
        }


def patients() -> list[dict[str, str]]:
    """240 patients: who asks for a robot, who wants another day, who is never reached, and Mrs Keller."""
    rows = [{**row, "day": "Tuesday"} for row in _people(2_000, 240)]
    for index, row in enumerate(rows[:18]):
        row["sim.script"] = ROBOT[index % len(ROBOT)]
    for index, row in enumerate(rows[18:30]):
        row["sim.script"] = f"Hello.|That does not suit me. Could I come on {OTHER_DAYS[index % len(OTHER_DAYS)]}?"
    for outcome, start, count in (
        ("no_answer", 30, 26),
        ("busy", 56, 9),
        ("invalid_number", 65, 6),
        ("voicemail", 71, 14),
    ):
        for row in rows[start : start + count]:
            row["sim.outcome"] = outcome
    rows[90] |= {"first_name": "Maria", "last_name": "Keller", "sim.script": f"Yes, speaking.|{KELLER}"}
    return rows


def customers() -> list[dict[str, str]]:
    """1,500 customers, 970 of whom say why not, and Mrs Keller."""
    rows = list(_people(10_000, 1_500))
    words = [text for count, said in REASONS.values() for _, text in zip(range(count), cycle(said), strict=False)]
    for row, text in zip(rows, words, strict=False):
        row |= {"sim.intent": "no", "sim.script": f"Yes.|{text}"}
    keller = {name: patients()[90][name] for name in ("phone_number", "customer_no", "first_name", "last_name")}
    rows[1_200] |= {**keller, "sim.script": "I have talked with your colleagues."}
    return rows


async def build(kind: str, folder: Path) -> World:
    """Makes the state `empty`, `offices` or `running` in a folder that is empty."""
    settings = ServiceSettings(data=folder, database_url=f"sqlite:///{folder}/callwright.db")
    async with running(settings) as service:
        services = service.services
        now_ms = services.clock.now_ms()
        org = await services.database.write(accounts.create_organization, services.ids, "acme", "growth", now_ms)
        await services.database.write(accounts.fund, services.ids, org, 500 * MICROS, now_ms)
        key = await services.database.write(accounts.create_key, services.ids, org, "front desk", now_ms)
        async with Client("http://bench/v1", key.secret, transport=ASGITransport(app=service.asgi)) as client:
            if kind == "offices":
                await _offices(client)
            elif kind == "running":
                await _running(client)
    return World(folder, key.secret)


async def _offices(client: Client) -> None:
    ada = await _agent(client, "Check-up reminders", PROMPT, GREETING)
    seller = await _agent(client, "Tariff survey", SURVEY, SURVEY_GREETING)
    desk = await client.phone_numbers.rent(country="US", area_code="312", label="Front desk")
    line = await client.phone_numbers.rent(country="US", area_code="312", label="Survey line")
    await client.deployments.create_inbound(name="Reception", agent_id=ada, phone_number_id=desk.id)
    november = await _audience(client, "November patients", patients())
    survey = await _audience(client, "Customers 2026", customers())
    december = await _audience(client, "December patients", [{**row, "day": "Monday"} for row in _people(5_000, 30)])
    reminders: dict[str, Any] = {
        "agent_id": ada,
        "phone_number_ids": [desk.id],
        "max_concurrency": 50,
        "calls_per_second": 100,
    }
    selling: dict[str, Any] = {**reminders, "agent_id": seller, "phone_number_ids": [line.id]}
    retries = {"max_attempts": 2}
    await _run(client, name="November check-ups", audience_id=november, retry_policy=retries, **reminders)
    await _run(client, name="Winter survey", audience_id=survey, retry_policy={"max_attempts": 1}, **selling)
    await client.deployments.create(name="December recall", audience_id=december, **reminders)


async def _running(client: Client) -> None:
    ada = await _agent(client, "Check-up reminders", PROMPT, GREETING)
    desk = await client.phone_numbers.rent(country="US", area_code="312", label="Front desk")
    people = await _audience(client, "November patients", patients())
    made = await client.deployments.create(
        name="November check-ups", agent_id=ada, audience_id=people, phone_number_ids=[desk.id], max_concurrency=2
    )
    await client.deployments.start(id=made.id)


async def _agent(client: Client, name: str, prompt: str, greeting: str) -> str:
    made = await client.agents.create(
        name=name, voice_id="en-US-ada", language="en-US", system_prompt=prompt, welcome_message=greeting
    )
    return made.id


async def _audience(client: Client, name: str, rows: list[dict[str, str]]) -> str:
    made = await client.audiences.create(name=name, external_id_column="customer_no")
    text = io.StringIO()
    columns = list(dict.fromkeys(column for row in rows for column in row))
    writer = csv.DictWriter(text, columns, restval="")
    writer.writeheader()
    writer.writerows(rows)
    imported = await client.audiences.import_csv(id=made.id, csv=text.getvalue())
    with anyio.fail_after(60):
        while imported.completed_at is None:
            await anyio.sleep(0.05)
            imported = await client.audiences.get_import(id=made.id, import_id=imported.id)
    return made.id


async def _run(client: Client, **settings: Any) -> Deployment:
    made = await client.deployments.create(**settings)
    made = await client.deployments.start(id=made.id)
    with anyio.fail_after(300):
        while made.status == "active":
            await anyio.sleep(0.1)
            made = await client.deployments.get(id=made.id)
    return made
