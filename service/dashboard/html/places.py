"""Countries and languages by the names that people know, for choices in forms."""

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from pathlib import Path

_FILE = Path(__file__).with_name("places.toml")
Choice = tuple[str, str]
"""What is sent, and what people read."""


@cache
def _names() -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


@cache
def countries() -> tuple[Choice, ...]:
    """All countries that have telephone numbers, by their names."""
    return tuple(sorted(_names()["countries"].items(), key=lambda one: one[1]))


def country_name(code: str) -> str:
    """The name of a country, or its code where it has none."""
    return _names()["countries"].get(code, code)


@lru_cache(512)
def language_name(tag: str) -> str:
    """The name of a BCP-47 tag, such as `English (United States)`, or the tag where its language has none."""
    primary, _, rest = tag.partition("-")
    name = _names()["languages"].get(primary.lower())
    if name is None:
        return tag
    region = _names()["regions"].get(rest.lower()) or country_name(rest.upper())
    return f"{name} ({rest if region == rest.upper() else region})" if rest else name


def languages(tags: Iterable[str]) -> list[Choice]:
    """Languages as choices, by their names; each once."""
    return sorted(((tag, language_name(tag)) for tag in set(tags)), key=lambda one: one[1])
