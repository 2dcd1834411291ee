"""Recognises ordinary numbers in E.164 by one pattern for each country, which is made of libphonenumber's metadata.

`phonenumbers` asks the same patterns one by one, in Python, and makes an object in between: a number takes it 20 times
as long. A number is recognised here only where it is plain that `phonenumbers` reads it the same way, as a valid number
of a kind that is called. For all others the answer is left to it, so that there is one opinion on who may be called.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import phonenumbers
from phonenumbers import PhoneMetadata, PhoneNumberDesc

_CODES = range(1, 4)
"""How many digits a calling code has (ITU-T E.164)."""
_NEVER = re.compile(r"(?!)")
_TRUNK_PREFIX = "0"
_FIRST_GROUP_ALONE = re.compile(r"\(?\\1\)?")
"""A rule that writes nothing before the first group of a number, but perhaps a bracket around it."""


@dataclass(frozen=True)
class _Region:
    """A country, and what its national numbers look like."""

    code: str
    taken: re.Pattern[str]
    """Numbers that are said to be of this country, whether they are called or not."""
    ordinary: re.Pattern[str]
    """Those of them that are valid and of a kind that is called."""


@dataclass(frozen=True)
class _CallingCode:
    """The countries of a calling code, in the order in which a number is looked for in them."""

    rewritten: re.Pattern[str]
    """The beginnings of national numbers that may be rewritten while they are read."""
    regions: tuple[_Region, ...]


@dataclass(frozen=True)
class _Dialled:
    """How numbers are dialled within a country."""

    calling_code: str
    prefix: str
    """What is dialled before a national number, if it is always the same."""
    has_other_meaning: re.Pattern[str]
    """The beginnings of numbers that may be calls abroad, have the calling code, or are rewritten."""


@dataclass(frozen=True)
class _Written:
    """How some numbers of a country are written within it."""

    of: re.Pattern[str]
    has_0: bool
    """Whether a 0 is always in front of them."""


def country_of(digits: str) -> str | None:
    """The country (ISO 3166-1 alpha-2) of a number in E.164, given without its +, that is valid and may be called.

    None says only that `phonenumbers` has to be asked.
    """
    for length in _CODES:
        found = _calling_code(digits[:length])
        if found is not None:
            return _country_among(found, digits[length:])
    return None


def national_number(digits: str, country: str) -> tuple[str, str] | None:
    """The number in E.164, and its country, of one that is written as within a country, as digits alone.

    It is one that is valid and may be called. None says only that `phonenumbers` has to be asked.
    """
    dialled = _dialled_within(country)
    if dialled is None or dialled.has_other_meaning.match(digits):
        return None
    is_stripped = dialled.prefix != "" and digits.startswith(dialled.prefix)
    national = digits[len(dialled.prefix) :] if is_stripped else digits
    found = country_of(dialled.calling_code + national)
    if found is None or (is_stripped and found != country):
        return None
    return f"+{dialled.calling_code}{national}", found


def lacks_trunk_prefix(digits: str, country: str) -> bool:
    """Whether a number within a country, as digits alone, lacks the 0 that is always written in front of it there.

    It is so where libphonenumber's way to write the number has the 0 and does not call it optional. Indian and
    Brazilian numbers, for example, may be written without it.
    """
    if digits.startswith(_TRUNK_PREFIX):
        return False
    written = next((one for one in _ways_to_write(country) if one.of.match(digits)), None)
    return written is not None and written.has_0


def _country_among(calling_code: _CallingCode, national: str) -> str | None:
    if calling_code.rewritten.match(national):
        return None
    for region in calling_code.regions:
        if region.ordinary.fullmatch(national):
            return region.code
        if region.taken.match(national):
            return None
    return None


@cache
def _calling_code(digits: str) -> _CallingCode | None:
    """The calling code with these digits; None where there is none, or where it is of no country."""
    codes = phonenumbers.COUNTRY_CODE_TO_REGION_CODE.get(int(digits)) if digits[:1] != "0" and digits else None
    known = [PhoneMetadata.metadata_for_region(code, None) for code in codes or ()]
    metadata = [one for one in known if one is not None]
    if not metadata or len(metadata) != len(known):
        return None
    prefix = metadata[0].national_prefix_for_parsing
    return _CallingCode(re.compile(prefix) if prefix else _NEVER, tuple(_region(one, len(known)) for one in metadata))


@cache
def _dialled_within(country: str) -> _Dialled | None:
    """How numbers are dialled within a country; None where no number is read by it."""
    metadata = PhoneMetadata.metadata_for_region(country, None)
    if metadata is None:
        return None
    code, parsed = str(metadata.country_code), metadata.national_prefix_for_parsing or ""
    prefix = parsed if parsed.isdecimal() else ""
    other = [metadata.international_prefix or "(?!)", code, "(?!)" if prefix or not parsed else parsed]
    return _Dialled(code, prefix, re.compile("|".join(f"(?:{one})" for one in other)))


@cache
def _ways_to_write(country: str) -> tuple[_Written, ...]:
    """The ways to write the numbers of a country, in order; none where no 0 is dialled in front of them.

    Countries with the same calling code write them as the main one of them.
    """
    code = phonenumbers.country_code_for_region(country)
    main = phonenumbers.region_code_for_country_code(code)
    metadata = PhoneMetadata.metadata_for_region(main, None)
    if metadata is None or metadata.national_prefix != _TRUNK_PREFIX:
        return ()
    if re.match(metadata.national_prefix_for_parsing or "", ""):  # Argentina: numbers are read with and without it
        return ()
    return tuple(
        _Written(
            re.compile(rf"(?={'|'.join(one.leading_digits_pattern[-1:])})(?:{one.pattern})\Z"),
            not one.national_prefix_optional_when_formatting
            and _begins_with_0(one.national_prefix_formatting_rule or ""),
        )
        for one in metadata.number_format
    )


def _begins_with_0(rule: str) -> bool:
    return rule != "" and _FIRST_GROUP_ALONE.fullmatch(rule) is None


def _region(metadata: PhoneMetadata, regions: int) -> _Region:
    """How numbers of a country look, of so many `regions` with its calling code."""
    not_called = (
        metadata.premium_rate,
        metadata.shared_cost,
        metadata.personal_number,
        metadata.pager,
        metadata.uan,
        metadata.voicemail,
    )
    called = (metadata.toll_free, metadata.voip, metadata.fixed_line, metadata.mobile)
    general = _like_one_of([metadata.general_desc])
    valid = rf"(?={general}\Z)(?={_like_one_of([*not_called, *called])}\Z)"
    ordinary = rf"(?={general}\Z)(?!{_like_one_of(not_called)}\Z){_like_one_of(called)}"
    taken = metadata.leading_digits or ("" if regions == 1 else valid)
    return _Region(metadata.id, re.compile(taken), re.compile(ordinary))


def _like_one_of(kinds: Iterable[PhoneNumberDesc | None]) -> str:
    """A pattern of the numbers of these kinds. Numbers of some kinds have other lengths than their pattern says."""
    patterns = ["(?!)"]
    for kind in kinds:
        if kind is not None and kind.national_number_pattern:
            lengths = "|".join(rf"\d{{{length}}}\Z" for length in kind.possible_length)
            patterns.append(
                rf"(?={lengths})(?:{kind.national_number_pattern})" if lengths else kind.national_number_pattern
            )
    return rf"(?:{'|'.join(patterns)})"
