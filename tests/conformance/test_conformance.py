"""The protocol's own conformance suite, against the program's server with the suite's fixtures added.

No failure is expected: the suite itself leaves the scenarios of extensions out of the score, among them tasks, which
the SDK does not implement.
"""

import os
import re
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.support.processes.npm import installed, node
from tests.support.processes.programs import LIFE_S, STOP_S

HERE = Path(__file__).parent
SUITE = Path("node_modules/@modelcontextprotocol/conformance/dist/index.js")
ONE_RUN_S = 150.0
"""Limit of one run, which takes four seconds on an idle machine."""


@pytest.fixture
def address() -> Generator[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.conformance.server"],
        cwd=HERE.parent.parent,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait(STOP_S)
        if process.stdout is not None:
            process.stdout.close()


@pytest.mark.parametrize(("requirements", "scored"), [("2025-11-25", 30), ("2026-07-28", 37)])
def test_every_scored_scenario_of_the_conformance_suite_passes(
    requirements: str, scored: int, address: str, tmp_path: Path
) -> None:
    suite = [str(node()), str(installed(HERE) / SUITE)]
    asked = ["server", "--url", address, "--requirements", requirements, "-o", str(tmp_path)]
    ran = subprocess.run(
        [*suite, *asked],
        env={**os.environ, "HOME": str(tmp_path), "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=min(ONE_RUN_S, LIFE_S),
    )
    summary = ran.stdout.partition("=== SUMMARY ===")[2]
    assert ran.returncode == 0, summary + ran.stderr
    run, unscored = summary.partition("Not scored")[::2]
    passed = set(re.findall(r"^✓ ([a-z0-9-]+): [1-9]", run, re.MULTILINE))
    assert len(passed - set(re.findall(r"^ +\S ([a-z0-9-]+) \(", unscored, re.MULTILINE))) == scored, summary
