"""The objectives and facts in an agent's prompt, found by simple rules.

Bullets, numbered lines, questions and instructions to ask or tell are objectives; the other sentences are facts, except
those that instruct the agent about itself or forbid it to say something. The rules are the same in every language that
has phrases; English knows more verbs.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from callwright.service.rules.templates import render
from callwright.service.telephony.simulated.conversation.facts import (
    Fact,
    asks_who,
    best_answer,
    day_at,
    fact_of,
    topics_of,
)
from callwright.service.telephony.simulated.conversation.imperatives import is_imperative, split_steps, spoken
from callwright.service.telephony.simulated.conversation.instructions import (
    first_clause,
    identity_by_pattern,
    is_instruction,
    is_secret,
    plain,
    spoken_by_pattern,
    subject_of,
)
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
_ABBREVIATION = re.compile(
    r"(?:(?:^|\s)(?:Dr|Dra|Mr|Mrs|Ms|St|No|Nr|Sr|Sra|Hr|Fr|bzw|ca|Tel|M|Mme|Prof|Dott|Sig|Av|e\.g|i\.e|z\.\s?B|डॉ)|[Ss]tr)\.$"
)
_ORDINAL = re.compile(r"(?<![\d.,])(?:\d{1,2}\.){1,2}$")
_AFTER_ORDINAL = re.compile(
    r"(?:jan|jän|feb|mär|apr|mai|jun|jul|aug|sep|okt|nov|dez)[a-zä]*\b|stock\b|etage\b|um\b|in\b|bei\b", re.IGNORECASE
)
_QUESTION_LINE = re.compile(r"\s*(?:[-*•]\s*)?(?:Q|Question|F|P|D)\s*[:.]\s*(.+)", re.IGNORECASE)
_ANSWER_LINE = re.compile(r"\s*(?:[-*•]\s*)?(?:A|Answer|R)\s*[:.]\s*(.+)", re.IGNORECASE)
_FACT_HEADING = re.compile(
    r"fact|knowledge|faq|about|background|information|info\b|context|details|answers|hours|prices|pricing|policy|policies|"
    r"datos|información|informaç|hechos|fakten|informationen|hintergrund|informations|contexte|faits|dados|fatos|informazioni|"
    r"fatti|feiten|informatie|datos|données|dettagli|gegevens|जानकारी|तथ्य",
    re.IGNORECASE,
)
_RULE_HEADING = re.compile(
    r"rule|style|tone|guard|never|don'?t|do not|persona|voice|manner|limit|constraint|instructions? for tone|reglas|"
    r"estilo|regeln|stil|règles|ton\b|regras|regole|stile|regels|toon|intern(?:al|es|e|o|a)?\b|confiden|secret|vertraulich|geheim|vertrouwelijk|riservat|नियम|गोपनीय",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]")
_STATEMENT = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|will|takes?|costs?|opens?|closes?|includes?|offers?|we|you|it|there)\b",
    re.I,
)
_STATES = re.compile(r"\d|\{\{")
_DOING = re.compile(
    r"(?:greet|thank|close|end|introduce|wish|wait|listen|hang|call|talk|go|put|leave)\b", re.IGNORECASE
)
_ENDED = re.compile(r"[;!?]|\.\s*$")


@dataclass(frozen=True)
class Brief:
    """A parsed prompt. Texts may still contain variables, `{{name}}`."""

    objectives: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    identity: str = ""
    """Who the agent says it is; empty if the prompt does not say."""

    @property
    def varies(self) -> bool:
        """Whether what it may answer contains variables."""
        return "{{" in self.identity or any(fact.varies for fact in self.facts)


def sentences_of(text: str) -> list[str]:
    """The sentences of a line, abbreviations kept whole."""
    found: list[str] = []
    for piece in _SENTENCE_END.split(text):
        if found and (
            _ABBREVIATION.search(found[-1][-8:]) or (_ORDINAL.search(found[-1][-8:]) and _AFTER_ORDINAL.match(piece))
        ):
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
            if is_secret(sentence, self._bank):
                continue
            if self._section == "facts" and not is_instruction(sentence, self._bank):
                self._fact(sentence)
            else:
                self._sentence(sentence, is_bullet=bullet is not None)

    def _sentence(self, sentence: str, *, is_bullet: bool) -> None:
        bank = self._bank
        in_english = bank.language == "en"
        has_day = day_at(sentence, bank) is not None
        said = spoken_by_pattern(sentence, bank) if len(sentence) <= MAX_SENTENCE_CHARS else None
        is_identity = (said is not None or not has_day) and self._identifies(sentence)
        if said is not None:
            self._told(said)
        elif is_identity:
            return
        elif in_english and is_imperative(step_by_step := plain(sentence, bank)):
            for step in split_steps(step_by_step):
                if step_said := spoken(step):
                    self._objective(step_said)
                    if not is_question(step_said):
                        self._fact(step_said, told=False)
        elif is_question(sentence):
            self._objective(sentence)
        elif is_instruction(sentence, bank):
            if subject := subject_of(sentence, bank):
                self._fact(subject)
        elif is_bullet:
            self._bullet(sentence, has_day=has_day)
        else:
            self._fact(sentence)

    def _bullet(self, sentence: str, *, has_day: bool) -> None:
        """Reads a bullet that is neither a question nor an instruction that is known."""
        bank = self._bank
        topics = topics_of(sentence, bank)
        if has_day or (topics and _STATES.search(sentence)):
            self._fact(sentence)
            if bank.language != "en" and not has_day:
                self._objective(sentence)
        elif bank.language != "en":
            self._objective(sentence)
        elif len(sentence.split()) > 2 and _STATEMENT.search(sentence):
            self._fact(sentence)
        elif not _DOING.match(sentence):
            self._objective(f"Could you tell me about {sentence[:1].lower()}{sentence[1:].rstrip('.:;')}?")

    def _told(self, said: str) -> None:
        """Takes what the agent says to follow an instruction: a reason of the call, or a step of it."""
        fact = None if is_question(said) else self._fact(said)
        if fact is None or fact.is_news is not True:
            self._objective(said)

    def _identifies(self, sentence: str) -> bool:
        """Whether the sentence tells the agent who it is. The first one that does counts."""
        bank = self._bank
        said = identity_by_pattern(sentence, bank)
        if said is not None:
            self.identity = self.identity or _closed(said)
            return True
        for before, after in bank.identity:
            if sentence.startswith(before):
                if after and not self.identity:
                    self.identity = _closed(after + first_clause(_ENDED.split(sentence[len(before) :])[0], bank))
                elif after == "" and not self.identity:
                    self._named(sentence)
                return True
        return False

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

    def _objective(self, said: str) -> None:
        said = clipped(said)
        if len(self.objectives) < MAX_OBJECTIVES and said not in self.objectives and _WORD.search(said):
            self.objectives.append(_closed(said))

    def _fact(self, sentence: str, *, also: str = "", told: bool = True) -> Fact | None:
        if len(self.facts) >= MAX_FACTS or is_secret(sentence, self._bank):
            return None
        before = self.facts[-1] if self.facts else None
        fact = fact_of(_closed(clipped(sentence)), self._bank, also=also, before=before, told=told)
        if fact is not None:
            self.facts.append(fact)
        return fact


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


def brief_of(prompt: str, variables: Mapping[str, str], bank: Bank) -> Brief:
    """The brief of a call. A value of several lines may contain objectives."""
    if "{{" in prompt and any("\n" in value for value in variables.values()):
        prompt = render(prompt, variables).text
    return read_prompt(prompt, bank)


def answer_to(question: str, brief: Brief, bank: Bank) -> str | None:
    """The sentence of the prompt that answers the question best; `None` if none is good enough."""
    # The facts of a brief with variables are those of one contact: nobody asks for them again.
    return _answer(question, brief, bank) if brief.varies else _known_answer(question, brief, bank)


def _answer(question: str, brief: Brief, bank: Bank) -> str | None:
    if brief.identity and asks_who(question, bank):
        return brief.identity
    return best_answer(question, brief.facts, bank)


_known_answer = lru_cache(maxsize=2048)(_answer)
