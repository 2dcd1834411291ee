"""Message templates: `{{First Name}}` is replaced by the contact's cell in that column, `{{name|there}}` has a default.

A placeholder matches a column without regard to case, blanks, `_` and `-`; a column of just that name comes first.
Where no column matches like that, accents do not count either, unless two columns differ by them alone.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import cast

LONGEST_PLACEHOLDER = 200
"""Characters between the braces. The bound keeps a long run of braces from costing more than one pass."""
_PLACE = re.compile(rf"\{{\{{([^{{}}\r\n]{{1,{LONGEST_PLACEHOLDER}}})\}}\}}")
_PLAIN = re.compile(r"[ \t]{0,20}[A-Za-z][A-Za-z0-9_]*[ \t]{0,20}")
_DEFAULT = re.compile(r"default\s*:\s*", re.IGNORECASE)
_QUOTES = {"'": "'", '"': '"', "‘": "’", "“": "”", "„": "“", "«": "»"}
_NO_NAME = "\"'[<%"  # JSON and markup may stand in a prompt
_BLANKS = re.compile(r"[\s_\-‐‑]+")
_SINGLE = re.compile(r"(?<![{\w])\{[ \t]?([^\W\d][\w .\-]{0,60})\}(?!\})")
_UNCLOSED = re.compile(r"\{\{[ \t]?([^\W\d][\w\-]{0,60})(?=\s|[,.!?;:]|$|\}(?!\}))")
_BLANK = " \t\u00a0\u202f"
_CLOSES = tuple(f"{_BLANK},.;:!?…)،؛؟।。、，！？")
"""What needs no blank before it."""
_NEAR = 0.6
_CACHED_TEMPLATES = 512
_CACHED_NAMES = 4_096


@dataclass(frozen=True)
class Placeholder:
    """What stands between double braces: the name of a column, and the words that stand for an empty cell."""

    name: str
    default: str | None = None


@dataclass(frozen=True)
class Rendered:
    """A message as it is said. `missing` has the variables without a value, each once, in order of appearance."""

    text: str
    missing: tuple[str, ...] = ()


@lru_cache(maxsize=_CACHED_TEMPLATES)
def _parts(template: str) -> tuple[str | Placeholder, ...]:
    """Texts and placeholders in alternation; the first and the last are texts."""
    pieces: list[str | Placeholder] = [""]
    for index, piece in enumerate(_PLACE.split(template)):
        placeholder = _read(piece) if index % 2 else None
        if placeholder is not None:
            pieces += [placeholder, ""]
        else:
            pieces[-1] = f"{pieces[-1]}{{{{{piece}}}}}" if index % 2 else f"{pieces[-1]}{piece}"
    return tuple(pieces)


def _read(inside: str) -> Placeholder | None:
    """The placeholder between braces; None where no name stands there."""
    name, bar, rest = inside.partition("|")
    name = name.strip()
    if not any(char.isalnum() for char in name) or name[0] in _NO_NAME:
        return None
    if not bar:
        return Placeholder(name)
    rest = rest.strip()
    word = _DEFAULT.match(rest)
    default = rest[word.end() :] if word else rest
    if len(default) > 1 and _QUOTES.get(default[0]) == default[-1]:
        default = default[1:-1]
    return Placeholder(name, default)


@lru_cache(maxsize=_CACHED_TEMPLATES)
def placeholders_in(template: str) -> tuple[Placeholder, ...]:
    """The placeholders of a template, in order of appearance."""
    return tuple(part for part in _parts(template) if isinstance(part, Placeholder)) if "{{" in template else ()


@lru_cache(maxsize=_CACHED_TEMPLATES)
def variables_in(template: str) -> tuple[str, ...]:
    """The names a template uses, each once, in order of appearance."""
    return tuple(dict.fromkeys(place.name for place in placeholders_in(template)))


@lru_cache(maxsize=_CACHED_TEMPLATES)
def numbered(template: str, prefix: str) -> tuple[str, tuple[Placeholder, ...]]:
    """The template with its placeholders named by prefix and number, and the placeholders in that order.

    A name may contain what ends a sentence; a numbered one does not.
    """
    parts = _parts(template)
    named = (part if isinstance(part, str) else f"{{{{{prefix}{index // 2}}}}}" for index, part in enumerate(parts))
    return "".join(named), tuple(part for part in parts if isinstance(part, Placeholder))


@lru_cache(maxsize=_CACHED_TEMPLATES)
def is_plain(template: str) -> bool:
    """Whether every placeholder is a name of letters, digits and `_` alone."""
    return "{{" not in template or all(_PLAIN.fullmatch(inside) for inside in _PLACE.findall(template))


@lru_cache(maxsize=_CACHED_NAMES)
def _key(name: str) -> str:
    return _BLANKS.sub("", unicodedata.normalize("NFKC", name).casefold())


@lru_cache(maxsize=_CACHED_NAMES)
def _plain_key(name: str) -> str:
    """The key without accents."""
    return "".join(char for char in unicodedata.normalize("NFKD", _key(name)) if not unicodedata.combining(char))


class Columns:
    """The columns of a list, found by the name in a placeholder."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = names
        self._by_key: dict[str, str] | None = None
        self._by_plain_key: dict[str, str | None] | None = None

    def find(self, name: str) -> str | None:
        """The column that a placeholder of this name means; None if there is none."""
        if name in self._names:
            return name
        if self._by_key is None:
            self._by_key = {}
            for column in self._names:
                self._by_key.setdefault(_key(column), column)
        return self._by_key.get(_key(name)) or self._without_accents(_plain_key(name))

    def _without_accents(self, key: str) -> str | None:
        if self._by_plain_key is None:
            self._by_plain_key = {}
            for column in dict.fromkeys((self._by_key or {}).values()):
                plain = _plain_key(column)
                self._by_plain_key[plain] = None if plain in self._by_plain_key else column
        return self._by_plain_key.get(key)


