"""`callwright rules`: the rules of regions by which calls are allowed, and whether a rules file is right."""

import sys
from pathlib import Path

import anyio
from rich.console import Console
from rich.markup import escape

from callwright.contract.checks.counts import count_of
from callwright.server.commands.command_error import CommandError
from callwright.server.commands.output.json_text import print_json
from callwright.server.commands.output.tables import show as show_table
from callwright.service.rules.regions.region_rules import RegionRules, Rule
from callwright.service.rules.regions.rule_file import MAX_BYTES, RuleFileError, read_rules, shipped_rules
from callwright.service.rules.regions.rule_words import dates_of, purposes_of, says, verified


async def show(region: str | None, as_json: bool) -> None:
    """Prints the regions with the number of their rules, or the rules of one region, its country and the default."""
    rules = shipped_rules()
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
    try:
        opened = anyio.Path(file)
        if (await opened.stat()).st_size > MAX_BYTES:
            raise CommandError(f"{file} has more than {MAX_BYTES:,} bytes, which a rules file has at most")
        rules = read_rules(await opened.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise CommandError(f"{file} is not text in UTF-8; save it as UTF-8") from error
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}") from error
    except RuleFileError as error:
        raise CommandError(f"{file}: {error}") from error
    found = list(rules.rules())
    unread = sum(not rule.source.read for rule in found)
    sys.stdout.write(
        f"version {rules.version}: {count_of(len(rules.regions), 'region')}, {count_of(len(found), 'rule')}, "
        f"{unread} unverified\n"
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
