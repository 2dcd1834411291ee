"""The official tools for bundles, which share no code with this project."""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from tests.support.processes.npm import installed, node

LIMIT_S = 60.0
"""Limit of one command, on a machine that does much else."""
HERE = Path(__file__).parent


def mcpb(*arguments: str | Path, home: Path) -> str:
    """Runs the command `mcpb`; gives what it says. Raises AssertionError with that when it fails."""
    return _ran("node_modules/@anthropic-ai/mcpb/dist/cli/cli.js", *arguments, home=home)


def launched(folder: Path, filled_in: Mapping[str, Any], *, home: Path) -> dict[str, Any]:
    """`{command, args, env}` that a host starts for an unpacked bundle, with what a person filled in."""
    given = {"extensionPath": str(folder), "userConfig": filled_in, "systemDirs": {"HOME": str(home)}}
    return cast("dict[str, Any]", json.loads(_ran(HERE / "config.mjs", installed(HERE), json.dumps(given), home=home)))


def _ran(script: str | Path, *arguments: str | Path, home: Path) -> str:
    done = subprocess.run(
        [str(node()), str(installed(HERE) / script), *map(str, arguments)],
        env={**os.environ, "HOME": str(home), "USERPROFILE": str(home), "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
