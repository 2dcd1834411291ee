"""The objectives and facts in an agent's prompt, found by simple rules.

Bullets, numbered lines, questions and instructions to ask or tell are objectives; the other sentences are facts, except
those that instruct the agent about itself.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from callwright.service.telephony.simulated.conversation.imperatives import is_imperative, split_steps, spoken
from callwright.service.telephony.simulated.conversation.phrases import Bank
from callwright.service.telephony.simulated.conversation.speech_acts import is_question

MAX_OBJECTIVES = 8
MAX_FACTS = 150
MAX_SENTENCE_CHARS = 320
_MAX_LINES = 600
_CACHED_PROMPTS = 256

_BULLET = re.compile(r"\s*(?:[-*•‣▪–—]|\(?\d{1,2}[.):]|[a-h]\)|step \d{1,2}[:.]?)\s+", re.IGNORECASE)
_HEADING = re.compile(r"\s*(?:#{1,6}\s+(?P<marked>.+)|\*\*(?P<bold>[^*]+)\*\*:?|(?P<plain>[^.?!:]{2,60}):)\s*")
_SENTENCE_END = re.compile(r"(?<=[.!?।。？！؟])[\"”»]?\s+")
_ABBREVIATION = re.compile(r"(?:^|\s)(?:Dr|Mr|Mrs|Ms|St|No|Sr|Sra|Hr|Fr|bzw|M|Mme|Prof|e\.g|i\.e)\.$")
_QUESTION_LINE = re.compile(r"\s*(?:[-*•]\s*)?(?:Q|Question|F|P|D)\s*[:.]\s*(.+)", re.IGNORECASE)
_ANSWER_LINE = re.compile(r"\s*(?:[-*•]\s*)?(?:A|Answer|R)\s*[:.]\s*(.+)", re.IGNORECASE)
_FACT_HEADING = re.compile(
    r"fact|knowledge|faq|about|background|information|info\b|context|details|answers|hours|prices|pricing|policy|policies|"
    r"datos|información|hechos|fakten|informationen|hintergrund|informations|contexte|faits|dados|fatos|informazioni|"
    r"fatti|feiten|informatie|जानकारी|तथ्य",
    re.IGNORECASE,
)
_RULE_HEADING = re.compile(
    r"rule|style|tone|guard|never|don'?t|do not|persona|voice|manner|limit|constraint|instructions? for tone|reglas|"
    r"estilo|regeln|stil|règles|ton\b|regras|regole|stile|regels|toon|नियम",
    re.IGNORECASE,
)
_PLACE = re.compile(r"\{\{[^{}]*\}\}")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_STATEMENT = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|will|takes?|costs?|opens?|closes?|includes?|offers?|we|you|it|there)\b",
    re.I,
)


@dataclass(frozen=True)
class Fact:
    """One sentence that the agent may say when asked, and the stems by which it is found."""

    text: str
    stems: frozenset[str]


@dataclass(frozen=True)
class Brief:
    """A parsed prompt. Texts may still contain variables, `{{name}}`."""

    objectives: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    identity: str = ""
    """Who the agent says it is; empty if the prompt does not say."""


def stems(text: str, bank: Bank) -> frozenset[str]:
    """The words of a text without stop words, cut before their endings."""
    words = _WORD.findall(_PLACE.sub(" ", text.lower().replace("’", "'")))
    return frozenset(
        word if len(word) < 5 else word[: max(4, len(word) - 2)] for word in words if word not in bank.stopwords
    )


def sentences_of(text: str) -> list[str]:
    """The sentences of a line, abbreviations kept whole."""
    found: list[str] = []
    for piece in _SENTENCE_END.split(text):
        if found and _ABBREVIATION.search(found[-1][-8:]):
            found[-1] += f" {piece}"
        elif piece.strip():
            found.append(piece.strip())
    return found


def clipped(text: str, limit: int = MAX_SENTENCE_CHARS) -> str:
    """The text, cut at a word when it is longer than `limit`."""
    if len(text) <= limit:
        return text
    cut = text.rfind(" ", 0, limit)
    return text[: cut if cut > limit // 2 else limit].rstrip(" ,;:") + "…"


class _Reader:
    """Collects the objectives and facts in the lines of one prompt."""

    def __init__(self, bank: Bank) -> None:
        self._bank = bank
        self.objectives: list[str] = []
        self.facts: list[Fact] = []
        self.identity = ""
        self._section = ""
        self._asked = ""

    def line(self, line: str) -> None:
        """Reads one line."""
        if match := _ANSWER_LINE.fullmatch(line):
            if self._asked:
                self._fact(match[1], also=self._asked)
                self._asked = ""
                return
        elif match := _QUESTION_LINE.fullmatch(line):
            self._asked = match[1]
            return
        heading = _HEADING.fullmatch(line)
        if heading is not None and not _BULLET.match(line):
            title = heading["marked"] or heading["bold"] or heading["plain"]
            self._section = "rules" if _RULE_HEADING.search(title) else "facts" if _FACT_HEADING.search(title) else ""
            return
        bullet = _BULLET.match(line)
        if self._section == "facts" and not bullet and is_question(line):
            self._asked = line
            return
        body = line[bullet.end() :] if bullet else line
        body = body.strip(" \t*_#>`")
        if not body or self._section == "rules":
            return
        for sentence in sentences_of(body):
            if self._section == "facts" and not sentence.lower().startswith(self._bank.not_said):
                self._fact(sentence)
            else:
                self._sentence(sentence, is_bullet=bullet is not None)

    def _sentence(self, sentence: str, *, is_bullet: bool) -> None:
        bank = self._bank
        for before, after in bank.identity:
            if sentence.startswith(before):
                if after and not self.identity:
                    self.identity = _closed(after + _first_clause(sentence[len(before) :]))
                elif after == "" and not self.identity:
                    self._named(sentence)
                return
        if is_question(sentence) and not (bank.language == "en" and is_imperative(sentence)):
            self._objective(sentence)
            return
        if bank.language == "en" and is_imperative(sentence):
            for step in split_steps(sentence):
                said = spoken(step)
                if said:
                    self._objective(said)
            return
        said = self._by_pattern(sentence)
        if said:
            self._objective(said)
        elif sentence.lower().startswith(bank.not_said):
            return
        elif not is_bullet:
            self._fact(sentence)
        elif bank.language != "en":
            self._objective(sentence)
        elif len(sentence.split()) > 2 and _STATEMENT.search(sentence):
            self._fact(sentence)
        elif not re.match(
            r"(?:greet|thank|close|end|introduce|wish|wait|listen|hang|call|talk|go|put|leave)\b", sentence, re.I
        ):
            self._objective(f"Could you tell me about {sentence[:1].lower()}{sentence[1:].rstrip('.:;')}?")

    def _named(self, sentence: str) -> None:
        """Finds "… named Ada from Northwind" in an English sentence about what the agent is."""
        match = re.search(r"\b(?:named|called)\s+(\S+(?:\s+(?:from|at|of|with)\s+[^.,;]+)?)", sentence)
        work = re.search(r"\b(?:for|from|at|of)\s+((?:the\s+)?[A-Z{][^.,;]*)", sentence)
        if self._bank.language != "en":
            return
        if match:
            self.identity = _closed(f"I'm {match[1]}")
        elif work:
            self.identity = _closed(f"I'm calling for {work[1]}")

    def _by_pattern(self, sentence: str) -> str | None:
        body = sentence.rstrip(" .!।;?")
        for pattern, said in self._bank.imperatives:
            match = re.match(pattern, body, re.IGNORECASE)
            if match is not None:
                return said.replace("{0}", match[1])
        return None

    def _objective(self, said: str) -> None:
        said = clipped(said)
        if len(self.objectives) < MAX_OBJECTIVES and said not in self.objectives and _WORD.search(said):
            self.objectives.append(_closed(said))

    def _fact(self, sentence: str, *, also: str = "") -> None:
        if len(self.facts) < MAX_FACTS and (found := stems(f"{sentence} {also}", self._bank)):
            self.facts.append(Fact(_closed(clipped(sentence)), found))


def _first_clause(text: str) -> str:
    return re.split(r"[;.!?]|\s+and (?:you|your)\b|, you\b", text, maxsplit=1)[0].strip(" ,")


def _closed(text: str) -> str:
    """The text with a full stop at the end if it has none, and a capital at the start."""
    text = text.strip()
    if text[-1:] not in '.!?।。？！؟…"”»':
        text += "."
    return text[:1].upper() + text[1:]


@lru_cache(maxsize=_CACHED_PROMPTS)
def read_prompt(prompt: str, bank: Bank) -> Brief:
    """Parses a prompt in the language of the bank."""
    reader = _Reader(bank)
    for line in prompt.splitlines()[:_MAX_LINES]:
        reader.line(line[:2_000])
    return Brief(tuple(reader.objectives), tuple(reader.facts), reader.identity)


# A sentence answers a question if it has half of the question's stems, or its topic.
_THRESHOLD = 0.5


@lru_cache(maxsize=2048)
def answer_to(question: str, brief: Brief, bank: Bank) -> str | None:
    """The sentence of the prompt that answers the question best; `None` if none is good enough."""
    asked = question.lower()
    topics = [words for words in bank.topics.values() if any(word in asked for word in words)]
    if any(word in asked for word in bank.topics["who"]) and brief.identity:
        return brief.identity
    wanted = stems(question, bank)
    best, best_score = None, 0.0
    for fact in brief.facts:
        shared = len(wanted & fact.stems)
        score = shared / len(wanted) if wanted else 0.0
        said = fact.text.lower()
        if any(_mentions(said, word) for words in topics for word in words):
            score += 0.6
        if score > best_score:
            best, best_score = fact.text, score
    return best if best_score >= _THRESHOLD else None


def _mentions(text: str, word: str) -> bool:
    at = text.find(word)
    return at >= 0 and (at == 0 or not text[at - 1].isalnum() or not word[0].isalpha())
