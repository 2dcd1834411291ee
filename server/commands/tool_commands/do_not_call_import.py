"""`callwright do-not-call import FILE`: a list of any length, sent in parts, and one answer about all of it."""

import io
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from callwright.server.commands.command_error import CommandError
from callwright.server.commands.invoking import AsJson, Data, Database, failed, run
from callwright.server.commands.output.json_text import print_json
from callwright.server.commands.tool_commands.invoked import REFUSED, say_refused_rows, settings_for_person
from callwright.server.settings import ProgramSettings

if TYPE_CHECKING:
    from callwright.client import Client
    from callwright.contract.do_not_call import DoNotCallImported
    from callwright.tools.arguments.csv_parts import CsvPart

TOOL = "import_do_not_call"
MOST_BYTES = 50_000_000
"""The largest file."""
PART_BYTES = 250_000
"""Bytes of a part as JSON text: about 18,000 bare numbers, whose transaction holds up claims for a moment only."""
_STDIN = "-"


def import_list(
    file: Annotated[
        str | None, typer.Argument(metavar="FILE", help="A CSV or XLSX file of up to 50 MB; - is standard input.")
    ] = None,
    csv: Annotated[
        str | None, typer.Option("--csv", metavar="TEXT", help="In place of FILE: the text itself, or @FILE.")
    ] = None,
    number_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The only column with numbers. Left out: all that are, by names and contents."
        ),
    ] = None,
    default_country: Annotated[
        str | None,
        typer.Option(
            metavar="CODE", help="Country of numbers without a +, such as US. Without it only E.164 is valid."
        ),
    ] = None,
    reason: Annotated[
        str | None,
        typer.Option(
            metavar="REASON",
            help="That of rows without one: requested unless you say opted_out, regulator, litigator, deceased, "
            "wrong_number or other.",
        ),
    ] = None,
    simulated: Annotated[
        bool | None,
        typer.Option("--simulated/--no-simulated", help="On the list of the simulated network alone."),
    ] = None,
    as_json: AsJson = False,
    data: Data = None,
    database: Database = None,
) -> None:
    """Puts the numbers of a file on the do-not-call list: no campaign calls them from the next call on.

    The file is read as a whole before anything is sent, and sent in parts, each with the header row. Lines in the
    answer are those of the file. Numbers that are on the list stay as they are, so it may be imported again.
    """
    settings = settings_for_person(data, database, reveal_numbers=False)
    if TOOL not in settings.tools_of():
        raise failed(f"{TOOL} is switched off by CALLWRIGHT_PROFILE, CALLWRIGHT_TOOLSETS or their like")
    given: dict[str, Any] = {
        "number_column": number_column,
        "default_country": default_country,
        "reason": reason,
        "simulated": simulated,
    }
    answer = run(_imported, settings, file, csv, {name: one for name, one in given.items() if one is not None})
    if isinstance(answer, str):
        typer.echo(answer, err=True)
        raise typer.Exit(REFUSED)
    _show(answer, as_json=as_json)
    say_refused_rows(answer)


def _show(answer: dict[str, Any], *, as_json: bool) -> None:
    from rich.console import Console

    from callwright.server.commands.tool_commands.answers import show_answer

    if as_json:
        print_json(answer)
    else:
        show_answer(answer, Console(highlight=False), Console(stderr=True, highlight=False))


async def _imported(
    settings: ProgramSettings, file: str | None, text: str | None, given: dict[str, Any]
) -> dict[str, Any] | str:
    """The answer about the whole file, or why the service refuses it."""
    from callwright.client.errors import ServiceProblem
    from callwright.list_files.unreadable import UnreadableList
    from callwright.server.embedded.embedded import embedded, remote
    from callwright.tools.runtime.tool import data_of

    name, opened = _source(file, text)
    with opened as content:
        try:
            read_as, count = _looked_at(content, given.get("default_country"), given.get("number_column"))
        except UnreadableList as error:
            raise CommandError(f"{name} cannot be read: {error}") from error
        service = embedded(settings, _say_nothing) if settings.base_url is None else remote(settings)
        async with service as client:
            try:
                answer = await _sent(client, content, name, count, given)
            except ServiceProblem as problem:
                return f"{name} is refused: {problem.message.replace('number_column', '--number-column')}"
    return data_of(answer.model_copy(update={"read_as": read_as}))


