"""The uv that `scripts/setup` installs, kept away from the settings and tools of whoever runs the tests.

Packages come from uv's cache, which `scripts/setup` has filled. What is not there (a lock holds packages of other
systems too) is fetched the way `scripts/setup` does it: by uv as it is, then by what pip is configured with.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.house.tree import ROOT

INSTALLED = """
import importlib.metadata as metadata, json, callwright.server.main as main
found = {each.name.lower().replace("_", "-").replace(".", "-"): each.version for each in metadata.distributions()}
print(json.dumps([main.__file__, found]))
"""

UV = Path(sys.executable).with_name("uv")
LIMIT_S = 180.0
"""Limit of one command that installs, on a machine that does much else."""
KEPT = ("PATH", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "LANG")


@dataclass(frozen=True)
class Uv:
    """uv with a home of its own. `settings` say where packages come from."""

    home: Path
    settings: Mapping[str, str]

    @property
    def environment(self) -> dict[str, str]:
        """What a program needs that starts uv, and no more."""
        kept = {name: value for name, value in os.environ.items() if name.upper() in KEPT}
        return {**kept, "HOME": str(self.home), "USERPROFILE": str(self.home), **self.settings}

    def run(self, *arguments: str | Path, **settings: str) -> subprocess.CompletedProcess[str]:
        """Runs a command of uv to its end."""
        return subprocess.run(
            [str(UV), *map(str, arguments)],
            env={**self.environment, **settings},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )


def first_that_works(home: Path, action: Callable[[Uv], subprocess.CompletedProcess[str]]) -> Uv:
    """uv with the first source of packages for which an action succeeds: the cache, then the network in two ways."""
    own = {
        **{name: value for name, value in os.environ.items() if name.startswith("UV_")},
        "XDG_CONFIG_HOME": os.environ.get("XDG_CONFIG_HOME", str(Path.home() / ".config")),
        "UV_CACHE_DIR": _cache(),
        "UV_PYTHON": sys.executable,
        "UV_PYTHON_DOWNLOADS": "never",
        "UV_TOOL_DIR": str(home / "tools"),
        "UV_TOOL_BIN_DIR": str(home / "tools" / "bin"),
    }
    said: list[str] = []
    for source in (lambda: {"UV_OFFLINE": "1"}, dict[str, str], _pip_sources):
        uv = Uv(home, {**own, **source()})
        done = action(uv)
        if done.returncode == 0:
            return uv
        said.append(done.stderr[-1500:])
    raise AssertionError("uv finds no packages:\n" + "\n--\n".join(said))


def _cache() -> str:
    beside = ROOT / ".venv" / "cache" / "uv"  # where scripts/setup puts it when the home folder is not writable
    if "UV_CACHE_DIR" not in os.environ and beside.is_dir():
        return str(beside)
    return subprocess.run([UV, "cache", "dir"], capture_output=True, text=True, check=True, timeout=60).stdout.strip()


def _pip_sources() -> dict[str, str]:
    """Where pip is configured to look, in uv's words."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "config", "list"]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    lines = dict(line.split("=", 1) for line in said.splitlines() if "=" in line)
    values = {name.rpartition(".")[2]: value.strip("'\"") for name, value in lines.items()}
    names = {"index-url": "UV_DEFAULT_INDEX", "extra-index-url": "UV_INDEX", "find-links": "UV_FIND_LINKS"}
    return {names[name]: value for name, value in values.items() if name in names} | {"UV_NATIVE_TLS": "true"}
