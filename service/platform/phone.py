"""Phone numbers: turns what people write into E.164 (ITU-T), with libphonenumber's metadata."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import phonenumbers
from phonenumbers import NumberParseException, PhoneNumberType

_UNDIALABLE = {
    PhoneNumberType.PREMIUM_RATE: "premium-rate",
    PhoneNumberType.SHARED_COST: "shared-cost",
    PhoneNumberType.VOICEMAIL: "voicemail",
    PhoneNumberType.UAN: "company-access",
    PhoneNumberType.PAGER: "pager",
}
_FEWEST_DIGITS = 4
"""Fewer digits are not a phone number in any country, with or without an area code."""
_TELLING_DIGITS = 5
"""A text with this many digits may contain somebody's number."""

MOBILE_PREFIXES: Mapping[str, str] = {"+549": "+54"}
"""The prefix of mobile numbers with a digit that marks them as mobile, and the prefix of the same line without it.

In Argentina no two lines differ only in the 9: it precedes the area code in calls from abroad, like the 15 after the
area code in calls within the country. libphonenumber treats both notations as valid and as different numbers.
"""


@dataclass(frozen=True)
class Dialable:
    """A number that may be called."""

    e164: str
    country: str | None


@dataclass(frozen=True)
class Undialable:
    """Why a number cannot be called: a row error code and a sentence."""

    code: str
    message: str


def read_number(text: str, default_country: str | None = None) -> Dialable | Undialable:
    """Reads a written number. Without a country only numbers that begin with + are accepted."""
    written = text.strip()
    if not written:
        return Undialable("missing_phone", "the phone number is empty")
    digits = sum(character.isdigit() for character in written)
    if digits < _FEWEST_DIGITS:
        return Undialable("invalid_phone", "this is not a phone number")
    if not written.startswith("+") and default_country is None:
        return Undialable(
            "ambiguous_country", "the number does not begin with + and the audience has no default_country"
        )
    try:
        number = phonenumbers.parse(written[:60], default_country)
    except NumberParseException:
        return Undialable("invalid_phone", "this is not a phone number")
    if number.extension:
        return Undialable("not_dialable", "the number has an extension, which cannot be dialled; give one without it")
    if not phonenumbers.is_valid_number(number):
        return Undialable("invalid_phone", "no such phone number can exist")
    kind = _UNDIALABLE.get(phonenumbers.number_type(number))
    if kind is not None:
        return Undialable("not_dialable", f"{kind} numbers are not called")
    e164 = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
    return Dialable(e164, phonenumbers.region_code_for_number(number))


def line_of(e164: str) -> str:
    """The line that a number reaches: the same text for each notation that reaches it."""
    for mobile, plain in MOBILE_PREFIXES.items():
        if e164.startswith(mobile):
            return plain + e164.removeprefix(mobile)
    return e164


def is_country(code: str) -> bool:
    """Whether numbers of this country (ISO 3166-1 alpha-2) are known."""
    return code in phonenumbers.SUPPORTED_REGIONS


def masked(text: str) -> str:
    """A written number with its middle hidden, for reports."""
    if len(text) <= 6:
        return "•" * len(text)
    head = min(3, len(text) - 5)
    return text[:head] + "•" * min(len(text) - head - 2, 12) + text[-2:]


def redacted(text: str) -> str:
    """Text that is not meant to have a number, for reports: of five or more digits the middle ones are hidden.

    Digits of all scripts count together, whatever is between them, so that a number is hidden in every notation.
    """
    digits = [index for index, character in enumerate(text) if character.isnumeric()]
    if len(digits) < _TELLING_DIGITS:
        return text
    hidden = set(digits[min(3, len(digits) - _TELLING_DIGITS) : -2])
    return "".join("•" if index in hidden else character for index, character in enumerate(text))


@lru_cache(maxsize=10_000)
def zones_of(e164: str) -> tuple[str, ...]:
    """The IANA time zones a number may be in; empty where unknown. A mobile or toll-free number may have several."""
    from phonenumbers import timezone  # a large table, needed only for calling hours in the callee's zone

    zones = timezone.time_zones_for_number(phonenumbers.parse(e164))
    return tuple(zone for zone in zones if zone != timezone.UNKNOWN_TIMEZONE)
