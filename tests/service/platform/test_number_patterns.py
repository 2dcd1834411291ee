"""Numbers that are recognised by a pattern, beside what libphonenumber says of them."""

import random
from collections.abc import Iterator

import phonenumbers
import pytest
from phonenumbers import NumberParseException, PhoneNumberFormat, PhoneNumberType

from callwright.service.platform.number_patterns import country_of, lacks_trunk_prefix, national_number
from callwright.service.platform.phone import Dialable, read_number

ORDINARY = (
    PhoneNumberType.FIXED_LINE,
    PhoneNumberType.MOBILE,
    PhoneNumberType.FIXED_LINE_OR_MOBILE,
    PhoneNumberType.TOLL_FREE,
    PhoneNumberType.VOIP,
)
"""Kinds of number that are called."""
KINDS = range(PhoneNumberType.FIXED_LINE, PhoneNumberType.VOICEMAIL + 1)


def examples() -> list[str]:
    """A number of each kind in each country."""
    found = [
        phonenumbers.example_number_for_type(region, kind)
        for region in sorted(phonenumbers.SUPPORTED_REGIONS)
        for kind in KINDS
    ]
    return [phonenumbers.format_number(one, PhoneNumberFormat.E164) for one in found if one is not None]


def random_numbers(count: int, seed: int) -> Iterator[str]:
    """Numbers like those of each country and kind, with other digits, and some a digit too long or too short; and
    random digits behind each calling code.
    """
    chance = random.Random(seed)
    like, codes = examples(), sorted(phonenumbers.COUNTRY_CODE_TO_REGION_CODE)
    for _ in range(count):
        if chance.random() < 0.7:
            changed = chance.randint(1, 6)
            number = chance.choice(like)[:-changed] + str(chance.randrange(10**changed)).zfill(changed)
            yield number + chance.choice(("", "", "", "", str(chance.randrange(10)))) if changed > 1 else number[:-1]
        else:
            yield f"+{chance.choice(codes)}{chance.randrange(10 ** chance.randint(4, 13))}"


def read(number: str, region: str | None = None) -> tuple[str, str | None] | None:
    """The number in E.164 and its country, as `phonenumbers` reads it; None if it is not valid or not called."""
    try:
        parsed = phonenumbers.parse(number, region)
    except NumberParseException:
        return None
    country = phonenumbers.region_code_for_number(parsed)
    is_called = phonenumbers.number_type(parsed) in ORDINARY and country != phonenumbers.REGION_CODE_FOR_NON_GEO_ENTITY
    return (phonenumbers.format_number(parsed, PhoneNumberFormat.E164), country) if is_called else None


def as_within_a_country(count: int, seed: int) -> Iterator[tuple[str, str]]:
    """Random numbers as they are dialled within a country, with and without what is dialled before them, and some in
    another country than theirs.
    """
    chance = random.Random(seed)
    regions = sorted(phonenumbers.SUPPORTED_REGIONS)
    for number in random_numbers(count, seed):
        try:
            parsed = phonenumbers.parse(number)
        except NumberParseException:
            continue
        own = phonenumbers.region_code_for_country_code(parsed.country_code or 0)
        region = own if own in regions and chance.random() < 0.9 else chance.choice(regions)
        dialled = phonenumbers.ndd_prefix_for_region(region, True) or ""
        before = chance.choice((dialled, dialled, "", "", "0", "1", "00", str(parsed.country_code)))
        yield before + phonenumbers.national_significant_number(parsed), region


def differences(numbers: Iterator[str]) -> tuple[list[str], int, int]:
    """Numbers that a pattern reads in another way; how many patterns recognise, and how many are called."""
    wrong, recognised, called = list[str](), 0, 0
    for number in numbers:
        asked, country = read(number), country_of(number[1:])
        called += asked is not None
        if country is not None:
            recognised += 1
            if asked != (number, country):
                wrong.append(number)
    return wrong, recognised, called


@pytest.mark.requirement("UP-24")
def test_what_a_pattern_recognises_libphonenumber_reads_the_same_way() -> None:
    wrong, recognised, called = differences(random_numbers(15_000, seed=1))
    assert wrong == []
    assert recognised > 0.95 * called > 0.95 * 3_000, "patterns recognise few of the numbers that are called"


@pytest.mark.requirement("UP-24")
def test_a_number_as_it_is_dialled_within_a_country_is_read_as_libphonenumber_reads_it() -> None:
    recognised = called = 0
    for digits, region in as_within_a_country(15_000, seed=3):
        found, asked = national_number(digits, region), read(digits, region)
        called += asked is not None
        recognised += found is not None
        assert found is None or found == asked, (digits, region)
    assert recognised > 0.6 * called > 0.6 * 3_000, "patterns recognise few of the numbers that are called"


@pytest.mark.parametrize("between", [" ", "-", ".", ") ", " (", " - ", "("])
def test_what_stands_between_digits_changes_nothing(between: str) -> None:
    for number in random_numbers(500, seed=4):
        written = f"{number[:4]}{between}{number[4:7]}{between}{number[7:]}".rstrip(" -(.)")
        asked = read(written)
        found = read_number(written)
        assert asked is None or found == Dialable(*asked), written
        assert asked is not None or not isinstance(found, Dialable) or found.country == "MX", written


@pytest.mark.long
def test_patterns_and_libphonenumber_agree_on_two_hundred_thousand_numbers() -> None:
    wrong, recognised, called = differences(random_numbers(200_000, seed=2))
    assert wrong == []
    assert recognised > 0.95 * called
    for digits, region in as_within_a_country(200_000, seed=5):
        found = national_number(digits, region)
        assert found is None or found == read(digits, region), (digits, region)


@pytest.mark.parametrize("number", examples())
def test_an_example_of_a_kind_is_recognised_only_if_it_is_called(number: str) -> None:
    country = country_of(number[1:])
    assert country is None or read(number) == (number, country)


@pytest.mark.parametrize("digits", ["", "0", "1", "999", "80012345678", "49", "19005550100", "4400000000000000000"])
def test_of_what_is_no_number_that_is_called_nothing_is_said(digits: str) -> None:
    assert country_of(digits) is None


def test_a_number_lacks_its_0_exactly_where_libphonenumber_misses_it_in_a_text() -> None:
    seen: set[bool] = set()
    for region in sorted(phonenumbers.SUPPORTED_REGIONS):
        for kind in KINDS:
            if (example := phonenumbers.example_number_for_type(region, kind)) is None:
                continue
            digits = phonenumbers.national_significant_number(example)
            if digits.startswith("0"):
                continue
            alone, with_0 = (
                any(True for _ in phonenumbers.PhoneNumberMatcher(text, region)) for text in (digits, f"0{digits}")
            )
            begins_with_0 = phonenumbers.ndd_prefix_for_region(region, True) == "0"
            assert lacks_trunk_prefix(digits, region) == (begins_with_0 and with_0 and not alone), (region, digits)
            seen.add(lacks_trunk_prefix(digits, region))
    assert seen == {True, False}
