"""`callwright deployments report`: the results of a campaign as CSV, a line for each person, in a file or on stdout."""

import csv
import io
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TextIO

import typer

from callwright.server.commands.command_error import CommandError
from callwright.server.commands.invoking import Data, Database, failed, run
from callwright.server.commands.tool_commands.invoked import RevealNumbers, settings_for_person
from callwright.server.settings import ProgramSettings

_SEPARATORS = (",", ";", "\t")
_MORE = "# "
"""Begins the line behind a part that says where the next one is."""


def report(
    deployment: Annotated[str, typer.Argument(metavar="DEPLOYMENT", help="The campaign, by its id or exact name.")],
    save: Annotated[Path | None, typer.Option("--save", metavar="FILE", help="Write to this file.")] = None,
    separator: Annotated[
        str, typer.Option("--separator", help="Between two cells: , or ; or tab. Spreadsheets in much of Europe want ;")
    ] = ",",
    reveal_numbers: RevealNumbers = False,
    data: Data = None,
    database: Database = None,
) -> None:
    """The results of a campaign as CSV: each person by the list's own id, with status, outcome and call."""
    between = {"tab": "\t"}.get(separator, separator)
    if between not in _SEPARATORS:
        raise failed(f"--separator {separator}: should be , or ; or tab")
    settings = settings_for_person(data, database, reveal_numbers=reveal_numbers)
    rows = run(_written, settings, deployment, save, between)
    if save is not None:
        from callwright.contract.checks.counts import count_of  # --help has to be quick

        typer.echo(f"{count_of(rows, 'person is', 'people are')} in {save}.", err=True)


async def _written(settings: ProgramSettings, deployment: str, save: Path | None, separator: str) -> int:
    """Writes the report part by part; returns the number of people in it."""
    from callwright.server.commands.tool_commands.running import host_of, text_at
    from callwright.server.mcp.resources.resources import SCHEME

    async with host_of(settings) as host:
        found = await host.call_tool("get_deployment", {"deployment_id": deployment})
        if found.is_error or not found.structured_content:
            raise CommandError(" ".join(part.text for part in found.content if part.type == "text"))
        address: str | None = SCHEME + f"deployments/{found.structured_content['id']}/report.csv"
        people = 0
        with _target(save) as target:
            while address is not None:
                part, address = without_note(await text_at(host, address))
                heading, _, rows = part.partition("\n")
                target.write(_separated(rows if people else f"{heading}\n{rows}", separator))
                people += rows.count("\n")
            target.flush()
    return people


def _separated(text: str, separator: str) -> str:
    if separator == ",":
        return text
    from callwright.list_files.written_cells import csv_lines, safe_cell  # --help has to be quick

    rows = ([safe_cell(cell, commas=True) for cell in row] for row in csv.reader(io.StringIO(text)))
    return csv_lines(rows, separator=separator, end="\n")


@contextmanager
def _target(save: Path | None) -> Generator[TextIO]:
    """The file, marked as UTF-8 as spreadsheets need it, or stdout. Raises CommandError if it cannot be written.

    The file appears when it is whole: a part of a report looks like a whole one.
    """
    try:
        if save is None:
            yield sys.stdout
        else:
            part = save.with_name(f"{save.name}.part")
            try:
                with part.open("w", encoding="utf-8-sig", newline="") as file:
                    yield file
                part.replace(save)
            finally:
                part.unlink(missing_ok=True)
    except OSError as error:
        raise CommandError(f"{save or 'the report'} cannot be written: {error.strerror or error}") from error


def without_note(text: str) -> tuple[str, str | None]:
    """A part without its last line, if that says where the next part is, and that address."""
    head, separator, last = text.rstrip("\n").rpartition("\n")
    if not last.startswith(_MORE):
        return text, None
    return head + separator, last.rsplit(" ", 1)[1]
