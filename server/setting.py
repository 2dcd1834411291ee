"""What a setting is, and what a wrong one raises."""

from collections.abc import Callable
from dataclasses import dataclass

Given = Callable[[str], str | None]
"""Gives the text of an environment variable; None for one that is not set, or blank."""


@dataclass(frozen=True)
class Setting:
    """A setting: its environment variable, its default, and what it does."""

    variable: str
    default: str
    help: str


class BadSetting(ValueError):
    """A setting has an invalid value; the text names it and says what is expected."""
