"""Where the demonstration keeps its data."""

from pathlib import Path

DEMO_DATA = Path("callwright-demo")
"""In the present folder, beside the recording: there it is seen, found again by `--data`, and deleted."""
