"""`callwright people export NUMBER`: everything that is kept about a person as one JSON document.

It is for the person themselves: numbers and what was said are whole, unlike in what an assistant sees.
"""

import json
import os
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from callwright.server.commands.command_error import CommandError
from callwright.server.commands.invoking import Data, Database, run
from callwright.server.commands.tool_commands.invoked import settings_for_person
from callwright.server.settings import ProgramSettings

if TYPE_CHECKING:
    from callwright.client.client import Client

EXPORTS = "export_person"
NUMBER = "number"
"""The argument that names a person, so that a command takes it without a flag."""
_LISTS = ("audience_rows", "contacts", "refused_rows", "calls")
"""The lists of an export, in the order in which its pages have them."""
_PER_PAGE = 200
_OWNER_ONLY = 0o600


def person_export(
    number: Annotated[str, typer.Argument(metavar="NUMBER", help="The person's number, in E.164.")],
    save: Annotated[Path | None, typer.Option("--save", metavar="FILE", help="Write to this file.")] = None,
    data: Data = None,
    database: Database = None,
) -> None:
    """Everything that is kept about a person as JSON, with numbers and what was said. Only you can read the file."""
    entries = run(_written, settings_for_person(data, database, reveal_numbers=True), number, save)
    if save is not None:
        from callwright.contract.checks.counts import count_of  # --help has to be quick

        typer.echo(f"{count_of(entries, 'entry is', 'entries are')} in {save}.", err=True)


async def _written(settings: ProgramSettings, number: str, save: Path | None) -> int:
    """Writes the document page by page; returns the number of entries in it."""
    from callwright.client.errors import ServiceProblem
    from callwright.server.embedded.embedded import embedded, remote

    opened = embedded(settings, _say_nothing) if settings.base_url is None else remote(settings)
    entries = 0
    async with opened as client:
        with _target(save) as target:
            try:
                async for piece, count in _pieces(client, number):
                    target.write(piece)
                    entries += count
            except ServiceProblem as problem:
                raise CommandError(problem.message) from problem
            target.write("\n")
            target.flush()
    return entries


async def _pieces(client: "Client", number: str) -> AsyncGenerator[tuple[str, int]]:
    """The document in pieces, each with the number of its entries. Pages fill the lists one after the other."""
    page = await client.people.export(number=number, per_page=_PER_PAGE)
    head = page.model_dump(mode="json", by_alias=True, exclude={*_LISTS, "next_cursor"})
    yield json.dumps(head, ensure_ascii=False)[:-1], 0
    for name in _LISTS:
        yield f', "{name}": [', 0
        separator = ""
        while True:
            found: list[Any] = [one.model_dump(mode="json", by_alias=True) for one in getattr(page, name)]
            for entry in found:
                yield separator + json.dumps(entry, ensure_ascii=False), 1
                separator = ", "
            if page.next_cursor is None or any(getattr(page, later) for later in _LISTS[_LISTS.index(name) + 1 :]):
                break
            page = await client.people.export(number=number, per_page=_PER_PAGE, cursor=page.next_cursor)
        yield "]", 0
    yield "}", 0


def _say_nothing(_: str) -> None:
    return None


@contextmanager
def _target(save: Path | None) -> Generator[TextIO]:
    """The file, which its owner alone can read and which appears when it is whole; or stdout."""
    try:
        if save is None:
            yield sys.stdout
            return
        part = save.with_name(f"{save.name}.part")
        part.unlink(missing_ok=True)
        try:
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                yield file
            part.replace(save)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise CommandError(f"{save or 'the export'} cannot be written: {error.strerror or error}") from error
