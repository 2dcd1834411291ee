"""A copy of the repository in which files may be changed, with the libraries of this installation."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.house.tree import PACKAGES, ROOT, files
from tests.support.database.databases import ENGINES_SETTING, Engine

_ARGUMENTS = ("-x", "-q", "-n", "0", "--tb=no", "-rfE", "-p", "no:cacheprovider")
_PASSED, _FAILED = 0, 1
"""Exit codes of pytest. Others mean that nothing was found out."""
_REPORTED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)


class TestsNotRun(Exception):
    """Tests did not come to a result: nothing was collected, or they did not end in time."""


@dataclass(frozen=True)
class Checkout:
    """The copy. `callwright` is imported from it, by its tests and by the programs that they start."""

    folder: Path

    @classmethod
    def of(cls, folder: Path) -> "Checkout":
        """Copies the repository, as it stands, into a folder that does not exist."""
        for path in files():
            target = folder / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target)
        links = folder / "build" / "editable" / "callwright"
        links.mkdir(parents=True)
        for name in PACKAGES:
            (links / name).symlink_to(folder / name, target_is_directory=True)
        return cls(folder)

    @contextmanager
    def changed(self, file: str, text: str) -> Generator[None]:
        """A file with another text until the block ends. Afterwards it has its own text and time again."""
        path = self.folder / file
        before, status = path.read_bytes(), path.stat()
        path.write_text(text, encoding="utf-8")
        try:
            yield
        finally:
            path.write_bytes(before)
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))  # so that what was compiled of it holds

    def first_failure(self, tests: Sequence[str], engine: Engine, *, limit_s: float) -> str | None:
        """The first test that fails, by its pytest id; None where all pass.

        Raises:
            TestsNotRun: no tests were run, a test file could not be imported, or `limit_s` was not enough.
        """
        settings = {ENGINES_SETTING: engine, "PYTHONPATH": str(self.folder / "build" / "editable")}
        try:
            ended = subprocess.run(
                [sys.executable, "-m", "pytest", *_ARGUMENTS, *tests],
                cwd=self.folder,
                env={**os.environ, **settings},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=limit_s,
            )
        except subprocess.TimeoutExpired as error:
            raise TestsNotRun(f"not ended after {limit_s:g} s: {' '.join(tests)}") from error
        if ended.returncode == _PASSED:
            return None
        reported = _REPORTED.search(ended.stdout)
        if ended.returncode != _FAILED or reported is None:
            raise TestsNotRun(f"pytest ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}")
        return reported[1]
