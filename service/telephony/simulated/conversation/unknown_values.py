"""What an agent says to a caller about whom something is not known: texts without the sentences that need it.

A list of people has a cell for every variable of an agent; a caller may be on no list. "Hello {{name}}" then
becomes "Hello", and "Am I speaking with {{name}}?" is not asked.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from callwright.service.rules.templates import placeholders_in, values_of
from callwright.service.telephony.simulated.conversation.prompts import sentences_of

_PLACE = r"\{\{[^{}\r\n]{1,200}\}\}"
_TITLE = (
    r"(?:Mr|Mrs|Ms|Miss|Dr|Herrn?|Frau|Señora?|Sra?|Don|Doña|Monsieur|Madame|Mme|M|Signora?|Sig|Sig\.ra|Dottore|"
    r"Meneer|Mevrouw|Dhr|Mevr|Senhora?|Seu|Dona|श्री|श्रीमती)\.?\s+"
)
_GREETING = (
    r"(?:hello|hi|hey|hi there|good (?:morning|afternoon|evening|day)|hallo|moin|servus|guten (?:tag|morgen|abend)|"
    r"grüß gott|hola|buen(?:os|as)? (?:días?|tardes|noches)|bonjour|bonsoir|salut|ciao|salve|buongiorno|buonasera|"
    r"goede(?:morgen|middag|navond|ndag)|goede (?:morgen|middag|avond|dag)|dag|olá|ola|oi|bom dia|boa (?:tarde|noite)|"
    r"नमस्ते|नमस्कार|हैलो)"
)
# "Good morning, Mr {{name}}!", or with a comma at most three other words: "Thanks for calling, {{name}}."
_ADDRESS = re.compile(
    rf"({_GREETING},?|(?:[^\W\d]+\s+){{0,2}}[^\W\d]+,)\s*(?:{_TITLE})?{_PLACE}(?:\s+{_PLACE})?(?=\s*(?:[,.!:;…।–—-]|$))",
    re.IGNORECASE,
)
_ADDRESS_FIRST = re.compile(rf"(?:{_TITLE})?{_PLACE}(?:\s+{_PLACE})?\s*[,:!]\s*")
_NO_BLANK_BEFORE = (",", ".", "!", ":", ";", "…", "।")


def without_unknown(template: str, variables: Mapping[str, str]) -> str:
    """The template without the sentences whose variables have no value; of one that greets by name, the name alone."""
    if "{{" not in template or not _unknown(template, variables):
        return template
    lines = (_line(line, variables) if "{{" in line else line for line in template.split("\n"))
    return "\n".join(line for line in lines if line is not None)


def _line(line: str, variables: Mapping[str, str]) -> str | None:
    """The line as far as it can be said; None if nothing of it can."""
    if not _unknown(line, variables):
        return line
    said = [
        kept
        for sentence in sentences_of(line)
        if (kept := _sentence(sentence, variables)) and any(map(str.isalpha, kept))
    ]
    return " ".join(said) or None


def _sentence(sentence: str, variables: Mapping[str, str]) -> str:
    """The sentence, without whom it addresses if that is not known; empty if it needs what is not known."""
    if not _unknown(sentence, variables):
        return sentence
    said = _without_address(sentence)
    return "" if said is None or _unknown(said, variables) else said


@lru_cache(maxsize=512)
def _without_address(sentence: str) -> str | None:
    """The sentence without the variable that it begins by addressing; None if it does not begin so."""
    if first := _ADDRESS_FIRST.match(sentence):
        rest = sentence[first.end() :]
        return rest[:1].upper() + rest[1:]
    found = _ADDRESS.match(sentence)
    if found is None:
        return None
    greeting, rest = found[1].rstrip(","), sentence[found.end() :].strip()
    if not rest:
        return f"{greeting}."
    return f"{greeting}{rest}" if rest.startswith(_NO_BLANK_BEFORE) else f"{greeting} {rest}"


def _unknown(text: str, variables: Mapping[str, str]) -> bool:
    """Whether a variable in the text has no value."""
    places = placeholders_in(text)
    return any(not (value or "").strip() for value in values_of(places, variables)) if places else False
