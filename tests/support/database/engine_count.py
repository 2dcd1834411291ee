"""Tells at the end of a run how many tests ran on each database engine, so that a green run shows what it covered."""

from collections import Counter
from collections.abc import Sequence

import pytest

from tests.support.database.databases import ENGINES_SETTING, Engine, server_origin

NAMES: dict[Engine, str] = {"sqlite": "SQLite", "postgres": "Postgres"}


class EngineCount:
    """A pytest plugin for the process that prints the summary. It reads the property `engine` of each report."""

    def __init__(self, engines: Sequence[Engine]) -> None:
        self._engines = engines
        self._ran: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Counts a test once, when its body has run and it is not run again."""
        if report.when == "call" and report.outcome in ("passed", "failed"):
            self._ran.update(str(value) for name, value in report.user_properties if name == "engine")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Prints the line, like `engines: 80 tests ran on SQLite, 80 tests ran on Postgres (TEST_PG_URL)`."""
        terminalreporter.write_line("engines: " + ", ".join(self._words(engine) for engine in NAMES))

    def _words(self, engine: Engine) -> str:
        if engine not in self._engines:
            return f"{NAMES[engine]} left out by {ENGINES_SETTING}"
        origin = f" ({server_origin()})" if engine == "postgres" else ""
        return f"{self._ran[engine]} tests ran on {NAMES[engine]}{origin}"
