"""What a setting is, and the error of one that is wrong."""

from collections.abc import Callable
from dataclasses import dataclass

Given = Callable[[str], str | None]
"""The text of a setting by its variable; None where it is not set."""


@dataclass(frozen=True)
class Setting:
    """A setting: its environment variable, its default, and what it does."""

    variable: str
    default: str
    help: str


class BadSetting(ValueError):
    """A setting has an invalid value; the text names it and says what is expected."""
