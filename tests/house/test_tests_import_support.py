"""What several tests need stands in a conftest, in `tests/support/` or in a module without tests beside them."""

import ast
from collections.abc import Iterator

from tests.house.tree import texts


def test_no_module_imports_a_module_of_tests() -> None:
    imports = {path: set(_imported(ast.parse(text))) for path, text in texts() if path.endswith(".py")}
    assert len(imports) > 200
    found = {(path, name) for path, names in imports.items() for name in names if _holds_tests(name)}
    assert found == set()


def _imported(module: ast.Module) -> Iterator[str]:
    """Every name that a module imports, with its dots."""
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _holds_tests(name: str) -> bool:
    folder, *inner = name.split(".")
    return folder == "tests" and any(part.startswith("test_") for part in inner)
