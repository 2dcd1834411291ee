"""The reference page of the rules: each with its region, what it says, its source, and the test that holds it."""

from collections.abc import Iterator

from callwright.service.rules.regions.region_rules import Region, RegionRules, Rule
from callwright.service.rules.regions.rule_words import UNVERIFIED, dates_of, purposes_of, says, verified

_ABOUT = """# Rules of regions

Version {version}, published {published}: {rules} rules of {regions} regions. This is no legal advice.

A call must satisfy every rule that holds where the person may be, for the purpose of the campaign, on the day. A rule
is **verified** if the text of its source, or a copy of that text, was read for this version. Beside an **unverified**
one the default's rules of its kind hold as well, and the stricter of the two decides. The same is so for a country
without a rule of a kind. A rule that was not found in any source is not here.

The rules of a country hold for numbers of its territories too (Puerto Rico, Réunion), with the holidays of the
territory. Mobile numbers of Guernsey, Jersey and the Isle of Man are used in all of the United Kingdom: its rules and
those of everywhere else hold for them together.

Hours are local times of the person. Calls are counted over all campaigns of the organization. Each rule is held by the
case of its id in `{held_by}`.

`callwright rules show US-FL` prints this for one region, and `callwright rules check FILE` checks a file.
"""


def rules_page(rules: RegionRules, *, held_by: str) -> str:
    """The page. `held_by` names the test with a case for each rule, as pytest does."""
    given = [region for region in rules.regions.values() if region.rules]
    about = _ABOUT.format(
        version=rules.version,
        published=rules.published,
        rules=len(list(rules.rules())),
        regions=len(given),
        held_by=held_by,
    )
    return "\n".join([about, *_sections(given, held_by.rpartition("::")[2]), _without(rules)])


def _sections(regions: list[Region], test: str) -> Iterator[str]:
    for region in regions:
        yield f"## {region.name} (`{region.code}`)\n"
        yield "| rule | says | for | source | held by |\n|---|---|---|---|---|"
        for rule in region.rules:
            yield f"| `{rule.id}` | {_sentence(rule)} | {purposes_of(rule)} | {_source(rule)} | `{test}[{rule.id}]` |"
        yield ""


def _sentence(rule: Rule) -> str:
    dates = dates_of(rule)
    return f"{says(rule)}{f' ({dates})' if dates else ''}."


def _source(rule: Rule) -> str:
    title = rule.source.title.replace("|", "/")
    named = f"[{title}]({rule.source.url})" if rule.source.url else title
    mark = verified(rule)
    return f"{named}; {f'**{mark}**: the stricter of it and the default' if mark == UNVERIFIED else mark}"


def _without(rules: RegionRules) -> str:
    names = [f"{region.name} (`{region.code}`)" for region in rules.regions.values() if not region.rules]
    return f"## Regions without rules of their own\n\nThe rules of their country hold there: {', '.join(names)}.\n"
