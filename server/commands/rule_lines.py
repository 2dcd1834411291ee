"""The command line of `rules`: its commands and flags."""

from pathlib import Path
from typing import Annotated

import typer

from callwright.server.commands.invoking import AsJson, run

rules = typer.Typer(
    help="The rules of regions: when people may be called, how often, with whose consent.", no_args_is_help=True
)


@rules.command("show")
def show_rules(
    region: Annotated[str | None, typer.Argument(help="A country or a part of one, as in US-FL.")] = None,
    as_json: AsJson = False,
) -> None:
    """Shows the regions, or the rules of one with those of its country and the default."""
    from callwright.server.commands import region_rules

    run(region_rules.show, region, as_json)


@rules.command("check")
def check_rules(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A rules file, TOML.")],
) -> None:
    """Checks a rules file: status 2 and the first mistake, with its place and remedy, if it is wrong."""
    from callwright.server.commands import region_rules

    run(region_rules.check, file)
