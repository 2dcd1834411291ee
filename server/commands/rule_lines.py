"""The command line of `rules`: its commands and flags."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from callwright.server.commands.invoking import AsJson, Data, Database, run, settings_of

RulesFile = Annotated[Path, typer.Argument(metavar="FILE", help="A rules file, TOML.")]
rules = typer.Typer(
    help="The rules of regions: when people may be called, how often, with whose consent.",
    short_help="When people may be called, how often, with whose consent.",
    no_args_is_help=True,
)


@rules.command("show")
def show_rules(
    region: Annotated[str | None, typer.Argument(help="A country or a part of one, as in US-FL.")] = None,
    data: Data = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Shows the regions, or the rules of one with those of its country and the default.

    They are those of this version of Callwright; with --data or --database, those in force there.
    """
    from callwright.server.commands import region_rules

    named = data is not None or database is not None
    run(region_rules.show, settings_of(data, database) if named else None, region, as_json)


@rules.command("list")
def list_rules(data: Data = None, database: Database = None, as_json: AsJson = False) -> None:
    """Lists the versions of the rules that a service knows, the one in force first."""
    from callwright.server.commands import region_rules

    run(region_rules.versions, settings_of(data, database), as_json)


@rules.command("load")
def load_rules(
    file: RulesFile,
    data: Data = None,
    database: Database = None,
    remove_rules: Annotated[
        bool, typer.Option("--remove-rules", help="Rules in force that the file leaves out are to go.")
    ] = False,
) -> None:
    """Loads a newer rules file, which replaces all rules: running processes dial by it from their next round.

    Campaigns that have started and whose people it concerns pause until somebody has decided their review.
    """
    from callwright.server.commands import region_rules

    run(partial(region_rules.load, may_remove=remove_rules), settings_of(data, database), file)


@rules.command("export")
def export_rules(
    version: Annotated[str | None, typer.Option("--version", help="A version that `rules list` has.")] = None,
    data: Data = None,
    database: Database = None,
) -> None:
    """Prints the text of the rules file in force, to begin another with.

    It is that of this version of Callwright; with --data or --database, the one in force there.
    """
    from callwright.server.commands import region_rules

    named = data is not None or database is not None
    run(region_rules.export, settings_of(data, database) if named else None, version)


@rules.command("check")
def check_rules(file: RulesFile) -> None:
    """Checks a rules file: status 2 and the first mistake, with its place and remedy, if it is wrong."""
    from callwright.server.commands import region_rules

    run(region_rules.check, file)
