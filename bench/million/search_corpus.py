"""Generates calls with transcripts and writes them through the storage layer. The same count gives the same data."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from random import Random
from typing import Any

from sqlalchemy import Connection, insert

from callwright.service.platform.database.database import Database
from callwright.service.platform.ids import ALPHABET, Ids
from callwright.service.platform.json_text import json_text
from callwright.service.tables import transcript_search
from callwright.service.tables.schema import calls, transcripts
from callwright.service.telephony.simulated.conversation.phrases import REGISTERS, bank_or_english

CALLS_A_DEPLOYMENT = 5_000
FIRST_MS = 1_800_000_000_000
SPACING_MS = 20_000
"""One call ends every twenty seconds: a million of them span seven months."""
AT_ONCE = 4
"""Deployments whose calls overlap in time."""
_BATCH = 1_000
_CALL_S = 48.0
_ONSETS = ("b", "br", "ch", "d", "dr", "f", "g", "gr", "h", "k", "l", "m", "n", "p", "pl", "r", "s", "st", "t", "v")
_VOWELS = ("a", "e", "i", "o", "u", "ai", "ea", "ou")


@dataclass(frozen=True)
class Spoken:
    """One call as rows of the three tables."""

    call: dict[str, Any]
    transcript: dict[str, Any]
    words: dict[str, Any]


class Vocabulary:
    """Phrases of the simulated network, filled with made-up names and subjects whose frequencies follow Zipf's law."""

    def __init__(self, chance: Random) -> None:
        bank = bank_or_english("en-US")
        self._chance = chance
        self._agent = [phrase for act in sorted(bank.agent) for phrase in bank.agent[act] if len(phrase) > 15]
        self._agent += [phrase for act in sorted(bank.general) for phrase in bank.general[act]]
        keys = sorted({key for key, _ in bank.contact})
        self._contact = [phrase for key in keys for register in REGISTERS for phrase in bank.contact[key, register]]
        self.made = [self._word(2 + index % 2) for index in range(20_000)]
        self._weights = list(accumulate(1 / rank for rank in range(1, len(self.made) + 1)))

    def _word(self, syllables: int) -> str:
        pick = self._chance.choice
        return "".join(pick(_ONSETS) + pick(_VOWELS) for _ in range(syllables)) + pick("lmnrst")

    def subjects(self, count: int) -> list[str]:
        """Made-up words: a few are frequent, most are rare."""
        return self._chance.choices(self.made, cum_weights=self._weights, k=count)

    def turns(self, index: int, company: str) -> list[str]:
        """What was said on one call, the agent first."""
        chance, pick = self._chance, self._chance.choice
        name, thing, place, *_ = self.subjects(3)
        said = [f"Hello {name.title()}, this is Ada, the automated assistant of {company}."]
        said.append(pick(self._contact))
        said.append(f"I'm calling about the {thing} in {place.title()}. {pick(self._agent)}")
        for _ in range(chance.randint(2, 4)):
            said += [pick(self._contact), pick(self._agent)]
        said.append("That is too expensive for me." if index % 50 == 7 else pick(self._contact))
        said.append(f"Your reference is {chance.randrange(300_000):06d}. Thank you for your time, goodbye.")
        return [text.replace("{0}", thing) for text in said]


def deployment_id(number: int) -> str:
    """The id of one of the deployments."""
    return f"dep_{number:024d}"


def spoken(count: int, org_id: str, seed: int = 1) -> Generator[Spoken]:
    """`count` calls, in the order in which they end."""
    chance = Random(seed)
    vocabulary = Vocabulary(chance)
    companies = [" ".join(word.title() for word in vocabulary.subjects(2)) for _ in range(count // 1_000 + AT_ONCE)]
    now_ms = FIRST_MS
    ids = Ids(lambda: now_ms, lambda count: "".join(chance.choices(ALPHABET, k=count)))
    for index in range(count):
        now_ms = FIRST_MS + index * SPACING_MS
        group = index // (CALLS_A_DEPLOYMENT * AT_ONCE) * AT_ONCE + index % AT_ONCE
        yield _one(ids.new("cal"), org_id, group, now_ms, vocabulary.turns(index, companies[group]), index)


def _one(call_id: str, org_id: str, group: int, now_ms: int, said: Sequence[str], index: int) -> Spoken:
    each_s = _CALL_S / len(said)
    turns = [
        {
            "index": place,
            "role": "contact" if place % 2 else "agent",
            "text": text,
            "start_seconds": round(place * each_s, 3),
            "end_seconds": round(place * each_s + each_s - 0.4, 3),
            "language": "en-US",
            "source": "policy",
            "interrupted": False,
        }
        for place, text in enumerate(said)
    ]
    call = {
        "id": call_id,
        "org_id": org_id,
        "call_type": "outbound",
        "simulated": True,
        "deployment_id": deployment_id(group),
        "agent_id": f"agt_{group % 20:024d}",
        "contact_id": f"ctc_{index:024d}",
        "attempt_number": 1,
        "from_number": "+12125550150",
        "to_number": f"+1202{2_000_000 + index}",
        "status": "completed",
        "outcome": "answered",
        "disposition": ("goal_met", "not_interested", "callback_requested", "interested")[index % 4],
        "answered_by": "human",
        "ended_by": "agent",
        "created_at": now_ms - round(_CALL_S * 1_000) - index * 7_919 % 30_000,
        "answered_at": now_ms - round(_CALL_S * 1_000),
        "ended_at": now_ms,
        "duration_ms": round(_CALL_S * 1_000),
        "billed_seconds": round(_CALL_S),
        "cost_micros": 9_600,
        "turn_count": len(said),
        "language": "en-US",
    }
    transcript = {"call_id": call_id, "org_id": org_id, "turns": json_text(turns)}
    return Spoken(call, transcript, {"call_id": call_id, "words": transcript_search.searchable(said)})


def _store(connection: Connection, batch: Sequence[Spoken]) -> None:
    connection.execute(insert(calls), [one.call for one in batch])
    connection.execute(insert(transcripts), [one.transcript for one in batch])
    transcript_search.add(connection, [one.words for one in batch])


async def fill(database: Database, org_id: str, count: int) -> None:
    """Writes `count` calls of an organization."""
    made = spoken(count, org_id)
    while batch := list(islice(made, _BATCH)):
        await database.write(_store, batch)
