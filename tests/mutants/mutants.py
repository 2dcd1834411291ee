"""The mutants: small changes of behaviour, one at a time, each of which the tests it names must notice."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from tests.support.database.databases import Engine

FILE = Path(__file__).with_name("mutants.toml")


class MutantOutdated(Exception):
    """The text that a mutant replaces does not stand exactly once in its file."""


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A change: in `file` the text `old` becomes `new`. `breaks` says in a sentence which property is lost.

    `tests` are what must notice, run on `engine`: files, folders, or tests as `file.py::test_name`. Paths begin at the
    root of the repository.
    """

    name: str
    file: str
    old: str
    new: str
    breaks: str
    tests: tuple[str, ...]
    engine: Engine = "sqlite"

    def applied_to(self, text: str) -> str:
        """The text of the file with the change. Raises `MutantOutdated`."""
        if (count := text.count(self.old)) != 1:
            raise MutantOutdated(f"{self.name}: the old text stands {count} times in {self.file}, and must stand once")
        return text.replace(self.old, self.new)


_READ = TypeAdapter(list[Mutant])


def mutants() -> list[Mutant]:
    """All mutants, in their order."""
    listed = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return _READ.validate_python([{"name": name, **fields} for name, fields in listed.items()])
