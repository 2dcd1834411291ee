"""`callwright rules`: the rules of regions by which calls are allowed, their versions, and newer ones from a file."""

import sys
from functools import partial
from pathlib import Path

from anyio import to_thread
from rich.console import Console
from rich.markup import escape

from callwright.contract.checks.counts import count_of, first_of
from callwright.server.commands.accounts.accounts import account_database, moment_data
from callwright.server.commands.command_error import CommandError
from callwright.server.commands.output.json_text import print_json
from callwright.server.commands.output.tables import day
from callwright.server.commands.output.tables import show as show_table
from callwright.server.settings import ProgramSettings
from callwright.service.campaigns import newer_rules
from callwright.service.rules.regions.region_rules import RegionRules, Rule
from callwright.service.rules.regions.rule_differences import differences
from callwright.service.rules.regions.rule_file import RuleFileError, rules_in, shipped_rules
from callwright.service.rules.regions.rule_words import dates_of, purposes_of, says, verified
from callwright.service.tables import rules_files

_MOST_NAMED = 8
"""Rules that a line names."""


async def show(settings: ProgramSettings | None, region: str | None, as_json: bool) -> None:
    """Prints the regions with the number of their rules, or the rules of one region, its country and the default.

    They are the shipped ones; with settings, those in force in the database that they name.
    """
    rules = shipped_rules() if settings is None else await _in_force(settings)
    if region is None:
        _show_regions(rules, as_json)
        return
    code = region.strip().upper()
    if code not in rules.regions:
        raise CommandError(f"no region {region}; `callwright rules show` lists them, countries as US, parts as US-FL")
    country = code.partition("-")[0]
    found = [rule for name in dict.fromkeys((code, country, "*")) for rule in rules.regions[name].rules]
    if as_json:
        print_json([_data(rule) for rule in found])
        return
    console = Console(highlight=False)
    console.print(f"[bold]{escape(rules.regions[code].name)}[/], version {rules.version}: no legal advice")
    columns = ("rule", "says", "for", "dates", "source", "")
    show_table(columns, [_row(rule) for rule in found], console)


async def check(file: Path) -> None:
    """Checks a rules file and prints what it has; a wrong one is refused with the place and the remedy."""
    sys.stdout.write(f"{_counted(await _read(file))}\n")


async def load(settings: ProgramSettings, file: Path, *, may_remove: bool) -> None:
    """Stores a newer rules file in the database, from where running processes take it.

    A file replaces all rules. One that leaves out rules that are in force is refused unless it `may_remove` them.
    """
    rules = await _read(file)
    async with account_database(settings) as (database, ids, now_ms):
        differ = differences(await database.read(rules_files.current_rules), rules)
        if differ.removed and not may_remove:
            count = count_of(len(differ.removed), "rule")
            raise CommandError(
                f"{file}: leaves out {count} in force ({first_of(differ.removed, _MOST_NAMED)}), and a file replaces "
                "all rules; begin with the text that `callwright rules export` prints, or say --remove-rules if they "
                "are to go"
            )
        try:
            await database.write(rules_files.load_rules, rules, now_ms)
        except RuleFileError as error:
            raise CommandError(f"{file}: {error}") from error
        moved = await newer_rules.move_all(database, ids, now_ms=now_ms, public_url=settings.public_url)
        held = await database.read(newer_rules.still_older)
    sys.stdout.write(f"{_counted(rules)}; in force from now on\n")
    for what, names in (("added", differ.added), ("changed", differ.changed), ("removed", differ.removed)):
        if names:
            sys.stdout.write(f"{what}: {first_of(names, _MOST_NAMED)}\n")
    if moved.campaigns:
        waits = f"{moved.concerned} of them {'waits' if moved.concerned == 1 else 'wait'} for a review"
        sys.stdout.write(f"{count_of(moved.campaigns, 'campaign')} dial by it now, {waits}\n")
    if held.count:
        named = ", ".join(held.first)
        more = f" and {held.count - len(held.first)} more" if held.count > len(held.first) else ""
        said = (
            "has not moved to it, as another process holds it"
            if held.count == 1
            else "have not moved to it, as others hold them"
        )
        sys.stdout.write(f"{count_of(held.count, 'campaign')} {said} now, and no call is made before: {named}{more}\n")


async def export(settings: ProgramSettings | None, version: str | None) -> None:
    """Prints the text of a rules file, to begin another with.

    It is the shipped one; with settings, the one in force in the database that they name, or the named version.
    """
    if settings is None:
        rules = shipped_rules()
    else:
        async with account_database(settings) as (database, _, _):
            rules = await database.read(
                rules_files.current_rules if version is None else partial(rules_files.known_rules, version=version)
            )
    if rules is None or version not in (None, rules.version):
        raise CommandError(f"no version {version}; `callwright rules list` has those that are known")
    sys.stdout.write(rules.text)


async def versions(settings: ProgramSettings, as_json: bool) -> None:
    """Prints the versions that the database or this program has, the one in force first."""
    async with account_database(settings) as (database, _, _):
        found = await database.read(rules_files.versions)
    if as_json:
        rows = [
            {
                "version": version,
                "shipped": version == rules_files.shipped().version,
                "loaded_at": moment_data(loaded_ms),
                "in_force": index == 0,
            }
            for index, (version, loaded_ms) in enumerate(found)
        ]
        print_json(rows)
        return
    shown = [
        (
            version,
            "shipped" if version == rules_files.shipped().version else day(loaded_ms),
            "in force" if index == 0 else "",
        )
        for index, (version, loaded_ms) in enumerate(found)
    ]
    show_table(("version", "loaded", ""), shown)


async def _in_force(settings: ProgramSettings) -> RegionRules:
    async with account_database(settings) as (database, _, _):
        return await database.read(rules_files.current_rules)


async def _read(file: Path) -> RegionRules:
    try:
        return await to_thread.run_sync(rules_in, file)
    except RuleFileError as error:
        raise CommandError(str(error)) from error


def _counted(rules: RegionRules) -> str:
    found = list(rules.rules())
    unread = sum(not rule.source.read for rule in found)
    return (
        f"version {rules.version}: {count_of(len(rules.regions), 'region')}, {count_of(len(found), 'rule')}, "
        f"{unread} unverified"
    )


def _show_regions(rules: RegionRules, as_json: bool) -> None:
    rows = [
        (code, region.name, str(len(region.rules)), str(sum(not rule.source.read for rule in region.rules)))
        for code, region in rules.regions.items()
    ]
    if as_json:
        keys = ("region", "name", "rules", "unverified")
        print_json(
            [{**dict(zip(keys, row, strict=True)), "rules": int(row[2]), "unverified": int(row[3])} for row in rows]
        )
        return
    show_table(("region", "name", "rules", "unverified"), rows)


def _row(rule: Rule) -> tuple[str | tuple[str, ...], ...]:
    return ((rule.id,), says(rule), purposes_of(rule), (dates_of(rule),), rule.source.title, (verified(rule),))


def _data(rule: Rule) -> dict[str, object]:
    return {
        "rule": rule.id,
        "says": says(rule),
        "purposes": list(rule.purposes),
        "since": None if rule.since is None else rule.since.isoformat(),
        "until": None if rule.until is None else rule.until.isoformat(),
        "source": {"title": rule.source.title, "url": rule.source.url, "read": rule.source.read},
    }
