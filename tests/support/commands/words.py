"""What commands say, when they succeed and when they refuse."""

from pathlib import Path

from tests.support.processes.programs import run


def said(home: Path, *arguments: str, data: Path | None = None) -> str:
    """What a command prints when it succeeds, without a word on stderr."""
    done = run(home, *arguments, "--data", data or home / "data")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def refused(home: Path, *arguments: str | Path, **settings: str) -> str:
    """What a command says when it refuses: one sentence on stderr, status 2, nothing on stdout."""
    done = run(home, *arguments, **settings)
    assert (done.returncode, done.stdout) == (2, ""), (done.returncode, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("callwright: ")
    assert done.stderr.count("\n") == 1
    return done.stderr
