"""Phone numbers: turns what people write into E.164 (ITU-T), with libphonenumber's metadata."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import phonenumbers
from phonenumbers import NumberParseException, PhoneNumberType

from callwright.list_files.number_texts import plainly_written
from callwright.list_files.phone_columns import has_telling_sign, is_label
from callwright.service.platform.number_patterns import country_of, lacks_trunk_prefix, national_number

_UNDIALABLE = {
    PhoneNumberType.PREMIUM_RATE: "premium-rate",
    PhoneNumberType.SHARED_COST: "shared-cost",
    PhoneNumberType.VOICEMAIL: "voicemail",
    PhoneNumberType.UAN: "company-access",
    PhoneNumberType.PAGER: "pager",
    PhoneNumberType.PERSONAL_NUMBER: "follow-me",
}
_WRAPPED = re.compile(r"""^(?:'|tel:|="?)(.*?)"?$""", re.IGNORECASE | re.DOTALL)
"""How spreadsheets write that a cell is text, and links to numbers (RFC 3966)."""
_PLAIN = re.compile(r"\+[1-9][0-9]{6,14}")
"""A number as E.164 writes it."""
_USUAL = re.compile(r"\+?\(?[0-9](?:[-. ()]{0,3}[0-9]){6,16}")
"""A number that is written in the usual way."""
_BETWEEN_DIGITS = str.maketrans("", "", "+-. ()")
_ROUNDED = re.compile(r"[-+]?\d+(?:[.,]\d+)?[eE][-+]?\d+")
_ERROR_VALUE = re.compile(r"#+|#[A-Z/0]+[!?]?", re.IGNORECASE)
_FRACTION = re.compile(r"^(\d{7,15})[.,]0{1,2}$")
"""A number that a program took for an amount."""
_DATE = re.compile(
    r"(?:19|20)\d\d[-./](?:0?[1-9]|1[0-2])[-./](?:0?[1-9]|[12]\d|3[01])"
    r"|(?:0?[1-9]|[12]\d|3[01])[-./](?:0?[1-9]|[12]\d|3[01])[-./](?:19|20)\d\d"
)
_DECIMAL = re.compile(r"\d{5,15}[.,]\d{1,2}")
_BETWEEN_NUMBERS = re.compile(r"[;\n|]|:::|\s/\s|\+|,\s*(?=[\d(])|\s(?:or|oder|ou|o)\s", re.IGNORECASE)
_WORD_BEHIND = re.compile(r"(?:\d[^\w]*){6,}[^\w]*[^\W\d_]{2,}")
"""Six digits and a word: not a number in letters such as 1-800-FLOWERS, and its letters are no digits of the number."""
_WORD_AMONG_DIGITS = re.compile(r"[^\W\d_]{2,}.*\d", re.DOTALL)
_IN_FRONT = re.compile(r"[^\d+]+")
_PLACE_IN_LIST = re.compile(r"\d\s?[:)]\s*(?=[\d+(])")
"""What counts several numbers of a person, behind a label: `Tel. 2: `."""
_EXTENSION = re.compile(r"(?:ext|x|extn|extension|доб|int|anexo)\.?\s*:?\s*\d{1,7}\s*$|;ext=", re.IGNORECASE)
"""Written extensions that libphonenumber knows, which have a reason of their own."""
_LONGEST_READ = 60
"""Characters of a cell that are read."""
_FEWEST_OF_SEVERAL = 7
_MOST_DIGITS = 15
"""Digits of a number in E.164."""
_FEWEST_DIGITS = 4
"""Fewer digits are not a phone number in any country, with or without an area code."""
_MEXICO = 52
_OLD_MEXICAN_DIGITS = 11
_TELLING_DIGITS = 5
"""A text with this many digits may contain somebody's number."""

AMBIGUOUS_COUNTRY = "ambiguous_country"
"""The code of a number that does not say its country."""

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


def read_number(
    text: str, default_country: str | None = None, *, needs_trunk_prefix: bool = False
) -> Dialable | Undialable:
    """Reads a written number. Without a country only numbers that begin with + are accepted.

    With `needs_trunk_prefix` a number that is more than digits is refused where it lacks the trunk prefix 0 that its
    country writes in front.
    """
    if _PLAIN.fullmatch(text):  # nothing of what else a cell may hold can be in it
        return _parsed(text, default_country)
    written = plainly_written(_WRAPPED.sub(r"\1", plainly_written(text)))
    if not written:
        return Undialable("missing_phone", "the phone number is empty")
    if (damage := _spreadsheet_damage(written)) is not None:
        return damage
    written = _FRACTION.sub(r"\1", written)
    if _DATE.fullmatch(written) or _DECIMAL.fullmatch(written):
        return Undialable("invalid_phone", "this is a date or an amount, not a phone number")
    if not _USUAL.fullmatch(written):
        alone = _without_label(written)
        if isinstance(alone, Undialable):
            return alone
        written = alone
    if not written.startswith("+") and default_country is None:
        why = "the number does not begin with + and the audience has no default_country"
        if written.startswith("00"):
            why = "the number begins with 00; write + in its place, or give the audience a default_country"
        return Undialable(AMBIGUOUS_COUNTRY, why)
    written = _with_plus(written, default_country)
    if needs_trunk_prefix and _lacks_trunk_prefix(written, default_country):
        return Undialable(
            "invalid_phone",
            "the number lacks the 0 in front of it; write it with the 0 or from + on, or delete the row if it is no "
            "phone number",
        )
    return _parsed(written, default_country)


def _without_label(written: str) -> str | Undialable:
    """A number without a label in front of it, cut to the characters that are read; or what else is in the cell.

    Words around a number may say that it must not be called, so only those are passed over that are known to be labels.
    """
    digits = sum(map(str.isdigit, written))
    if digits < _FEWEST_DIGITS:
        return _short(written)
    if _are_several(written, digits):
        return Undialable("several_numbers", "the cell holds more than one number; keep the one to call")
    front = _IN_FRONT.match(written)
    if front is not None:
        if not is_label(front[0]):
            return Undialable(
                "invalid_phone",
                "a word or sign in front of the number may forbid to call it; keep the number alone in the cell, or "
                "delete the row",
            )
        behind = written[front.end() :]
        if any(map(str.isalnum, front[0])):
            place = _PLACE_IN_LIST.match(behind)
            written = behind if place is None else behind[place.end() :]
        elif behind.startswith("+"):  # a bracket in front of other digits belongs to them
            written = behind
    written = written[:_LONGEST_READ]
    if _EXTENSION.search(written):
        return written  # it is refused for its extension
    if _WORD_BEHIND.search(written):
        return Undialable("invalid_phone", "a word stands behind the number; keep the number alone in the cell")
    if _WORD_AMONG_DIGITS.search(written):
        return Undialable("invalid_phone", "a word stands among the digits; keep the number alone in the cell")
    if has_telling_sign(written):
        return Undialable("invalid_phone", "a sign beside the number may forbid to call it; keep the number alone")
    return written


def _parsed(written: str, default_country: str | None) -> Dialable | Undialable:
    return _recognised(written, default_country) or _asked(written, default_country)


def _recognised(written: str, default_country: str | None) -> Dialable | None:
    """A number of digits and what usually stands between them, if it is recognised without libphonenumber."""
    if not _USUAL.fullmatch(written):
        return None
    digits = written.translate(_BETWEEN_DIGITS)
    if written[0] == "+":
        country = country_of(digits)
        return None if country is None else Dialable(f"+{digits}", country)
    found = None if default_country is None else national_number(digits, default_country)
    return None if found is None else Dialable(*found)


def _asked(written: str, default_country: str | None) -> Dialable | Undialable:
    try:
        number = phonenumbers.parse(written, default_country)
    except NumberParseException:
        return Undialable("invalid_phone", "this is not a phone number")
    _write_as_today(number)
    if number.extension:
        return Undialable("not_dialable", "the number has an extension, which cannot be dialled; give one without it")
    kind = phonenumbers.number_type(number)
    if kind == PhoneNumberType.UNKNOWN:  # no valid number has this type
        return Undialable("invalid_phone", "no such phone number can exist")
    country = phonenumbers.region_code_for_number(number)
    if (why := _undialable(kind, country)) is not None:
        return Undialable("not_dialable", f"{why} numbers are not called")
    return Dialable(phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164), country)


