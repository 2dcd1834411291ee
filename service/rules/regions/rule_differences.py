"""In which countries two rules files differ, and whether that concerns the people of a list."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from callwright.service.rules.regions.places import countries_with_numbers_of
from callwright.service.rules.regions.region_rules import DEFAULT, Region, RegionRules, Rule, Source

_SHARED = frozenset({"US", "CA"})
"""Countries with +1: a list that names states can say of a number of one that its person lives in the other."""


def changed_countries(former: RegionRules, newer: RegionRules) -> frozenset[str]:
    """The countries whose rules, or those of a part, differ; `*` if the default does, which holds beside many others.

    Ids, names and addresses of sources do not count, but whether a source was read does.
    """
    codes = {*former.regions, *newer.regions}
    differ = (code for code in codes if _values(former.regions.get(code)) != _values(newer.regions.get(code)))
    return frozenset(code.partition("-")[0] for code in differ)


def _values(region: Region | None) -> tuple[frozenset[str], frozenset[Rule]] | None:
    if region is None:
        return None
    rules = (replace(rule, id="", source=Source("", None, rule.source.read)) for rule in region.rules)
    return frozenset(region.zones), frozenset(rules)


@dataclass(frozen=True)
class RuleDifferences:
    """The ids of the rules by which one rules file differs from a former one."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]

    @property
    def all(self) -> tuple[str, ...]:
        """Every rule that differs."""
        return tuple(sorted((*self.added, *self.changed, *self.removed)))


def differences(former: RegionRules, newer: RegionRules) -> RuleDifferences:
    """The rules that were added, changed and removed."""
    before, after = ({rule.id: rule for rule in rules.rules()} for rules in (former, newer))
    return RuleDifferences(
        added=tuple(name for name in after if name not in before),
        changed=tuple(name for name, rule in after.items() if name in before and rule != before[name]),
        removed=tuple(name for name in before if name not in after),
    )


def concerns(changed: Collection[str], countries: Iterable[str], *, names_states: bool) -> bool:
    """Whether people with numbers of these countries are concerned; `names_states`: their list says in which state each
    is."""
    if DEFAULT in changed:
        return True
    theirs = {found for country in countries for found in countries_with_numbers_of(country)}
    if names_states and theirs & _SHARED:
        theirs |= _SHARED
    return not theirs.isdisjoint(changed)
