"""Who may import whom: the contracts in pyproject.toml, and no circles."""

import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter

import grimp

from tests.house.tree import MODULES, ROOT

LIMIT_S = 120


def test_the_import_contracts_are_kept() -> None:
    command = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run(
        [sys.executable, "-c", command, "--no-cache", "--no-logo"],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"Contracts: [1-9]\d* kept, 0 broken", done.stdout)


def test_no_module_imports_itself_through_others() -> None:
    """Imports for type checking alone do not count: they never run."""
    graph = grimp.build_graph(*MODULES, exclude_type_checking_imports=True, cache_dir=None)
    assert len(graph.modules) > len(MODULES)
    assert _circle({module: graph.find_modules_directly_imported_by(module) for module in graph.modules}) == []


def test_a_circle_of_imports_is_found() -> None:
    assert set(_circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})) == {"a", "b", "c"}


def _circle(imports: dict[str, set[str]]) -> list[str]:
    """The modules of one circle, in order, or nothing."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []
