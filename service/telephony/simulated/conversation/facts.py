"""The facts of a prompt: what each one states, which are the reason of the call, and which answers a question."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from callwright.service.telephony.simulated.conversation.phrases import Bank

MAX_NEWS = 3
MAX_NEWS_CHARS = 480
_FEWEST_NEWS = 2
_THRESHOLD = 0.5
"""A sentence answers a question if it has half of the question's stems, or its topic."""
_PLACE = re.compile(r"\{\{[^{}]*\}\}")
# Signs of Hindi belong to the letter before them, and are no letters to `re`.
_LETTERS = r"(?:[^\W_][\u0900-\u0903\u093a-\u094f\u0951-\u0957]*)+"
_WORD = re.compile(rf"{_LETTERS}(?:'{_LETTERS})?")
_DAY = re.compile(
    r"\b\d{4}-\d\d-\d\d\b|(?<![\d./])(?!24/7\b)(?:0?[1-9]|[12]\d|3[01])(?:[./-](?:0?[1-9]|1[0-2])[./-]\d{2,4}\b|/(?:0?[1-9]|1[0-2])\b)"
)
_TIME = re.compile(r"(?<![\d:])(?:[01]?\d|2[0-3])[:h][0-5]\d(?!\d)")
_COST = re.compile(r"[€$£₹]\s?\d|\d\s?(?:[€£$₹]|(?:EUR|USD|GBP|CHF|INR|BRL)\b)")
_CONTACT = re.compile(r"\bwww\.|\bhttps?:|\S@\S+\.\w|\+?\d[\d /()-]{6,}\d")


@dataclass(frozen=True)
class Fact:
    """One sentence that the agent may say when asked, and by what it is found. It may contain variables."""

    text: str
    stems: frozenset[str]
    topics: frozenset[str] = frozenset()
    is_news: bool | None = False
    """Whether the agent says it without being asked, as the reason of the call; None if that depends on variables."""

    @property
    def varies(self) -> bool:
        """Whether the sentence contains variables."""
        return "{{" in self.text


def stems(text: str, bank: Bank) -> frozenset[str]:
    """The words of a text without stop words, cut before their endings."""
    words = _WORD.findall(_PLACE.sub(" ", text.lower().replace("’", "'")))
    return frozenset(
        word if len(word) < 5 else word[: max(4, len(word) - 2)] for word in words if word not in bank.stopwords
    )


def day_at(text: str, bank: Bank) -> int | None:
    """Where in the text the first date or day of the week begins; None if it has none."""
    found = (_DAY.search(text), bank.marks["day"].search(text))
    return min((match.start() for match in found if match is not None), default=None)


def topics_of(text: str, bank: Bank) -> frozenset[str]:
    """What a sentence of the prompt says something about."""
    # The hour of "at 9 hours" is no duration.
    said = bank.marks["time"].sub(" ", text).lower()
    found = {topic for topic, words in bank.topics.items() if any(_mentions(said, word) for word in words)}
    if day_at(text, bank) is not None or _states_time(text, bank):
        found.add("time")
    if _COST.search(text) or bank.marks["cost"].search(text):
        found |= {"cost", "amount"}
    if bank.marks["place"].search(text):
        found.add("place")
    if _CONTACT.search(text):
        found.add("contact")
    return frozenset(found)


def is_news(text: str, bank: Bank) -> bool:
    """Whether the sentence is a reason to call: it states a day, or when an occasion such as an appointment is.

    Opening hours and other things that happen again and again are none.
    """
    if bank.marks["hours"].search(text):
        return False
    if day_at(text, bank) is not None:
        return True
    return bank.marks["occasion"].search(text) is not None and ("{{" in text or _states_time(text, bank))


def _states_time(text: str, bank: Bank) -> bool:
    return _TIME.search(text) is not None or bank.marks["time"].search(text) is not None


