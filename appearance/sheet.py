"""The style sheet that all pages share."""

from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("parts.css")


@cache
def style_sheet() -> str:
    """Its text."""
    return FILE.read_text(encoding="utf-8")
