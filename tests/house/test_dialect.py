"""The engine of the database is known in one folder: nothing outside it asks which one it is."""

import ast
from collections.abc import Iterator

import pytest

from tests.house.tree import PACKAGES, texts

FOLDERS = ("service/platform/database/", "service/tables/migrations/versions/")
"""Where the engine may be known: in its folder, and where a migration of the past did its work."""
SAID = {"server/settings.py"}
"""Reads addresses of databases as people write them, and asks nothing."""
_NAMES = {"dialect", "is_sqlite", "is_postgres", "is_postgresql"}
_ENGINES = ("sqlite", "postgres")


def test_nothing_outside_its_folder_asks_for_the_engine() -> None:
    found = {
        path: lines
        for path, text in texts()
        if path.endswith(".py") and path.split("/")[0] in PACKAGES and not path.startswith(FOLDERS)
        if path not in SAID and (lines := list(_asked(text)))
    }
    assert found == {}


@pytest.mark.parametrize(
    "text",
    [
        "from sqlalchemy.dialects.sqlite import insert",
        "from sqlalchemy.dialects import postgresql",
        "from sqlalchemy import dialects",
        "import sqlalchemy.dialects.postgresql as there",
        "print(connection.dialect)",
        "from engines import is_sqlite",
        "url.startswith('sqlite')",
        "name == 'postgresql'",
    ],
)
def test_asking_is_found(text: str) -> None:
    assert list(_asked(text)) == [1]


def test_words_about_an_engine_are_not_asking() -> None:
    assert list(_asked('"""On Postgres."""\nsaid = "Postgres, still empty"\nimport database.sqlite.disk_space')) == []


def _asked(text: str) -> Iterator[int]:
    """The lines that name a dialect, or an engine as an address or a dialect is called."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Import(names=names):
                is_found = any(one.name.startswith("sqlalchemy.dialects") for one in names)
            case ast.ImportFrom(module=module, names=names):
                named = {one.name for one in names}
                is_found = bool(named & _NAMES) or f"{module}.".startswith("sqlalchemy.dialects.")
                is_found = is_found or (module == "sqlalchemy" and "dialects" in named)
            case ast.Attribute(attr=name) | ast.Name(id=name):
                is_found = name in _NAMES
            case ast.Constant(value=str(value)):
                is_found = value.startswith(_ENGINES) and " " not in value
            case _:
                is_found = False
        if is_found:
            yield getattr(node, "lineno", 0)
