"""Turns the instructions of an English prompt into what the agent says, by simple rules.

"Ask whether Thursday suits" becomes "Does Thursday suit you?", "Confirm the address" becomes "Could you confirm the
address?". An instruction without a rule becomes "Could you tell me ...?", or `spoken` returns None.
"""

import re

_PERSON = (
    r"(?:them|him|her|the (?:customers?|clients?|patients?|contacts?|callers?|persons?|users?|guests?|members?|leads?|"
    r"callees?|recipients?|respondents?|participants?|prospects?|person you(?:'re| are) calling))"
)
_YOU = re.compile(rf"\b(?:they|he|she|{_PERSON})\b(?!')", re.IGNORECASE)
_YOUR = re.compile(rf"\b(?:their|his|{_PERSON}'s?|her(?= [a-z]))(?![\w'])", re.IGNORECASE)
_YOURSELF = re.compile(r"\b(?:themselves|himself|herself)\b", re.IGNORECASE)

_MODALS = "can|could|would|will|should|may|might|must|are|is|was|were|has|have|had|do|does|did"
_SECOND_PERSON = {"is": "are", "was": "were", "has": "have", "does": "do"}
_VERBS = {
    "suits": "suit you",
    "works": "work for you",
    "fits": "fit you",
    "needs": "need",
    "wants": "want",
    "looks": "look",
    "seems": "seem",
    "sounds": "sound",
    "makes": "make",
    "remains": "remain",
    "arrived": "",
}
_WH = r"(?:what|when|where|who|whom|whose|which|why|how)"
_VERB = (
    r"(?P<verb>ask|find out|check|confirm|verify|tell|inform|let|remind|offer|invite|propose|suggest|collect|get|"
    r"obtain|gather|learn|determine|establish|clarify|record|take|note(?: down)?|request|explain|mention|say|state|"
    r"apologi[sz]e|book|schedule|arrange|see|understand|identify|qualify|recommend|encourage|announce|"
    r"share|capture|make sure)"
)
_IMPERATIVE = re.compile(
    rf"(?:please |then |next,? |finally,? |first,? |also |politely |and )*{_VERB}\b(?P<rest>.*)", re.I | re.S
)
_SPLIT = re.compile(
    r"(?:;|,? and then|,? then|, and|,| and)\s+(?=(?:ask|find out|confirm|verify|tell them|inform|remind|offer|invite|"
    r"collect|explain|mention|apologi[sz]e|book|schedule|let them)\b)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“«]([^\"”»]{3,})[\"”»]")


def is_imperative(sentence: str) -> bool:
    """Whether the sentence instructs the agent to ask, tell, confirm or offer something."""
    return _IMPERATIVE.match(sentence) is not None


def split_steps(sentence: str) -> list[str]:
    """The instructions of a sentence: "Ask if X and confirm Y" has two."""
    return [step.strip() for step in _SPLIT.split(sentence) if step.strip()]


def spoken(instruction: str) -> str | None:
    """What the agent says to follow the instruction; None if no rule applies."""
    instruction = " ".join(instruction.split())
    quoted = _QUOTED.search(instruction)
    if quoted is not None and is_imperative(instruction):
        return quoted.group(1).strip()
    match = _IMPERATIVE.match(instruction)
    if match is None:
        return None
    verb, rest = match["verb"].lower(), match["rest"].strip(" :").rstrip(" .;!")
    if not rest:
        return None
    if verb == "let":
        verb, rest = "tell", re.sub(rf"^{_PERSON} know\s*", "", rest, flags=re.I)
    rest = re.sub(rf"^(?:with |to )?{_PERSON}\b(?!'s)\s*(?=\S)", "", rest, flags=re.I) or rest
    if verb in ("tell", "inform", "explain", "mention", "say", "state", "remind", "announce", "share"):
        return _told(verb, rest)
    if verb in ("offer", "propose", "suggest", "recommend", "invite", "encourage"):
        return _offered(verb, rest)
    if verb in ("book", "schedule", "arrange"):
        return f"I'd like to {verb} {you(rest)}. Would that be all right?"
    if verb in ("apologise", "apologize"):
        return f"I'm sorry {you(rest)}."
    return _asked(verb, rest.rstrip("?"))


def you(words: str) -> str:
    """The words in the second person: "their address" becomes "your address"."""
    words = _YOU.sub("you", _YOUR.sub("your", _YOURSELF.sub("yourself", words)))
    for third, second in _SECOND_PERSON.items():
        words = re.sub(rf"\byou {third}\b", f"you {second}", words)
    return words


def _sentence(words: str, end: str) -> str:
    words = words.strip(" ,")
    return (words[:1].upper() + words[1:] + end) if words else ""


def _told(verb: str, rest: str) -> str:
    rest = re.sub(r"^that\s+", "", rest, flags=re.I) if verb != "remind" else rest
    if verb == "remind":
        if match := re.match(r"to (.+)", rest, re.I | re.S):
            return f"Please remember to {you(match[1])}."
        if match := re.match(r"(?:of|about) (.+)", rest, re.I | re.S):
            return f"This is a reminder about {you(match[1])}."
        return f"I'd like to remind you {you(rest)}."
    if match := re.match(r"about (.+)", rest, re.I | re.S):
        return f"I'd like to tell you about {you(match[1])}."
    if re.search(rf"\b(?:{_MODALS}|we|you|they|there|it|\w+s|\w+ed)\b", rest) and not re.match(
        rf"(?:{_WH}|the \w+)$", rest
    ):
        clause = re.match(rf"{_WH}\b", rest, re.I)
        return f"I'd like to explain {you(rest)}." if clause else _sentence(you(rest), ".")
    return f"I'd like to tell you about {you(rest)}."


