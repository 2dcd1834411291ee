"""What the agent says first: the welcome message, and what it has to say: that a machine calls, that it is recorded."""

from dataclasses import dataclass
from functools import lru_cache

from callwright.service.rules.templates import render
from callwright.service.telephony.engine import CallRequest
from callwright.service.telephony.simulated.chance import Chance, key_of
from callwright.service.telephony.simulated.conversation.phrases import Bank, bank_of, bank_or_english
from callwright.service.telephony.simulated.conversation.placeholders import with_plain_placeholders
from callwright.service.telephony.simulated.conversation.prompts import sentences_of
from callwright.service.telephony.simulated.conversation.speech_acts import is_question

_CACHED_MESSAGES = 512


@dataclass(frozen=True)
class Opening:
    """A message template in two parts, so that a disclosure can be put before the closing question."""

    first: str
    question: str
    discloses: bool
    """The message says by itself that a machine is calling."""

    def with_notices(self, *notices: str) -> str:
        """The message as a template, with what the agent has to say before the closing question."""
        return " ".join(part for part in (self.first, *notices, self.question) if part)


@lru_cache(maxsize=_CACHED_MESSAGES)
def read_welcome(message: str, bank: Bank) -> Opening:
    """Parses a welcome message in the language of the bank."""
    said = f" {message.lower()} "
    discloses = any(mark in said for mark in bank.agent["disclosure_marks"])
    sentences = sentences_of(message)
    if len(sentences) > 1 and is_question(sentences[-1]):
        at = message.rfind(sentences[-1])
        return Opening(message[:at].rstrip(), sentences[-1], discloses)
    return Opening(message, "", discloses)


@dataclass(frozen=True)
class FirstWords:
    """What the agent says before anybody has answered, as it is spoken."""

    message: str
    """The welcome message, with the notices in it if there are phrases in the agent's language."""
    notices: str = ""
    """What the agent has to say: that a machine is calling, if the message does not, and that the call is recorded."""
    phrase: str = ""
    """What follows as a turn of its own: the notices, if their phrases are in another language than the message."""


def notices_of(request: CallRequest, bank: Bank, chance: Chance, *, discloses: bool) -> tuple[str, ...]:
    """What the agent of a call has to say. `discloses`: its own words say already that a machine is calling."""
    notices: list[str] = []
    if request.ai_disclosure and not discloses:
        notices.append(bank.agent_says("disclosure", chance))
    if request.recording_announcement:
        notices.append(bank.agent_says("recorded", chance))
    return tuple(notices)


def first_words(request: CallRequest, chance: Chance) -> FirstWords | None:
    """What the agent of a call says first; None if the contact speaks first. A caller hears a greeting in any case, if
    there are phrases in the agent's language."""
    message = request.agent.welcome_message.strip()
    language = request.agent.language
    bank = bank_or_english(language, incoming=request.answering is not None)
    if not message and request.answering is not None and bank_of(language):
        message = bank.agent_says("hello", chance)  # who calls waits for a word
    if not message:
        return None
    opening = read_welcome(message, bank)
    notices = notices_of(request, bank, chance, discloses=opening.discloses)
    said = " ".join(notices)
    if notices and bank_of(language) is None:
        return FirstWords(filled(message, request), said, said)
    return FirstWords(filled(opening.with_notices(*notices) if notices else message, request), said)


def greeting_of(request: CallRequest) -> str:
    """What the contact of a call hears first, word for word; empty if the contact speaks first."""
    said = first_words(with_plain_placeholders(request), agent_chance(request))
    return "" if said is None else " ".join(part for part in (said.message, said.phrase) if part)


def agent_chance(request: CallRequest) -> Chance:
    """The random numbers that choose the agent's phrases in a call."""
    return Chance(attempt_key(request), "agent")


def attempt_key(request: CallRequest) -> bytes:
    """The key of the random numbers for this attempt to call this number, or for this call of a caller."""
    if request.answering is not None:
        return key_of(request.seed, request.from_, request.to, str(request.attempt))
    return key_of(request.seed, request.to, str(request.attempt))


def filled(template: str, request: CallRequest) -> str:
    """A template as it is said to the call's contact."""
    if "{{" not in template:
        return template
    return " ".join(render(template, request.variables).text.split(" ")).strip()