def is_writable(column: str) -> bool:
    """Whether a placeholder can name this column: a name with braces, a bar or a line break cannot be written."""
    return placeholders_in(f"{{{{{column}}}}}") == (Placeholder(column.strip()),)


def nearest_column(name: str, columns: Iterable[str]) -> str | None:
    """The column whose name is most like this one, of those that a placeholder can name; None if none is like it."""
    keys = {_plain_key(column): column for column in columns if is_writable(column)}
    found = get_close_matches(_plain_key(name), keys, n=1, cutoff=_NEAR)
    return keys[found[0]] if found else None


def values_of(places: Iterable[Placeholder], variables: Mapping[str, str]) -> list[str | None]:
    """What is said for each placeholder: the cell, or the default where that is empty; None where there is neither."""
    columns = Columns(variables)
    values: list[str | None] = []
    for place in places:
        column = columns.find(place.name)
        value = None if column is None else variables[column]
        is_empty = place.default is not None and not (value or "").strip()
        values.append(place.default if is_empty else value)
    return values


def render(template: str, variables: Mapping[str, str]) -> Rendered:
    """The template with every placeholder replaced. An unknown variable becomes empty and is named in `missing`.

    Where nothing is said for a placeholder, the blanks around it become one, or none before punctuation: "Hello , Ada"
    becomes "Hello, Ada". Values are inserted as they are: a `{{name}}` inside a value is not replaced.
    """
    if "{{" not in template:
        return Rendered(template)
    pieces = list(_parts(template))
    places = [part for part in pieces if isinstance(part, Placeholder)]
    values = values_of(places, variables)
    said = ["" if value is None or value.isspace() else value for value in values]
    pieces[1::2] = said
    words = cast("list[str]", pieces)
    if all(said):
        return Rendered("".join(words))
    missing = dict.fromkeys(place.name for place, value in zip(places, values, strict=True) if value is None)
    return Rendered(_closed_up(words), tuple(missing))


def filled(template: str, value_of: Callable[[Placeholder], str]) -> str:
    """The template with a value for each placeholder, and nothing else changed: for what is sent and not spoken."""
    return "".join(part if isinstance(part, str) else value_of(part) for part in _parts(template))


def _closed_up(pieces: list[str]) -> str:
    """Texts and values in alternation, without the blanks that would be said twice or stand before punctuation.

    Only texts are changed: a value keeps its own blanks.
    """
    text, done = pieces[0], list[str]()
    for value, after in zip(pieces[1::2], pieces[2::2], strict=True):
        if value:
            done += (text, value)
            text = after
        else:
            text = f"{text.rstrip(_BLANK)}{after}" if after.startswith(_CLOSES) else f"{text}{after}"
    return "".join((*done, text))


@lru_cache(maxsize=_CACHED_TEMPLATES)
def spoken_braces(template: str) -> tuple[str, ...]:
    """What looks like a placeholder and is none, each once: `{first_name}`, `{{first_name` without its end.

    It would be spoken as it is written.
    """
    around = "".join(part if isinstance(part, str) else " " for part in _parts(template))
    found = [match[1].strip() for pattern in (_SINGLE, _UNCLOSED) for match in pattern.finditer(around)]
    return tuple(dict.fromkeys(found))
