"""The rules of regions, as they are read from a rules file: hours, caps, consent and recording, with their sources.

A region is a country (ISO 3166-1 alpha-2, `US`), a part of one (ISO 3166-2, `US-FL`), or `*`: the default, which holds
where nothing else does and beside every rule whose source was not read.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from typing import Literal

Purpose = Literal["marketing", "informational", "collections", "survey"]
"""What a campaign calls for, as `compliance.purpose` of a deployment."""
ConsentKind = Literal["prior", "written"]
DEFAULT = "*"


@dataclass(frozen=True)
class Source:
    """Where a rule is from. `read`: its text was read for this file, else the rule is unverified."""

    title: str
    url: str | None = None
    read: bool = False


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What all rules have. `id` is unique in the file, such as `US-FL.hours`.

    `since` and `until` are the first day on which it holds and the first on which it does not any more; `purposes` is
    empty if it holds for all.
    """

    id: str
    region: str
    source: Source
    purposes: tuple[Purpose, ...] = ()
    since: date | None = None
    until: date | None = None

    def holds(self, purpose: Purpose, day: date) -> bool:
        """Whether it holds on a day for calls of this purpose."""
        begun = self.since is None or self.since <= day
        return begun and (self.until is None or day < self.until) and (not self.purposes or purpose in self.purposes)


@dataclass(frozen=True, kw_only=True)
class HoursRule(Rule):
    """When people may be called, in their local time: minutes of the day for each weekday, Monday first.

    `windows[weekday]` holds half-open spans (start, end) in minutes from 0 to 1,440, in order. `holidays` names the
    calendar on whose days nobody is called, as country or country and subdivision (`US`, `US-AL`), or `*`: that of the
    place where the person is; None: no day.
    """

    windows: tuple[tuple[tuple[int, int], ...], ...]
    holidays: str | None = None


@dataclass(frozen=True, kw_only=True)
class CapRule(Rule):
    """At most `most` calls to one number within any `hours` hours, over all campaigns of the organization."""

    most: int
    hours: int


@dataclass(frozen=True, kw_only=True)
class PauseRule(Rule):
    """After a call with one of these outcomes the number is not called for `hours` hours."""

    outcomes: tuple[str, ...]
    hours: int


@dataclass(frozen=True, kw_only=True)
class ConsentRule(Rule):
    """A call needs the person's consent before it: `prior`, or in writing."""

    needs: ConsentKind


@dataclass(frozen=True, kw_only=True)
class RecordingRule(Rule):
    """A call may be recorded only after an announcement at its beginning."""

    announcement: bool


@dataclass(frozen=True, kw_only=True)
class RingRule(Rule):
    """A telephone must ring for so many seconds before the caller gives up."""

    least_seconds: int


@dataclass(frozen=True)
class Region:
    """A region and its rules. `zones` are the IANA time zones of the whole region."""

    code: str
    name: str
    zones: tuple[str, ...]
    rules: tuple[Rule, ...]


@dataclass(frozen=True)
class InForce:
    """The rules that hold for calls to a place on a day. A call must satisfy all of them."""

    hours: tuple[HoursRule, ...] = ()
    caps: tuple[CapRule, ...] = ()
    pauses: tuple[PauseRule, ...] = ()
    consent: tuple[ConsentRule, ...] = ()
    recording: tuple[RecordingRule, ...] = ()
    rings: tuple[RingRule, ...] = ()


@dataclass(frozen=True, eq=False)
class RegionRules:
    """A rules file. `version` is its own name for itself, and grows from one file to the next; `text` is its text."""

    version: str
    published: date
    regions: Mapping[str, Region]
    area_codes: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """The regions (`US-FL`) of each three-digit area code of countries with +1, mostly one. They are hints: numbers are
    ported."""
    area_zones: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """The time zones that an area code reaches, where these are not all of its region's."""
    text: str = field(default="", repr=False)

    def rules(self) -> Iterator[Rule]:
        """All rules of the file."""
        for region in self.regions.values():
            yield from region.rules

    def in_force(self, codes: tuple[str, ...], purpose: Purpose, day: date) -> InForce:
        """The rules for a person who may be in any of these regions, on a day, for calls of this purpose.

        For each kind of rule: if a country among `codes` has no rule of the kind, or has one whose source was not
        read, the default's rules of this kind hold as well, so that the stricter of the two decides.
        """
        return _in_force(self, codes, purpose, day)


@lru_cache(maxsize=20_000)
def _in_force(rules: RegionRules, codes: tuple[str, ...], purpose: Purpose, day: date) -> InForce:
    found: list[Rule] = []
    default = [rule for rule in rules.regions[DEFAULT].rules if rule.holds(purpose, day)]
    kinds = dict.fromkeys(type(rule) for rule in default)
    holding = {
        code: [rule for rule in rules.regions[code].rules if rule.holds(purpose, day)]
        for code in codes
        if code in rules.regions
    }
    for rules_of_region in holding.values():
        found += rules_of_region
    countries = dict.fromkeys(code.partition("-")[0] for code in codes)
    for kind in kinds:
        sure = bool(countries) and all(
            any(type(rule) is kind for rule in holding.get(country, ())) for country in countries
        )
        if not sure or any(type(rule) is kind and not rule.source.read for rule in found):
            found += [rule for rule in default if type(rule) is kind]
    unique = tuple(dict.fromkeys(found))
    return InForce(
        hours=tuple(rule for rule in unique if isinstance(rule, HoursRule)),
        caps=tuple(rule for rule in unique if isinstance(rule, CapRule)),
        pauses=tuple(rule for rule in unique if isinstance(rule, PauseRule)),
        consent=tuple(rule for rule in unique if isinstance(rule, ConsentRule)),
        recording=tuple(rule for rule in unique if isinstance(rule, RecordingRule)),
        rings=tuple(rule for rule in unique if isinstance(rule, RingRule)),
    )
