"""Who answers the call: a mood, a wish, and the patience that comes with them."""

from dataclasses import dataclass

from callwright.service.telephony.simulated.chance import Chance
from callwright.service.telephony.simulated.conversation.phrases import LANGUAGES, Register, primary
from callwright.service.telephony.simulated.reserved import ReservedNumber
from callwright.service.telephony.simulated.steering import Intent, Mood, Steering


@dataclass(frozen=True)
class Temperament:
    """The behaviour of a mood. `patience` counts the contact's own turns; probabilities are per turn of the agent."""

    register: Register
    patience: tuple[int, int]
    lag_s: float
    interrupts: float
    hangs_up: float
    asks_about_robot: float


TEMPERAMENTS: dict[Mood, Temperament] = {
    "friendly": Temperament("warm", (10, 16), 0.75, 0.0, 0.002, 0.03),
    "neutral": Temperament("plain", (8, 13), 0.85, 0.02, 0.01, 0.05),
    "busy": Temperament("curt", (5, 9), 0.6, 0.12, 0.035, 0.02),
    "sceptical": Temperament("plain", (6, 10), 1.1, 0.06, 0.02, 0.18),
    "angry": Temperament("curt", (3, 7), 0.5, 0.2, 0.06, 0.08),
}

_MOODS: tuple[tuple[Mood, float], ...] = (
    ("friendly", 0.30),
    ("neutral", 0.35),
    ("busy", 0.15),
    ("sceptical", 0.13),
    ("angry", 0.07),
)


@dataclass(frozen=True)
class Intents:
    """How often people have each intent: those of the number, such as a wrong one, and else those of the attempt."""

    lasting: tuple[tuple[Intent, float], ...]
    passing: tuple[tuple[Intent, float], ...]
    angry_refusals: float
    """How many of those who would agree refuse because they are angry."""


OF_CALLED = Intents(
    (("wrong_number", 0.03), ("other_language", 0.02), ("screening", 0.02)),
    (
        ("yes", 0.46),
        ("asks_first", 0.16),
        ("no", 0.17),
        ("later", 0.09),
        ("opt_out", 0.03),
        ("wants_human", 0.03),
        ("silent", 0.02),
        ("gatekeeper", 0.04),
    ),
    0.5,
)
OF_CALLERS = Intents(
    (("other_language", 0.03),),
    (
        ("asks_first", 0.42),
        ("yes", 0.38),
        ("wants_human", 0.1),
        ("wrong_number", 0.04),
        ("opt_out", 0.03),
        ("silent", 0.03),
    ),
    0.0,
)
AT_ONCE = frozenset(("wrong_number", "other_language", "screening", "gatekeeper", "later"))
"""Intents that a contact states before anything else, because it cannot or may not talk."""


@dataclass(frozen=True)
class Persona:
    """One contact on one call."""

    mood: Mood
    temperament: Temperament
    intent: Intent
    language: str
    """A BCP-47 tag; the agent's own when both speak the same language."""
    script: tuple[str, ...]
    patience: int
    raises_it_at: int
    """The contact's turn, from 0, at which it says what it wants."""
    questions: int
    keeps_intent: bool
    """The intent was requested: no random event prevents it."""
    asks_about_robot: bool
    hangs_up_early: bool


def draw_persona(
    steering: Steering,
    forced: ReservedNumber | None,
    *,
    agent_language: str,
    wants_transfer: bool,
    person: Chance,
    moment: Chance,
    intents: Intents = OF_CALLED,
) -> Persona:
    """Draws the contact of a call. `person` is the same on every attempt to a number, `moment` is not."""
    mood = person.weighted(_MOODS)
    lasting = person.unit()
    passing = moment.weighted(intents.passing)
    intent: Intent = passing
    for candidate, share in intents.lasting:
        lasting -= share
        if lasting < 0:
            intent = candidate
            break
    if mood == "angry" and intent == "yes" and moment.happens(intents.angry_refusals):
        intent = "no"
    if steering.script and not steering.language:
        intent = "yes"
    chosen = "wants_human" if wants_transfer else (forced.intent if forced else None)
    intent = steering.intent or chosen or intent
    mood = steering.mood or mood
    keeps_intent = steering.intent is not None or chosen is not None or bool(steering.script)
    home = agent_language
    if steering.language is not None:
        same = primary(steering.language) == primary(agent_language)
        home = steering.language
        if not same and steering.intent is None and chosen is None:
            intent = "other_language"
        elif same and intent == "other_language" and not keeps_intent:
            intent = "yes"
    foreign = _another_language(agent_language, person)
    if intent == "other_language" and primary(home) == primary(agent_language):
        home = foreign
    temperament = TEMPERAMENTS[mood]
    low, high = temperament.patience
    return Persona(
        mood=mood,
        temperament=temperament,
        intent=intent,
        language=home,
        script=steering.script,
        patience=low + int(moment.unit() * (high - low + 1)),
        raises_it_at=0 if intent in AT_ONCE else moment.weighted(((0, 0.5), (1, 0.4), (2, 0.1))),
        questions=1 + int(moment.unit() * 2),
        keeps_intent=keeps_intent,
        asks_about_robot=_asks_about_robot(forced, temperament, moment) if not steering.script else False,
        hangs_up_early=forced is not None and forced.hangs_up_early,
    )


def _asks_about_robot(forced: ReservedNumber | None, temperament: Temperament, moment: Chance) -> bool:
    asks = moment.happens(temperament.asks_about_robot)
    return forced.asks_about_robot if forced else asks


def _another_language(agent_language: str, person: Chance) -> str:
    """The language of somebody who does not speak the agent's: mostly the likely one of the region."""
    likely = "en" if primary(agent_language) == "es" else "es"
    others = [each for each in LANGUAGES if each != primary(agent_language)]
    return likely if person.happens(0.5) and likely in others else person.pick(others)
