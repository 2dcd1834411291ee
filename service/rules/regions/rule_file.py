"""Reads and checks a rules file (TOML): what is wrong in one is an error with region, rule, field and remedy."""

import re
import tomllib
from collections.abc import Mapping
from datetime import date
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

from callwright.service.rules.regions.region_rules import DEFAULT, HoursRule, Region, RegionRules
from callwright.service.rules.regions.rule_entry import read_rule
from callwright.service.rules.regions.rule_fields import Fields, RuleFileError, is_zone

_FOLDER = Path(__file__).parent
MAX_BYTES = 1_000_000
_MAX_REGIONS = 1_000
_MAX_RULES = 5_000
_VERSION = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9}){0,3}")
_REGION = re.compile(r"[A-Z]{2}(-[A-Z0-9]{1,3})?")
_AT_LINE = re.compile(r"\(at line (\d+)")
_HEADER = re.compile(r"""^\[{1,2}\s*regions\.["']?([^"'.\]]+)""")

__all__ = ["MAX_BYTES", "RuleFileError", "read_rules", "rules_in", "shipped_rules"]


@lru_cache(maxsize=1)
def shipped_rules() -> RegionRules:
    """The rules of the installed version."""
    return read_rules((_FOLDER / "regions.toml").read_text(encoding="utf-8"))


def read_rules(text: str) -> RegionRules:
    """The rules of a file.

    Raises:
        RuleFileError: when something in the file is wrong; the text names the place and says what to do.
    """
    file = Fields("the file", _parsed(text))
    version = file.text("version", most=40)
    if _VERSION.fullmatch(version) is None:
        raise file.wrong("version", f"is {version!r}; write up to four numbers with dots between them, as in 2026.11.1")
    published = file.day("published")
    if published is None:
        raise file.wrong("published", "is missing; write the day of this version, as in 2026-11-26")
    tables = file.table("regions")
    file.nothing_else()
    if len(tables) > _MAX_REGIONS:
        raise RuleFileError(f"regions: {len(tables)} of them; a file has at most {_MAX_REGIONS}")
    regions = {code: _region(code, table) for code, table in tables.items()}
    _check_whole(regions)
    area_codes, area_zones = _areas()
    known = {code: parts for code, parts in area_codes.items() if regions.keys() >= set(parts)}
    return RegionRules(version, published, regions, known, area_zones, text)


