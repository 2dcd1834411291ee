"""The phrases of both sides, one bank for each language, read from the data files beside this module."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, cast

from callwright.service.telephony.simulated.chance import Chance

LANGUAGES: tuple[str, ...] = ("de", "en", "es", "fr", "hi", "it", "nl", "pt")
"""The languages that have phrases of their own."""
FALLBACK = "en"

Act = Literal[
    "good_time",
    "identity_check",
    "rating",
    "how_many",
    "when",
    "confirm",
    "detail",
    "any",
    "offer",
    "choice",
    "how_are",
    "open",
    "yes_no",
    "statement",
]
"""What a turn of the agent asks for."""

Register = Literal["warm", "plain", "curt"]
REGISTERS: tuple[Register, ...] = ("warm", "plain", "curt")

_HABITS = ("pick_up", "listen", "good_time", "identity_check", "ack")
# A vowel sign of Hindi is no letter, and stands within a word.
_WORD_START = r"(?<![\w\u0900-\u0903\u093a-\u094f])"
_EDGES = " \t\"'“”«»¿¡?!.,;:…।()[]{}*#-"
_CACHED_TEXTS = 512
_LOOKED_AT = 2_000
_FEWEST_WORDS = 8
_FOLDER = Path(__file__).parent / "phrases"


def primary(tag: str) -> str:
    """The language of a BCP-47 tag without script and region, in lower case."""
    return tag.strip().replace("_", "-").partition("-")[0].lower()


@dataclass(frozen=True, eq=False)
class Bank:
    """The phrases of one language, for calls that are made or for those that come in. Compared by identity."""

    language: str
    stopwords: frozenset[str]
    hello: frozenset[str]
    """The words with which people answer the telephone, in lower case."""
    acts: Mapping[Act, tuple[str, ...]]
    """The words in an agent's sentence that mark each speech act, the more specific acts first."""
    hears: Mapping[str, tuple[str, ...]]
    """The words that mark each wish of a contact."""
    topics: Mapping[str, tuple[str, ...]]
    """The words that mark each topic, in a question and in what answers it."""
    asks: Mapping[str, tuple[str, ...]]
    """The words that mark a topic in a question only."""
    marks: Mapping[str, re.Pattern[str]]
    """What a sentence states: a `day`, a `time`, a `cost`, a `place`, opening `hours`, an `occasion` like a visit."""
    identity: tuple[tuple[str, str], ...]
    """How a prompt tells the agent who it is, and how the agent says so itself."""
    named: tuple[tuple[re.Pattern[str], str], ...]
    """Patterns of sentences that tell the agent for whom it calls, and how the agent says so."""
    first_clause: re.Pattern[str]
    """Where the part of a sentence that says who the agent is ends."""
    not_said: tuple[str, ...]
    """Beginnings of sentences that instruct the agent and must not be said to a contact."""
    polite: tuple[str, ...]
    """Words that may stand before an instruction."""
    conditions: tuple[str, ...]
    """Beginnings of instructions for a case that may not come about."""
    said: re.Pattern[str]
    """Sentences that may be said although they begin like an instruction."""
    secret: re.Pattern[str]
    """Sentences that forbid to say something, or name something confidential."""
    about: str
    """How the agent says what an instruction is about."""
    about_ends: re.Pattern[str]
    """The end of an instruction that says what to do and not what it is about."""
    addressed: tuple[tuple[re.Pattern[str], str], ...]
    """Words about the contact in an instruction, and those to the contact."""
    imperatives: tuple[tuple[re.Pattern[str], str], ...]
    """Patterns of instructions, and the sentence each one becomes."""
    agent: Mapping[str, tuple[str, ...]]
    general: Mapping[str, tuple[str, ...]]
    """Sentences without a topic for each speech act, for a call that changed its language."""
    contact: Mapping[tuple[str, Register], tuple[str, ...]]
    small_talk: frozenset[str]
    """Questions that a contact asks out of habit, such as "Yes, who's this?"; they need no answer of their own."""

    def agent_says(self, key: str, chance: Chance) -> str:
        """One of the agent's phrases."""
        return chance.pick(self.agent[key])

    def contact_says(self, key: str, register: Register, chance: Chance) -> str:
        """One of the contact's phrases in its manner of speaking."""
        return chance.pick(self.contact[key, register])


