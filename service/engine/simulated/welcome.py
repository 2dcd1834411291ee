"""What the agent opens with: the welcome message, and the word that a machine is calling where that is asked for."""

from dataclasses import dataclass
from functools import lru_cache

from callwright.service.engine.simulated.phrases import Bank
from callwright.service.engine.simulated.prompts import sentences_of
from callwright.service.engine.simulated.speech_acts import is_question

_CACHED_MESSAGES = 512


@dataclass(frozen=True)
class Opening:
    """A message in two parts, so that a disclosure can stand before the closing question. Still a template."""

    first: str
    question: str
    discloses: bool
    """The message says by itself that a machine is calling."""

    def with_disclosure(self, disclosure: str) -> str:
        """The message as a template, the disclosure inside when the message lacks one."""
        parts = (self.first, self.question) if self.discloses else (self.first, disclosure, self.question)
        return " ".join(part for part in parts if part)


@lru_cache(maxsize=_CACHED_MESSAGES)
def read_welcome(message: str, bank: Bank) -> Opening:
    """The welcome message understood in the language of the bank."""
    said = f" {message.lower()} "
    discloses = any(mark in said for mark in bank.agent["disclosure_marks"])
    sentences = sentences_of(message)
    if len(sentences) > 1 and is_question(sentences[-1]):
        at = message.rfind(sentences[-1])
        return Opening(message[:at].rstrip(), sentences[-1], discloses)
    return Opening(message, "", discloses)