def _source(file: str | None, text: str | None) -> tuple[str, Any]:
    """The name of what is imported, and it, opened within a block."""
    if (file is None) == (text is None):
        raise CommandError("name one file, or - for standard input")
    if text is not None and text.startswith("@@"):
        return "the text", _text(text[1:])
    if text is not None and not text.startswith("@"):
        return "the text", _text(text)
    path = text[1:] if text is not None else file or ""
    return ("standard input", _stdin()) if path == _STDIN else (path, _file(path))


@contextmanager
def _text(text: str) -> Generator[BinaryIO]:
    yield io.BytesIO(text.encode())


@contextmanager
def _stdin() -> Generator[BinaryIO]:
    content = sys.stdin.buffer.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise CommandError(f"standard input has more than {MOST_BYTES // 1_000_000} MB; cut it into several files")
    yield io.BytesIO(content)


@contextmanager
def _file(name: str) -> Generator[BinaryIO]:
    try:
        path = Path(name).expanduser()
        if path.stat().st_size > MOST_BYTES:
            raise CommandError(f"{name} is larger than {MOST_BYTES // 1_000_000} MB; cut it into several files")
        opened = path.open("rb")
    except OSError as error:
        raise CommandError(f"{name} cannot be read: {error.strerror or error}") from error
    with opened:
        yield opened


def _looked_at(content: BinaryIO, country: str | None, column: str | None) -> tuple[str, int]:
    """How the file is read, and how many parts it has. It is read to its end: what is wrong stops all of it.

    Hidden rows of a workbook are read too: the people in them asked not to be called.
    """
    from callwright.list_files.reading import open_list
    from callwright.tools.arguments.csv_parts import parts_of

    read_as = open_list(content, country=country, column=column, with_hidden=True).read_as
    parts = parts_of(content, part_bytes=PART_BYTES, country=country, column=column, with_hidden=True)
    return read_as, sum(1 for _ in parts)


async def _sent(
    client: "Client", content: BinaryIO, name: str, count: int, given: dict[str, Any]
) -> "DoNotCallImported":
    """The sum of the answers to all parts. The client gives each request a key, with which it may send it again."""
    from rich.console import Console

    from callwright.client.errors import CallwrightError
    from callwright.server.commands.tool_commands.summed_imports import SummedImports
    from callwright.tools.arguments.csv_parts import parts_of

    notes = Console(stderr=True, highlight=False)
    summed = SummedImports()
    country, column = given.get("default_country"), given.get("number_column")
    parts = parts_of(content, part_bytes=PART_BYTES, country=country, column=column, with_hidden=True)
    for number, part in enumerate(parts, 1):
        try:
            summed.add(part, await _answer(client, part, given, summed.number_columns))
        except CallwrightError as error:
            if number == 1:
                raise
            first = list(part.lines.values())[1]  # behind the header
            raise CommandError(
                f"{name}: the rows before line {first:,} are on the list, those from it on "
                f"are not: {error} Import the file again; numbers that are on the list stay as they are"
            ) from error
        if notes.is_terminal and count > 1:
            notes.print(f"part {number} of {count}", style="dim")
    return summed.whole()


async def _answer(
    client: "Client", part: "CsvPart", given: dict[str, Any], known: tuple[str, ...]
) -> "DoNotCallImported":
    """The answer to a part. Where no column of a later part looks like numbers, that of the parts before is read."""
    from callwright.client.errors import InvalidRequest

    try:
        return await client.do_not_call.import_csv(csv=part.csv, **given)
    except InvalidRequest as problem:
        if not known or problem.field != "csv" or "number_column" in given:
            raise
        return await client.do_not_call.import_csv(csv=part.csv, **given, number_column=known[0])


def _say_nothing(base_url: str) -> None:
    """The address ends with this command."""
