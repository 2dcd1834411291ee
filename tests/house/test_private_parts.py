"""Product code uses no private part of another object: neither of a library, nor of another class of its own."""

import ast
from collections.abc import Iterator

import pytest

from tests.house.tree import PACKAGES, texts

PUBLIC = {"_make", "_asdict", "_replace", "_fields", "_mapping", "_exit"}
"""Names that are public although they begin so: of named tuples and rows, and of `os`."""
FENCED = {"server/mcp/subscriptions.py": {"_lowlevel_server", "_connection"}}
"""What the MCP SDK hands to nobody in another way."""


def test_no_module_uses_private_parts() -> None:
    found: dict[str, set[str]] = {}
    for path, text in texts():
        if path.endswith(".py") and path.split("/")[0] in PACKAGES:
            names = set(_private(text)) - FENCED.get(path, set())
            if names:
                found[path] = names
    assert found == {}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from psycopg import _modules", ["_modules"]),
        ("from asyncpg.protocol._record import Record", ["_record"]),
        ("import sqlalchemy.engine._py_row", ["_py_row"]),
        ("connection._connection.close()", ["_connection"]),
        ("getattr(pool, '_free')", ["_free"]),
    ],
)
def test_private_parts_are_found(text: str, found: list[str]) -> None:
    assert list(_private(text)) == found


@pytest.mark.parametrize(
    "text",
    [
        "class One:\n    def same(self, other):\n        self._a = other._a\n",
        "from callwright.service import _own\n_own.__name__",
        "row = Row._make(values)",
    ],
)
def test_own_parts_are_no_private_ones(text: str) -> None:
    assert list(_private(text)) == []


def _private(text: str) -> Iterator[str]:
    """Private names that a module uses of others: of modules, and of objects where no class of its own has the name."""
    tree = ast.parse(text)
    own = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and _is_self(node.value)}
    own |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    own |= {
        one.target.id for one in ast.walk(tree) if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (part for one in names for part in one.name.split(".") if _is_private(part))
            case ast.ImportFrom(module=module, names=names) if not f"{module}.".startswith(
                ("callwright.", "__future__.")
            ):
                yield from (part for part in (module or "").split(".") if _is_private(part))
                yield from (one.name for one in names if _is_private(one.name))
            case ast.Attribute(attr=name, value=value) if not _is_self(value) and _is_private(name) and name not in own:
                yield name
            case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str(name)), *_]) if _is_private(
                name
            ):
                yield name
            case _:
                pass


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in PUBLIC


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "cls")
