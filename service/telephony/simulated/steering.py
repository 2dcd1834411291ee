"""The `sim.*` columns, which decide how the contacts of an audience and callers behave on the simulated network."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast, get_args

from callwright.contract.calls.calls import OUTCOMES, Outcome
from callwright.service.platform.phone import redacted
from callwright.service.telephony.simulated.person import ANSWERS, PersonsAnswer

Mood = Literal["friendly", "neutral", "busy", "sceptical", "angry"]
Intent = Literal[
    "yes",
    "no",
    "later",
    "asks_first",
    "opt_out",
    "wrong_number",
    "wants_human",
    "other_language",
    "silent",
    "gatekeeper",
    "screening",
]

MOODS: tuple[Mood, ...] = get_args(Mood)
INTENTS: tuple[Intent, ...] = get_args(Intent)
COLUMNS: tuple[str, ...] = ("outcome", "persona", "intent", "language", "script", "greeting", "transfer")
"""The steering columns, without the prefix `sim.` that they have in an audience."""

CALLER_OUTCOMES: tuple[Outcome, ...] = (
    *("answered", "transferred", "abandoned", "voicemail", "voicemail_left", "busy", "no_answer"),
)
CALLER_INTENTS: tuple[Intent, ...] = tuple(each for each in INTENTS if each not in ("gatekeeper", "screening"))
"""Nobody else picks up the telephone of somebody who calls."""

MAX_PATIENCE_S = 3_600
MAX_SCRIPT_TURNS = 30
MAX_SCRIPT_TURN_CHARS = 1_000
MAX_GREETING_CHARS = 1_000

_VERBATIM = ("language", "script", "greeting")
_KEYS = re.compile(r"\[([0-9*#]{1,32})\]")
_LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*")


@dataclass(frozen=True)
class SteeringRules:
    """Which columns there are, and what those may say that have a closed list."""

    columns: tuple[str, ...]
    closed: Mapping[str, tuple[str, ...]]


CONTACTS = SteeringRules(COLUMNS, {"outcome": OUTCOMES, "persona": MOODS, "intent": INTENTS, "transfer": ANSWERS})
CALLERS = SteeringRules(
    ("outcome", "persona", "intent", "language", "script", "transfer", "patience"),
    {"outcome": CALLER_OUTCOMES, "persona": MOODS, "intent": CALLER_INTENTS, "transfer": ANSWERS},
)
"""Of people who call in."""


@dataclass(frozen=True, kw_only=True)
class Steering:
    """The parsed columns of one contact or caller. `None` and empty words leave the choice to chance."""

    outcome: Outcome | None = None
    mood: Mood | None = None
    intent: Intent | None = None
    language: str | None = None
    script: tuple[str, ...] = ()
    greeting: str = ""
    """What a mailbox says before the beep; empty: one of the language's own greetings."""
    transfer: PersonsAnswer | None = None
    """What the person does to whom the call is transferred; the contact asks for one then."""
    patience_s: float | None = None
    """How long a caller waits in a queue."""
    problems: tuple[str, ...] = ()
    """Why columns were ignored, in sentences."""


NO_STEERING = Steering()


def check_steering(name: str, value: str, rules: SteeringRules = CONTACTS) -> str | None:
    """Why a column or its value is refused, in a sentence that names what is allowed; `None` when it is fine.

    `name` comes without `sim.`. An empty value is always fine: it means the column is absent. A number in the sentence
    lacks its middle.
    """
    if name not in rules.columns:
        known = ", ".join(f"sim.{each}" for each in rules.columns)
        return f"sim.{redacted(name)[:100]} is not a steering column; there are {known}."
    value = value.strip()
    if not value:
        return None
    allowed = rules.closed.get(name)
    if allowed is not None:
        if value.lower() in allowed:
            return None
        return f"sim.{name} cannot be '{redacted(value)[:60]}'; allowed are {', '.join(allowed)}."
    if name == "language":
        if len(value) <= 35 and _LANGUAGE_TAG.fullmatch(value):
            return None
        return f"sim.language cannot be '{redacted(value)[:60]}'; allowed are BCP-47 tags such as en-US, es or pt-BR."
    if name == "patience":
        if len(value) <= 5 and value.isascii() and value.isdecimal() and int(value) <= MAX_PATIENCE_S:
            return None
        return f"sim.patience cannot be '{redacted(value)[:60]}'; allowed are seconds from 0 to {MAX_PATIENCE_S}."
    if name == "greeting":
        if len(value) <= MAX_GREETING_CHARS:
            return None
        return f"sim.greeting is too long; allowed are {MAX_GREETING_CHARS} characters."
    turns = script_turns(value)
    if len(turns) > MAX_SCRIPT_TURNS or any(len(turn) > MAX_SCRIPT_TURN_CHARS for turn in turns):
        return (
            f"sim.script is too long; allowed are {MAX_SCRIPT_TURNS} turns separated by |, "
            f"each of at most {MAX_SCRIPT_TURN_CHARS} characters."
        )
    return None


def keys_of(turn: str) -> str:
    """The keys that a turn of a script presses, such as `9` for `[9]`; empty for words."""
    return found[1] if (found := _KEYS.fullmatch(turn)) else ""


def script_turns(value: str) -> tuple[str, ...]:
    """The contact's own words turn by turn. Empty turns do not count."""
    return tuple(turn for each in value.split("|") if (turn := each.strip()))


def read_steering(columns: Mapping[str, str], rules: SteeringRules = CONTACTS) -> Steering:
    """Parses the columns. One that `check_steering` refuses is left out and named in `problems`."""
    if not columns:
        return NO_STEERING
    kept: dict[str, str] = {}
    problems: list[str] = []
    for name in sorted(columns):
        problem = check_steering(name, columns[name], rules)
        if problem is not None:
            problems.append(problem)
        elif value := columns[name].strip():
            kept[name] = value if name in _VERBATIM else value.lower()
    return Steering(
        outcome=cast("Outcome | None", kept.get("outcome")),
        mood=cast("Mood | None", kept.get("persona")),
        intent=cast("Intent | None", kept.get("intent")),
        language=kept["language"].replace("_", "-") if "language" in kept else None,
        script=script_turns(kept.get("script", "")),
        greeting=kept.get("greeting", ""),
        transfer=cast("PersonsAnswer | None", kept.get("transfer")),
        patience_s=float(kept["patience"]) if "patience" in kept else None,
        problems=tuple(problems),
    )