def _offered(verb: str, rest: str) -> str:
    words = you(rest)
    if verb in ("invite", "encourage"):
        return f"We'd like to invite you {words}. Would you be interested?"
    if words.startswith("to "):
        return f"I can offer {words}. Would that help?"
    words = re.sub(r"^that\s+", "", words)
    return f"We can offer you {words}. Would you be interested?"


def _asked(verb: str, rest: str) -> str:
    if match := re.match(r"(?:if|whether)(?: or not)?\s+(.+)", rest, re.I | re.S):
        return _yes_no(you(match[1]))
    if re.match(rf"(?:(?:in|at|on|for|by|to|from) )?{_WH}\b", rest, re.I):
        return _wh(you(rest))
    for beginning, question in _BY_BEGINNING.items():
        if match := re.match(rf"{beginning}\s+(.+)", rest, re.I | re.S):
            return f"{question} {you(match[1])}?"
    return f"{_BY_VERB.get(verb, 'Could you give me')} {you(rest)}?"


_BY_BEGINNING = {
    "for": "Could you give me",
    "to": "Could you",
    "about": "Could I ask about",
    "that": "Could you confirm that",
}
_BY_VERB = {
    **dict.fromkeys(("confirm", "verify", "check", "make sure"), "Could you confirm"),
    **dict.fromkeys(("take", "record", "note", "note down"), "Could I take"),
    **dict.fromkeys(("ask", "find out", "see", "understand", "learn", "determine"), "Could you tell me"),
    **dict.fromkeys(("establish", "clarify", "identify", "qualify"), "Could you tell me"),
}


def _yes_no(clause: str) -> str:
    words = clause.split()
    if words[0].lower() == "you" and len(words) > 1:
        if re.fullmatch(_MODALS, words[1]):
            # "have" alone is a main verb; before a participle it is an auxiliary.
            if words[1] in ("have", "had", "do") and not (
                len(words) > 2 and re.search(r"(?:ed|en|n't|not|been|any)$", words[2])
            ):
                return _sentence(f"do {clause}", "?")
            if words[1] == "have" and len(words) > 2 and words[2] == "any":
                return _sentence(f"do {clause}", "?")
            return _sentence(" ".join([words[1], "you", *words[2:]]), "?")
        if words[1] in ("still", "already", "also") and len(words) > 2 and re.fullmatch(_MODALS, words[2]):
            if words[2] == "have":
                return _sentence(f"do {clause}", "?")
            return _sentence(" ".join([words[2], "you", words[1], *words[3:]]), "?")
        if words[1].endswith("ed"):
            return f"May I ask whether {clause}?"
        verb = words[1]
        if verb.endswith("s") and not verb.endswith("ss"):
            verb = verb[:-1]
        return _sentence(" ".join(["do", "you", verb, *words[2:]]), "?")
    for at in range(1, min(len(words), 7)):
        word = words[at].lower()
        if re.fullmatch(_MODALS, word):
            return _sentence(" ".join([word, _small(words[0]), *words[1:at], *words[at + 1 :]]), "?")
        if _VERBS.get(word):
            rest = words[at + 1 :]
            verb = _VERBS[word]
            if rest[:2] == ["for", "you"] or rest[:1] == ["you"]:
                verb = verb.split()[0]
            return _sentence(" ".join(["does", _small(words[0]), *words[1:at], verb, *rest]), "?")
    return f"Could you tell me whether {clause}?"


def _small(word: str) -> str:
    return word.lower() if word in ("The", "This", "That", "There", "It", "Your", "A", "An") else word


def _wh(clause: str) -> str:
    words = clause.split()
    for at in range(1, min(len(words) - 1, 7)):
        word, following = words[at].lower(), words[at + 1].lower()
        if word == "you" and re.fullmatch(_MODALS, following):
            if following in ("have", "had") and not (at + 2 < len(words) and words[at + 2].endswith(("ed", "en"))):
                return _sentence(" ".join([*words[:at], "do", *words[at:]]), "?")
            return _sentence(" ".join([*words[:at], following, "you", *words[at + 2 :]]), "?")
        if word == "you" and re.fullmatch(r"[a-z]+", following) and not following.endswith("ed"):
            return _sentence(" ".join([*words[:at], "do", *words[at:]]), "?")
    if len(words) > 2 and words[-1] in ("is", "are", "was", "were") and words[1] not in ("is", "are"):
        # The verb goes before the subject: "how high your bill is", "what the price was".
        for at in range(1, len(words) - 1):
            if words[at].lower() in ("your", "the", "a", "an", "this", "that", "our"):
                return _sentence(" ".join([*words[:at], words[-1], *words[at:-1]]), "?")
    if len(words) > 1 and (
        words[1] in ("is", "are", "would", "was", "works", "suits") or words[-1] in ("suits", "works", "fits")
    ):
        return _sentence(clause if not clause.endswith("suits") else f"{clause} you", "?")
    if re.match(rf"(?:how many|which|what) [a-z]+ (?:{_MODALS})\b", clause, re.I) and "you" not in words[:4]:
        # The things counted or chosen are the subject: the order of words stays.
        return _sentence(clause, "?")
    if re.search(r"\b(?:suits?|works?|fits?|would|is|are) (?:you|best|better|for you)\b", clause):
        return _sentence(clause, "?")
    return f"Could you tell me {clause}?"