@dataclass(frozen=True, slots=True)
class NumberFacts:
    """What libphonenumber knows of a stored number.

    `is_dialable`: it may be dialled at all, so no premium rate, no short code, no emergency number. `is_mobile`: it is
    certainly mobile.
    """

    country: str | None
    is_dialable: bool
    is_mobile: bool


_NO_NUMBER = NumberFacts(None, is_dialable=False, is_mobile=False)


@lru_cache(maxsize=65_536)
def number_facts(e164: str) -> NumberFacts:
    """What is known of a stored number. A number is read once for the gate and for its price, which costs most."""
    try:
        number = phonenumbers.parse(e164)
    except NumberParseException:
        return _NO_NUMBER
    kind = phonenumbers.number_type(number)
    country = phonenumbers.region_code_for_number(number)
    is_valid = kind != PhoneNumberType.UNKNOWN  # no other number has a type
    return NumberFacts(country, is_valid and _undialable(kind, country) is None, kind == PhoneNumberType.MOBILE)


def is_dialable(e164: str) -> bool:
    """Whether a stored number may be dialled at all. An ordinary one is recognised without libphonenumber."""
    return country_of(e164[1:]) is not None or number_facts(e164).is_dialable


def _undialable(kind: int, country: str | None) -> str | None:
    """Why numbers of this kind are not called; None if they are."""
    if country == phonenumbers.REGION_CODE_FOR_NON_GEO_ENTITY:
        return "satellite and global"  # nobody knows what time it is there
    return _UNDIALABLE.get(kind)


