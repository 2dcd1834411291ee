"""A version of the product that runs: a checkout with its own installation, and its service on a fresh database."""

import json
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from tests.support.processes.programs import environment, spawned, until

ROOT = Path(__file__).parents[2]
CLOCK = "2027-03-01T09:00:00Z"
"""When the clocks of both services begin, a Monday: calling hours and dates are the same in every run."""
ORGANIZATION = "compared"
DOLLARS = "1000000.00"
LIMIT_S = 60.0
"""How long one answer may take."""
LIFE_S = 3_600
_INSTALL_LIMIT_S = 600


def checked_out(version: str, folder: Path) -> Path:
    """The folder of a version with everything installed. `version` is a commit, or a checkout's folder as it stands.

    Raises:
        subprocess.CalledProcessError: there is no such commit, or it cannot be installed.
    """
    checkout = Path(version)
    if not (checkout / "pyproject.toml").exists():
        checkout = folder
        for command in (["clone", "--quiet", "--shared", str(ROOT), str(checkout)], ["checkout", "--quiet", version]):
            place = ["-C", str(checkout)] if command[0] == "checkout" else []
            subprocess.run(["git", *place, *command], check=True, timeout=_INSTALL_LIMIT_S)
    subprocess.run([checkout / "scripts" / "setup"], check=True, timeout=_INSTALL_LIMIT_S)
    return checkout.absolute()


@dataclass(frozen=True)
class Side:
    """A service of one version, and a key of an organization with more money than it can spend."""

    command: Path
    data: Path
    database_url: str
    settings: dict[str, str]
    address: str
    http: httpx2.Client

    def run(self, *arguments: str) -> str:
        """What a command of this version prints. Raises `subprocess.CalledProcessError`."""
        return subprocess.run(
            [self.command, *arguments, "--data", str(self.data), "--database", self.database_url],
            env=environment(self.data, **self.settings),
            check=True,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        ).stdout.strip()

    def ask(self, method: str, path: str, **given: Any) -> Any:
        """The data of an answer that must be none of the refusals."""
        answer = self.http.request(method, path, **given)
        if not answer.is_success:
            raise RuntimeError(f"{method} {path}: {answer.status_code} {answer.text}")
        return json.loads(answer.content)["data"]


@contextmanager
def running(checkout: Path, data: Path, database_url: str) -> Generator[Side]:
    """The service of a checkout, as fast as possible, until the block ends."""
    data.mkdir()
    command = checkout / ".venv" / "bin" / "callwright"
    settings = {"CALLWRIGHT_CLOCK": CLOCK, "CALLWRIGHT_SIM_SEED": "compare"}
    log = data / "serve.log"
    arguments = ("serve", "--port=0", "--data", str(data), "--database", database_url, "--webhook-networks=localhost")
    with (
        log.open("wb") as errors,
        spawned(data, *arguments, command=command, stderr=errors, settings=settings, life_s=LIFE_S) as process,
    ):

        def address() -> str:
            _, found, rest = log.read_text(encoding="utf-8").partition("serves http://")
            return rest.partition("/v1")[0] if found else ""

        until(lambda: bool(address()) or process.poll() is not None, f"{command} serve says its address")
        if not address():
            raise RuntimeError(log.read_text(encoding="utf-8"))
        with httpx2.Client(base_url=f"http://{address()}", timeout=LIMIT_S, trust_env=False) as http:
            side = Side(command, data, database_url, settings, f"http://{address()}", http)
            side.run("orgs", "create", ORGANIZATION, "--plan=enterprise")
            side.run("orgs", "change", ORGANIZATION, "--requests-per-second=100000", "--requests-per-day=100000000")
            side.run("orgs", "fund", ORGANIZATION, f"--amount={DOLLARS}")
            http.headers["Authorization"] = f"Bearer {side.run('keys', 'create', f'--org={ORGANIZATION}', '--quiet')}"
            yield side
