"""Seeded campaigns, the same on both sides: each rule that decides about a call is met in one of them."""

import time
from random import Random
from typing import Any

from tests.compare.receiver import receiving
from tests.compare.sides import LIMIT_S, Side

START = "2027-04-05T13:00:00Z"
"""The campaigns' own clocks begin here, a Monday morning in New York."""
CAMPAIGN_LIMIT_S = 300
EVENTS = ["call.started", "call.completed", "deployment.started", "deployment.completed", "deployment.paused"]
PROMPT = """You call customers of Bright Dental.
- Ask whether Thursday suits them
- Ask whether the morning or the afternoon suits them better
The practice is open from nine to five. A check-up takes thirty minutes."""
_OUTCOMES = ("answered", "voicemail", "no_answer", "busy", "rejected", "invalid_number")
_INTENTS = ("yes", "no", "later", "asks_first", "opt_out", "wrong_number", "wants_human", "silent", "gatekeeper")
_HOURS = {
    "calling_hours": {
        "timezone": "America/New_York",
        "windows": [{"days": ["mon", "tue", "wed"], "start": "09:00", "end": "11:30"}],
    }
}
_CAMPAIGNS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("plain", {}),
    ("many lines", {"max_concurrency": 20, "calls_per_second": 10}),
    ("hours", {**_HOURS, "max_concurrency": 2, "retry_policy": {"max_attempts": 3}}),
    ("retries", {"retry_policy": {"max_attempts": 4, "interval_minutes": [30, 240], "max_attempts_per_day": 4}}),
    ("cap", {"budget_cap": {"amount": "2.00"}}),
    ("end", {"end_at": "2027-04-05T13:20:00Z", "max_concurrency": 1}),
)


def audience(seed: int, people: int) -> str:
    """A CSV file of people, some steered, some with numbers that are wrong or double."""
    random = Random(seed)
    lines = ["phone_number,first_name,day,sim.outcome,sim.intent"]
    for place in range(people):
        number = f"+1212{random.randrange(200, 999)}{random.randrange(10_000):04d}" if place % 17 else f"12{place}"
        outcome = random.choice(_OUTCOMES) if place % 3 == 0 else ""
        intent = random.choice(_INTENTS) if place % 4 == 0 else ""
        lines.append(f"{number},Person {place},Thursday,{outcome},{intent}")
    return "\n".join([*lines, *lines[5:9]]) + "\n"


def run(side: Side, *, seed: int, people: int, endpoint: str, most: int = 100) -> list[str]:
    """Runs them one after the other, so that what one leaves to the next is certain. What each came to, in words."""
    agent = {"voice_id": "en-US-ada", "language": "en-US", "system_prompt": PROMPT}
    agent_id = side.ask(
        "POST", "/v1/agents", json={"name": "Ada", "welcome_message": "Hello {{first_name}}.", **agent}
    )["id"]
    number_id = side.ask("POST", "/v1/phone_numbers", json={"country": "US"})["id"]
    webhook_id = side.ask("POST", "/v1/webhooks", json={"url": endpoint, "events": EVENTS})["id"]
    said: list[str] = []
    for place, (name, settings) in enumerate(_CAMPAIGNS[:most]):
        audience_id = side.ask("POST", "/v1/audiences", json={"name": name, "default_country": "US"})["id"]
        _import(side, audience_id, audience(seed + place, people))
        parts = {"agent_id": agent_id, "audience_id": audience_id, "phone_number_ids": [number_id], "start_at": START}
        made = side.ask("POST", "/v1/deployments", json={"name": name, **parts, **settings})
        plan = side.ask("POST", f"/v1/deployments/{made['id']}/preview", json={})
        side.ask("POST", f"/v1/deployments/{made['id']}/start", json={"plan_id": plan["plan_id"], "jump_clock": True})
        ended = _ended(side, made["id"])
        said.append(f"{name}: {ended['status']} {ended['status_reason']} {ended['stats']}")
    _delivered(side, webhook_id)
    return said


def _import(side: Side, audience_id: str, csv: str) -> None:
    path = f"/v1/audiences/{audience_id}/imports"
    begun = side.ask("POST", path, json={"csv": csv})
    end = time.monotonic() + LIMIT_S
    while begun["completed_at"] is None:
        if time.monotonic() > end:
            raise TimeoutError("the import did not end")
        time.sleep(0.05)
        begun = side.ask("GET", f"/v1/audiences/{audience_id}/imports/{begun['id']}")


def _ended(side: Side, deployment_id: str) -> dict[str, Any]:
    end = time.monotonic() + CAMPAIGN_LIMIT_S
    while True:
        found = side.ask("GET", f"/v1/deployments/{deployment_id}")
        if found["status"] not in ("active", "scheduled", "draft"):
            return found
        if time.monotonic() > end:
            raise TimeoutError(f"the campaign {found['name']} did not end")
        time.sleep(0.05)


def _delivered(side: Side, webhook_id: str) -> None:
    end = time.monotonic() + CAMPAIGN_LIMIT_S
    while side.ask("GET", f"/v1/webhooks/{webhook_id}/deliveries", params={"filter[status]": "pending"}):
        if time.monotonic() > end:
            raise TimeoutError("the events did not arrive")
        time.sleep(0.05)


def differences(old: Side, new: Side, *, seed: int, people: int) -> list[str]:
    """Where the campaigns came to something else. Their rows and events are in the database."""
    with receiving() as endpoint:
        here, there = (run(side, seed=seed, people=people, endpoint=endpoint) for side in (old, new))
    return [
        f"{sign} {line}"
        for was, now in zip(here, there, strict=True)
        if was != now
        for sign, line in (("-", was), ("+", now))
    ]
