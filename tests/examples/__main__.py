"""Writes the file of examples: `python -m tests.examples`. With --check it only says whether the file differs."""

import sys
import tempfile
from pathlib import Path

import anyio

from callwright.service.rest.documentation.examples import FILE
from tests.examples.record import file_text
from tests.examples.scenario import examples


def main() -> int:
    """Writes, or checks; 1 when the file differs from what the service answers."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text = file_text(anyio.run(examples, f"sqlite:///{folder / 'callwright.db'}", folder))
    if FILE.exists() and FILE.read_text(encoding="utf-8") == text:
        return 0
    if "--check" in sys.argv[1:]:
        sys.stdout.write(f"out of date: {FILE.name}\n")
        return 1
    FILE.write_text(text, encoding="utf-8")
    sys.stdout.write(f"written: {FILE.name}; scripts/generate brings the pages up to date\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
