"""The numbers that the simulated carrier rents out: valid in form, and fictional or unlikely to be in use.

In North America these are the numbers 555-0100 to 555-0199 of each area code, which are set aside for fiction.
Elsewhere they are neighbours of libphonenumber's example number.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import phonenumbers
from phonenumbers import PhoneNumberType

_TYPES = {
    "local": PhoneNumberType.FIXED_LINE,
    "mobile": PhoneNumberType.MOBILE,
    "toll_free": PhoneNumberType.TOLL_FREE,
    "national": PhoneNumberType.UAN,
}
_AREA_CODES = {
    "US": ("212", "206", "303", "312", "404", "415", "512", "617", "702", "718"),
    "CA": ("416", "514", "604"),
}
_RESERVED_AREA = "202"
"""555-01NN of this area are callees of the simulated network that force an outcome, so nobody calls from them."""
MAX_PER_SEARCH = 200


@dataclass(frozen=True)
class RentableNumber:
    """A number of the simulated carrier."""

    number: str
    country: str
    number_type: str
    locality: str | None


def _north_american(country: str, area_code: str | None) -> Iterator[str]:
    areas = (area_code,) if area_code else _AREA_CODES[country]
    for area in areas:
        if len(area) == 3 and area != _RESERVED_AREA:
            for line in range(100, 200):
                yield f"+1{area}555{line:04d}"


def _neighbours(country: str, number_type: str) -> Iterator[str]:
    example = phonenumbers.example_number_for_type(country, _TYPES[number_type])
    if example is None:
        return
    text = phonenumbers.format_number(example, phonenumbers.PhoneNumberFormat.E164)
    for ending in range(1_000):
        yield f"{text[:-3]}{ending:03d}"


@lru_cache(maxsize=500)
def rentable(country: str, number_type: str, area_code: str | None, contains: str | None) -> tuple[RentableNumber, ...]:
    """Up to 200 numbers of the country that fit, in ascending order; empty for a country that has none."""
    plain = country in _AREA_CODES and number_type == "local"
    candidates = _north_american(country, area_code) if plain else _neighbours(country, number_type)
    found: list[RentableNumber] = []
    for text in candidates:
        if contains and contains not in text:
            continue
        number = phonenumbers.parse(text)
        if not phonenumbers.is_valid_number(number) or phonenumbers.region_code_for_number(number) != country:
            continue
        national = phonenumbers.national_significant_number(number)
        if area_code and not national.startswith(area_code):
            continue
        found.append(RentableNumber(text, country, number_type, _locality(number)))
        if len(found) == MAX_PER_SEARCH:
            break
    return tuple(sorted(found, key=lambda entry: entry.number))


def _locality(number: phonenumbers.PhoneNumber) -> str | None:
    area = phonenumbers.length_of_geographical_area_code(number)
    return phonenumbers.national_significant_number(number)[:area] or None if area else None


def find_rentable(number: str, country: str, number_type: str) -> RentableNumber | None:
    """The number, if the carrier has it."""
    try:
        parsed = phonenumbers.parse(number)
    except phonenumbers.NumberParseException:
        return None
    area = None
    if country in _AREA_CODES and number_type == "local":
        area = phonenumbers.national_significant_number(parsed)[:3]
    e164 = phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.E164)
    return next((entry for entry in rentable(country, number_type, area, e164[1:]) if entry.number == e164), None)