def rules_in(file: Path) -> RegionRules:
    """The rules of a file on this machine.

    Raises:
        RuleFileError: it cannot be read, or something in it is wrong; the text begins with the name of the file.
    """
    try:
        with file.open("rb") as opened:
            found = opened.read(MAX_BYTES + 1)
        if len(found) > MAX_BYTES:
            raise RuleFileError(f"has more than {MAX_BYTES:,} bytes, which a rules file has at most")
        return read_rules(found.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise RuleFileError(f"{file}: is not text in UTF-8; save it as UTF-8") from error
    except OSError as error:
        raise RuleFileError(f"{file}: cannot be read: {error.strerror}") from error
    except RuleFileError as error:
        raise RuleFileError(f"{file}: {error}") from error


def _parsed(text: str) -> dict[str, Any]:
    size = len(text.encode())
    if size > MAX_BYTES:
        raise RuleFileError(f"the file has {size:,} bytes; a rules file has at most {MAX_BYTES:,}")
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        where = _near(text, str(error))
        raise RuleFileError(f"{where}: this is not TOML: {error}; put that line right") from error


def _near(text: str, why: str) -> str:
    """The region in whose part of the file a line is, as errors of the parser name it."""
    if (found := _AT_LINE.search(why)) is None:
        return "the file"
    for line in reversed(text.splitlines()[: int(found[1])]):
        if (header := _HEADER.match(line.strip())) is not None:
            return f"region {header[1]}"
    return "the file"


def _region(code: str, table: object) -> Region:
    where = f"region {code}"
    if code != DEFAULT and _REGION.fullmatch(code) is None:
        raise RuleFileError(f'{where}: is no code of a region; write a country (US), a part of one (US-FL) or "*"')
    fields = Fields(where, table)
    name = fields.text("name", most=100)
    zones = fields.texts("zones", most=50)
    if not zones and code != DEFAULT:
        raise fields.wrong("zones", "is empty; name the time zones of the whole region, as in America/Chicago")
    for zone in zones:
        if not is_zone(zone):
            raise fields.wrong("zones", f"has {zone!r}, which is no IANA time zone; write one such as America/Chicago")
    rules = tuple(read_rule(code, entry, number) for number, entry in enumerate(fields.entries("rules"), start=1))
    fields.nothing_else()
    return Region(code, name, zones, rules)


def _check_whole(regions: Mapping[str, Region]) -> None:
    if DEFAULT not in regions:
        raise RuleFileError('the file: has no region "*"; add it, with hours: it holds where no other rule does')
    _check_default(regions[DEFAULT])
    for code in regions:
        country, dash, _ = code.partition("-")
        if dash and country not in regions:
            raise RuleFileError(f"region {code}: its country {country} is missing; add [regions.{country}] with zones")
    named: dict[str, str] = {}
    total = 0
    for region in regions.values():
        total += len(region.rules)
        for rule in region.rules:
            if rule.id in named:
                raise RuleFileError(
                    f"region {region.code}, rule {rule.id}, id: region {named[rule.id]} has a rule of this id; "
                    "give each rule an id of its own"
                )
            named[rule.id] = region.code
        _check_hours(region)
    if total > _MAX_RULES:
        raise RuleFileError(f"the file has {total} rules; it may have {_MAX_RULES}")


def _check_default(default: Region) -> None:
    """The default says hours for all purposes on every day: where no rule of hours holds, nobody is called."""
    hours = [rule for rule in default.rules if isinstance(rule, HoursRule) and not rule.purposes]
    if not hours:
        raise RuleFileError('region *: has no rule of kind "hours" for all purposes; add one, without `purposes`')
    hours.sort(key=lambda rule: rule.since or date.min)
    gaps = [later.id for earlier, later in pairwise(hours) if earlier.until != later.since]
    if hours[0].since is not None:
        raise RuleFileError(f"region *, rule {hours[0].id}, since: no hours hold before this day; leave `since` out")
    if gaps:
        raise RuleFileError(
            f"region *, rule {gaps[0]}, since: is not the day on which the hours before it end; write that `until` here"
        )
    if hours[-1].until is not None:
        raise RuleFileError(f"region *, rule {hours[-1].id}, until: no hours hold from this day on; leave `until` out")


def _check_hours(region: Region) -> None:
    """Two hours rules of a region that hold for one purpose on one day contradict each other."""
    hours = [rule for rule in region.rules if isinstance(rule, HoursRule)]
    for index, later in enumerate(hours):
        for earlier in hours[:index]:
            alike = not later.purposes or not earlier.purposes or set(later.purposes) & set(earlier.purposes)
            apart = (later.until is not None and earlier.since is not None and later.until <= earlier.since) or (
                earlier.until is not None and later.since is not None and earlier.until <= later.since
            )
            if alike and not apart:
                raise RuleFileError(
                    f"region {region.code}, rule {later.id}, since: rule {earlier.id} says the hours of the same "
                    "purpose at the same time; let one end (`until`) before the other begins (`since`)"
                )


@lru_cache(maxsize=1)
def _areas() -> tuple[Mapping[str, tuple[str, ...]], Mapping[str, tuple[str, ...]]]:
    tables = tomllib.loads((_FOLDER / "area_codes.toml").read_text(encoding="utf-8"))
    regions = cast(dict[str, list[str]], tables["regions"])
    zones = cast(dict[str, list[str]], tables["zones"])
    codes: dict[str, tuple[str, ...]] = {}
    for region, listed in regions.items():
        codes |= {code: (*codes.get(code, ()), region) for code in listed}
    return codes, {code: tuple(names) for code, names in zones.items()}
