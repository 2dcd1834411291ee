"""A data folder in which a campaign has run, made once."""

from pathlib import Path

import pytest

from tests.support.processes.programs import run


@pytest.fixture(scope="module")
def called(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a demonstration with twenty people."""
    home = tmp_path_factory.mktemp("called")
    done = run(home, "demo", "--contacts=20", "--data", home / "data", "--out", home / "x.mp3")
    assert done.returncode == 0, done.stderr
    return home / "data"