@lru_cache(maxsize=len(LANGUAGES))
def _data(language: str) -> dict[str, Any]:
    return json.loads((_FOLDER / f"{language}.json").read_text(encoding="utf-8"))


@lru_cache(maxsize=len(LANGUAGES))
def _load(language: str) -> Bank:
    data = _data(language)
    spoken: dict[str, list[str]] = data["contact"]
    marks: dict[str, str] = data["marks"]
    return Bank(
        language=language,
        stopwords=frozenset(str(data["stopwords"]).split()),
        hello=frozenset(str(data["hello"]).split()),
        acts={cast("Act", act): tuple(markers) for act, markers in data["acts"].items()},
        hears=_tuples(data["hears"]),
        topics=_tuples(data["topics"]),
        asks=_tuples(data["asks"]),
        marks={kind: re.compile(rf"{_WORD_START}(?:{words})", re.IGNORECASE) for kind, words in marks.items()},
        identity=tuple((before, after) for before, after in data["identity"]),
        named=_patterns(data["named"]),
        first_clause=re.compile(data["first_clause"], re.IGNORECASE),
        not_said=tuple(data["not_said"]),
        polite=tuple(data["polite"]),
        conditions=tuple(data["if"]),
        said=re.compile(str(data["said"]).replace("{occasion}", marks["occasion"]), re.IGNORECASE),
        secret=re.compile(data["secret"], re.IGNORECASE),
        about=data["about"][0],
        about_ends=re.compile(data["about"][1], re.IGNORECASE),
        # Their case tells a noun from a verb.
        addressed=tuple((re.compile(pattern), words) for pattern, words in data["addressed"]),
        imperatives=_patterns(data["imperatives"]),
        agent=_tuples(data["agent"]),
        general=_tuples(data["general"]),
        contact=_by_register(spoken),
        small_talk=frozenset(
            phrase for key, phrases in spoken.items() if key.partition(".")[0] in _HABITS for phrase in phrases
        ),
    )


@lru_cache(maxsize=len(LANGUAGES))
def _load_incoming(language: str) -> Bank:
    """The phrases of calls that come in: who has called says why, and the agent did not ask for the call."""
    bank, own = _load(language), _data(language)["incoming"]
    return replace(
        bank,
        agent={**bank.agent, **_tuples(own["agent"])},
        contact={**bank.contact, **_by_register(own["contact"])},
    )


def _by_register(spoken: Mapping[str, Sequence[str]]) -> dict[tuple[str, Register], tuple[str, ...]]:
    """Phrases by key and register; where a register has none of its own, those of the key alone."""
    keys = sorted({key.partition(".")[0] for key in spoken})
    return {
        (key, register): tuple(spoken.get(f"{key}.{register}") or spoken[key]) for key in keys for register in REGISTERS
    }


def _patterns(pairs: Sequence[tuple[str, str]]) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern, re.IGNORECASE), sentence) for pattern, sentence in pairs)


def _tuples(lists: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    return {key: tuple(values) for key, values in lists.items()}


def bank_of(tag: str) -> Bank | None:
    """The phrases of a language given as a BCP-47 tag, or `None` when there are none."""
    language = primary(tag)
    return _load(language) if language in LANGUAGES else None


def bank_or_english(tag: str, *, incoming: bool = False) -> Bank:
    """The phrases of a language, or the English ones; with `incoming` those for a call that has come in."""
    language = primary(tag)
    return (_load_incoming if incoming else _load)(language if language in LANGUAGES else FALLBACK)


@lru_cache(maxsize=_CACHED_TEXTS)
def other_language(text: str, bank: Bank) -> str | None:
    """The language with phrases in which a text seems to be written, if it is another one than the bank's; else None.

    The beginning of the text decides: it has half again as many frequent words of the other language, eight at least.
    """
    words = [word.strip(_EDGES) for word in text[:_LOOKED_AT].lower().split()]
    counts = {language: sum(word in _load(language).stopwords for word in words) for language in LANGUAGES}
    likely = max(LANGUAGES, key=lambda language: counts[language])
    return likely if counts[likely] >= max(_FEWEST_WORDS, 1.5 * counts[bank.language]) else None


def joined(*parts: str) -> str:
    """Those of the sentences that are there, one after the other."""
    return " ".join(part for part in parts if part)
