"""Parses telephone numbers as people write them into E.164 (ITU-T), by the metadata of libphonenumber.

That library is imported only when a number has to be parsed: most numbers arrive in E.164 already.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

E164 = re.compile(r"\+[1-9][0-9]{6,14}")
"""A number that needs no parsing."""
WANTED = "write it with + and the country code, for example +12025550100"

_FEWEST_DIGITS = 4
_LONGEST = 60


@dataclass(frozen=True)
class NumberReading:
    """A possible meaning of a written number."""

    e164: str
    country: str | None
    """ISO 3166-1 alpha-2; None for numbers of no single country."""


def is_telephone_number(text: str) -> bool:
    """Whether a text can be a telephone number at all: some digits, and no letters."""
    digits = sum(character.isdigit() for character in text)
    return digits >= _FEWEST_DIGITS and len(text) <= _LONGEST and not any(map(str.isalpha, text))


def readings(text: str, countries: Iterable[str]) -> list[NumberReading]:
    """The valid numbers that a text can mean, each once. Numbers that begin with + or 00 need no country.

    `00` is taken as the international prefix for every country, because people write it so everywhere.
    """
    plain = (character for character in text if unicodedata.category(character) != "Cf")  # invisible characters
    written = unicodedata.normalize("NFKC", "".join(plain)).strip()
    if not is_telephone_number(written):
        return []
    if written.startswith("00"):
        found = _read("+" + written[2:].lstrip(), None)
        if found is not None:
            return [found]
    if written.startswith("+"):
        found = _read(written, None)
        return [] if found is None else [found]
    read = (_read(written, country) for country in countries)
    return list({reading.e164: reading for reading in read if reading is not None}.values())


def _read(written: str, country: str | None) -> NumberReading | None:
    import phonenumbers

    try:
        number = phonenumbers.parse(written, country)
    except phonenumbers.NumberParseException:
        return None
    if not phonenumbers.is_valid_number(number):
        return None
    e164 = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
    return NumberReading(e164, phonenumbers.region_code_for_number(number))
