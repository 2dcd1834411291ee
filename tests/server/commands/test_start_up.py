"""What a command needs before it says anything: help comes without the service, the tool server or a database."""

import subprocess
import sys

import pytest

HEAVY = ("sqlalchemy", "mcp", "starlette", "anyio", "httpx2", "callwright.contract")
"""Not among them is pydantic, with which Typer reads flags."""
PROGRAM = """
import sys
from callwright.server.main import main
sys.argv = ["callwright", *sys.argv[1:]]
try:
    main()
finally:
    print("LOADED", *(name for name in {heavy!r} if name in sys.modules), file=sys.stderr)
"""


@pytest.mark.parametrize(
    "words",
    [
        ("--help",),
        ("calls", "--help"),
        ("deployments", "create", "--help"),
        ("call",),
        ("call", "start_deployment", "--help"),
        ("keys", "list", "--help"),
        ("providers", "set", "--help"),
        ("rules", "show", "--help"),
        ("demo", "--help"),
    ],
    ids=" ".join,
)
def test_help_imports_nothing_heavy(words: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(heavy=HEAVY), *words], capture_output=True, text=True, timeout=60
    )
    assert done.stderr.split() == ["LOADED"], done.stderr
    assert done.stdout.startswith("Usage: callwright")


def test_what_bare_callwright_says_imports_nothing_heavy() -> None:
    said = "import sys; from callwright.server.commands.welcome import welcome; print(welcome()); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, timeout=60, check=True)
    assert not set(HEAVY) & set(done.stdout.splitlines()[-1].split())
