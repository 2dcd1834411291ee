"""What the sentences of a prompt are: instructions to the agent, with what becomes of them, or what is never said.

The rules are data, one set for each language; English has its verbs in `imperatives` besides.
"""

from functools import lru_cache

from callwright.service.telephony.simulated.conversation.facts import day_at
from callwright.service.telephony.simulated.conversation.imperatives import you
from callwright.service.telephony.simulated.conversation.phrases import Bank

_ENDS = " .!।;?"
_LEAD_CHARS = 60


@lru_cache(maxsize=512)
def is_secret(sentence: str, bank: Bank) -> bool:
    """Whether the sentence forbids to say something, or is marked as confidential."""
    return bank.secret.search(sentence) is not None


def is_instruction(sentence: str, bank: Bank) -> bool:
    """Whether the sentence tells the agent what to do or to be, and is not meant for the contact."""
    return plain(sentence, bank).lower().startswith(bank.not_said) and bank.said.search(sentence) is None


def is_conditional(sentence: str, bank: Bank) -> bool:
    """Whether the sentence is about a case that may not come about: nothing of it is said unasked."""
    return sentence.lower().startswith(bank.conditions)


def spoken_by_pattern(sentence: str, bank: Bank) -> str | None:
    """What the agent says to follow an instruction; None if no pattern of the language applies."""
    if is_conditional(sentence, bank):
        return None
    body = plain(sentence, bank).rstrip(_ENDS)
    for pattern, said in bank.imperatives:
        match = pattern.match(body)
        if match is not None:
            return said.replace("{0}", addressed(match[1], bank))
    return None


def subject_of(sentence: str, bank: Bank) -> str | None:
    """What an instruction is about, said to the contact: occasion and day; None if it has no day, or a condition."""
    start = day_at(sentence, bank)
    if start is None or is_conditional(sentence, bank):
        return None
    occasion = bank.marks["occasion"].search(sentence)
    if occasion is not None and start - _LEAD_CHARS <= occasion.start() < start:
        start = occasion.start()
    body = bank.about_ends.sub("", sentence[start:].rstrip(_ENDS)).rstrip(_ENDS + ",")
    return bank.about.replace("{0}", addressed(body, bank))


def addressed(words: str, bank: Bank) -> str:
    """Words about the contact as words to the contact: "their address" becomes "your address"."""
    if bank.language == "en":
        return you(words)
    for pattern, replacement in bank.addressed:
        words = pattern.sub(replacement, words)
    return words


def identity_by_pattern(sentence: str, bank: Bank) -> str | None:
    """How the agent says for whom it calls, if the sentence tells it so; None otherwise."""
    for pattern, said in bank.named:
        match = pattern.match(sentence.rstrip(_ENDS))
        if match is not None:
            return said.replace("{0}", first_clause(match[1], bank))
    return None


def first_clause(text: str, bank: Bank) -> str:
    """The text up to where another instruction begins in the same sentence."""
    end = bank.first_clause.search(text)
    return (text if end is None else text[: end.start()]).strip(" ,")


def plain(sentence: str, bank: Bank) -> str:
    """The sentence without what may stand before an instruction, such as "please" or "your task is to"."""
    for word in bank.polite:
        if sentence[: len(word)].lower() == word:
            return sentence[len(word) :]
    return sentence