def fact_of(text: str, bank: Bank, *, also: str = "", before: Fact | None = None, told: bool = True) -> Fact | None:
    """The fact in a sentence; None if it has no word of its own.

    `also` are words by which it is found too, such as the question that it answers. `before` is the fact that stands
    before it in the prompt: where something takes place belongs to what takes place. Without `told` it is never news.
    """
    found = stems(f"{text} {also}", bank)
    if not found:
        return None
    topics = topics_of(text, bank)
    place_of_news = before is not None and before.is_news is True and "time" in before.topics and "place" in topics
    is_reason = told and (is_news(text, bank) or (place_of_news and not bank.marks["hours"].search(text)))
    fact = Fact(text, found, topics, is_reason)
    return replace(fact, is_news=None) if told and not is_reason and fact.varies else fact


def news_of(facts: Sequence[Fact], bank: Bank, fill: Callable[[str], str], *, alone: bool) -> list[str]:
    """The facts that are the reason of the call, as they are said; `fill` replaces variables.

    `alone`: the prompt has no objective. Then the first facts are told if none is a reason by itself.
    """
    told: list[str] = []
    for fact in facts:
        if fact.is_news is False:
            continue
        said = fill(fact.text)
        if (fact.is_news or is_news(said, bank)) and said not in told:
            told.append(said)
    if not told and alone:
        told = [fill(fact.text) for fact in facts if fact.topics][:_FEWEST_NEWS]
    kept: list[str] = []
    for said in told[:MAX_NEWS]:
        if not kept or sum(map(len, kept)) + len(said) <= MAX_NEWS_CHARS:
            kept.append(said)
    return kept


def filled_facts(facts: Sequence[Fact], bank: Bank, fill: Callable[[str], str]) -> tuple[Fact, ...]:
    """The facts of one call, found by the values of their variables too."""
    return tuple(
        replace(fact, text=said, stems=fact.stems | stems(said, bank), topics=topics_of(said, bank))
        if fact.varies and (said := fill(fact.text))
        else fact
        for fact in facts
    )


@lru_cache(maxsize=2048)
def _asked_about(question: str, bank: Bank) -> tuple[frozenset[str], frozenset[str]]:
    """The topics of a question, and its stems."""
    asked = f" {question.lower()} "
    found = {topic for topic, words in bank.topics.items() if any(word in asked for word in words)}
    found |= {topic for topic, words in bank.asks.items() if any(_mentions(asked, word) for word in words)}
    if found & {"source", "who"}:
        found -= {"place", "person", "contact"}
    if "time" in found:
        # "At which hour" is no question about how long something takes.
        found.discard("duration")
    return frozenset(found), stems(question, bank)


def asks_who(question: str, bank: Bank) -> bool:
    """Whether the question asks who is calling."""
    return "who" in _asked_about(question, bank)[0]


def states_asked_time(text: str, question: str, bank: Bank) -> bool:
    """Whether the question asks when, and the text states a day or a time."""
    stated = day_at(text, bank) is not None or _states_time(text, bank)
    return stated and "time" in _asked_about(question, bank)[0]


def best_answer(question: str, facts: Sequence[Fact], bank: Bank) -> str | None:
    """The fact that answers the question best, the earlier of equals; None if none is good enough."""
    topics, wanted = _asked_about(question, bank)
    best, best_score = None, 0.0
    for fact in facts:
        score = len(wanted & fact.stems) / len(wanted) if wanted else 0.0
        if topics & fact.topics:
            # An amount answers better than "it is free", and the appointment better than the opening hours.
            is_better = ("cost" in topics and "amount" in fact.topics) or ("time" in topics and fact.is_news)
            score += 0.7 if is_better else 0.6
        if score > best_score:
            best, best_score = fact.text, score
    return best if best_score >= _THRESHOLD else None


def _mentions(text: str, word: str) -> bool:
    at = text.find(word)
    return at >= 0 and (at == 0 or not word[0].isalpha() or not _continues(text[at - 1]))


def _continues(char: str) -> bool:
    """Whether a letter after this character is in the middle of a word. A vowel sign of Hindi is no letter."""
    return char.isalnum() or unicodedata.category(char).startswith("M")