def _write_as_today(number: phonenumbers.PhoneNumber) -> None:
    """Takes the 1 away that Mexican mobile numbers had behind +52 in calls from abroad until 2019: +52 1 55 … is the
    line +52 55 … and libphonenumber does not know it in that notation.
    """
    national = str(number.national_number)
    if number.country_code == _MEXICO and len(national) == _OLD_MEXICAN_DIGITS and national.startswith("1"):
        number.national_number = int(national[1:])


def _with_plus(written: str, country: str | None) -> str:
    """The number with the + that it lacks, where it begins with the country's own calling code.

    `49 151 …` in a German list is +49 151 …, as customer systems write it: a national number begins with a 0 there.
    libphonenumber takes it for national, because German numbers may be of many lengths.
    """
    if country is None or written.startswith(("+", "00")):
        return written
    digits = "".join(str(unicodedata.digit(character)) for character in written if character.isdigit())
    begins_with_0 = phonenumbers.ndd_prefix_for_region(country, True) == "0"
    if not begins_with_0 or not digits.startswith(str(phonenumbers.country_code_for_region(country))):
        return written
    try:
        abroad = phonenumbers.parse(f"+{digits}")
    except NumberParseException:
        return written
    return f"+{digits}" if phonenumbers.is_valid_number(abroad) else written


def _lacks_trunk_prefix(written: str, country: str | None) -> bool:
    """Whether a number that somebody wrote with blanks or signs lacks the 0 of its country: it may be a file number.

    Of digits alone a spreadsheet has taken the 0 away.
    """
    if country is None or written.startswith(("+", "0")) or written.isdecimal() or not _USUAL.fullmatch(written):
        return False
    return lacks_trunk_prefix(written.translate(_BETWEEN_DIGITS), country)


def _spreadsheet_damage(written: str) -> Undialable | None:
    if _ROUNDED.fullmatch(written):
        return Undialable(
            "spreadsheet_damage",
            "a spreadsheet has rounded the number, as in 4.9E+11, and its last digits are lost; format the column as "
            "text and fill it again from the source",
        )
    if _ERROR_VALUE.fullmatch(written):
        return Undialable("spreadsheet_damage", "a spreadsheet shows an error in place of the number")
    return None


def _short(written: str) -> Undialable:
    """What is said of a text with fewer digits than a number has."""
    if written.isdigit():
        return Undialable(
            "invalid_phone", "this is not a phone number but a short one, as for emergencies, which is not called"
        )
    return Undialable("invalid_phone", "this is not a phone number")


def _are_several(written: str, digits: int) -> bool:
    """Whether a text of so many digits holds several numbers, also with nothing but a blank between them."""
    if sum(map(_looks_whole, _BETWEEN_NUMBERS.split(written))) > 1:
        return True
    return digits > _MOST_DIGITS and sum(map(_looks_whole, written.split())) > 1


def _looks_whole(part: str) -> bool:
    return sum(character.isdigit() for character in part) >= _FEWEST_OF_SEVERAL


_OF_SEVERAL_NOTATIONS = (*MOBILE_PREFIXES, *MOBILE_PREFIXES.values())


def has_one_notation(e164: str) -> bool:
    """Whether no other number reaches the same line."""
    return not e164.startswith(_OF_SEVERAL_NOTATIONS)


def line_of(e164: str) -> str:
    """The line that a number reaches: the same text for each notation that reaches it."""
    for mobile, plain in MOBILE_PREFIXES.items():
        if e164.startswith(mobile):
            return plain + e164.removeprefix(mobile)
    return e164


def notations_of(e164: str) -> tuple[str, ...]:
    """The number in each of its notations that reach the same line, the given one first."""
    for mobile, plain in MOBILE_PREFIXES.items():
        if e164.startswith(mobile):
            return e164, plain + e164.removeprefix(mobile)
        if e164.startswith(plain):
            return e164, mobile + e164.removeprefix(plain)
    return (e164,)


def is_country(code: str) -> bool:
    """Whether numbers of this country (ISO 3166-1 alpha-2) are known."""
    return code in phonenumbers.SUPPORTED_REGIONS


def holds_number(text: str, region: str | None) -> bool:
    """Whether a telephone number stands in a text, written with + or as in the region; a date or an amount is none."""
    return next(iter(phonenumbers.PhoneNumberMatcher(text, region)), None) is not None


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
