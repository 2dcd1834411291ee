"""What a sentence of the agent asks for, and what a contact wants, found by markers in the text."""

import re
from functools import lru_cache
from typing import Literal, get_args

from callwright.service.rules.opt_out_words import is_opt_out
from callwright.service.rules.spoken_moments.reading import asks_for_call, names_moment_alone
from callwright.service.telephony.simulated.conversation.phrases import Act, Bank

Stated = Literal[
    "opt_out", "wrong_number", "screening", "hold", "human", "robot", "later", "no", "away", "hurry", "goodbye"
]
"""What a contact may want, the most important first: a contact who opts out and says goodbye has opted out."""
Wish = Stated | Literal["question", "no_start", "nothing"]

ACCEPTING: frozenset[Act] = frozenset(("yes_no", "offer", "confirm", "choice"))
"""What a yes accepts."""
GENERAL: dict[Act, Act] = {"good_time": "yes_no", "identity_check": "yes_no", "offer": "yes_no", "how_are": "rating"}
"""What is asked in a language without the agent's own words, for what the agent asks for."""
MOST_WORDS_OF_A_HELLO = 5
"""Who says more has something to say, whatever the words are."""
_STATED: tuple[Stated, ...] = get_args(Stated)
_CACHED_SENTENCES = 4096
_PART_ENDS = re.compile(r"[,.;:?!…।؟？。]")
_EDGES = " \t\"'“”«»¿¡?？؟!.,;:…।()[]"


def is_question(text: str) -> bool:
    """Whether the text ends with a question mark of any of the usual scripts."""
    return text.rstrip(" \"'»”).")[-1:] in ("?", "？", "؟")


def _normal(text: str) -> str:
    return f" {' '.join(text.lower().replace('’', chr(39)).split())} "


@lru_cache(maxsize=_CACHED_SENTENCES)
def act_of(text: str, bank: Bank) -> Act:
    """What an agent's turn asks for; its last sentence decides."""
    if not is_question(text):
        return "statement"
    last = _normal(last_sentence(text))
    for act, markers in bank.acts.items():
        if any(marker in last for marker in markers):
            return act
    return "yes_no"


@lru_cache(maxsize=_CACHED_SENTENCES)
def wish_of(text: str, bank: Bank, asked: Act | None = None) -> Wish:
    """What a contact wants from the agent; `nothing` for an ordinary answer.

    `asked`: what the agent asked for before. Who names another time when asked whether it is a good one wants a call
    then.
    """
    said = _normal(text)
    if is_opt_out(text, bank.language):
        return "opt_out"
    for wish in _STATED[1:]:
        if any(marker in said for marker in bank.hears[wish]) or (wish == "later" and _is_later(text, bank, asked)):
            return wish
    if text in bank.small_talk or any(marker in said for marker in bank.hears["purpose"]):
        return "nothing"
    # A hesitation may come before the no: "Hm, no".
    beginning = [word.strip(_EDGES) for word in said.split()[:2]]
    for start in bank.hears["no_start"]:
        if start in beginning or (" " in start and said.startswith(f" {start}")):
            return "no_start"
    # Or the no comes after its reason, as a part of its own: "Too dear for me, no." "Not now, no, I am driving."
    parts = (part.strip(_EDGES) for part in _PART_ENDS.split(said))
    if not is_question(text) and any(part in bank.hears["no_start"] for part in parts):
        return "no_start"
    return "question" if is_question(text) else "nothing"


def is_hello(text: str, bank: Bank) -> bool:
    """Whether somebody just answers the telephone, with words of the language for that and no others."""
    words = [word.strip(_EDGES) for word in _normal(text).split()]
    said = [word for word in words if word]
    return bool(said) and len(said) <= MOST_WORDS_OF_A_HELLO and bank.hello.issuperset(said)


def _is_later(text: str, bank: Bank, asked: Act | None) -> bool:
    """Whether a moment is named at which the agent is to call."""
    if asks_for_call(text, bank.language):
        return True
    return asked == "good_time" and names_moment_alone(text, bank.language)


def last_sentence(text: str) -> str:
    """The last sentence of a text."""
    body = text.rstrip(" ?？؟.!\"'»”")
    cut = max(body.rfind(mark) for mark in (". ", "? ", "! ", "। ", "。", "？"))
    return text[cut + 1 :].strip() if cut >= 0 else text


@lru_cache(maxsize=_CACHED_SENTENCES)
def options_of(text: str, bank: Bank) -> tuple[str, str] | None:
    """The two options of a question, if each is one word, perhaps with an article."""
    words = [word.strip(_EDGES) for word in last_sentence(text).split()]
    joins = {each.strip() for each in bank.acts["choice"]}
    for at in range(1, len(words) - 1):
        if words[at].lower() not in joins:
            continue
        first, second, after = words[at - 1], words[at + 1], words[at + 2 : at + 4]
        if at >= 2 and after and words[at - 2].lower() == second.lower():
            # "the morning or the afternoon": the same article before both.
            first, second, after = f"{words[at - 2]} {first}", f"{second} {after[0]}", after[1:]
        # If more words follow, the second option has more than one word.
        if first and second and (not after or after[0].lower() in bank.stopwords):
            return first, second
    return None
