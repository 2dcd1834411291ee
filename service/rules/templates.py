"""Message templates: `{{name}}` is replaced by the contact's variable of that name."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

# The bound on spaces keeps a long run of braces and blanks from costing more than one pass.
_PLACE = re.compile(r"\{\{[ \t]{0,20}([A-Za-z][A-Za-z0-9_]*)[ \t]{0,20}\}\}")
_CACHED_TEMPLATES = 512


@dataclass(frozen=True)
class Rendered:
    """A message as it is said. `missing` has the variables without a value, each once, in order of appearance."""

    text: str
    missing: tuple[str, ...] = ()


@lru_cache(maxsize=_CACHED_TEMPLATES)
def _parts(template: str) -> tuple[str, ...]:
    """Texts and variable names in alternation; the first and the last are texts."""
    return tuple(_PLACE.split(template))


def variables_in(template: str) -> tuple[str, ...]:
    """The names a template uses, each once, in order of appearance."""
    return tuple(dict.fromkeys(_parts(template)[1::2]))


def render(template: str, variables: Mapping[str, str]) -> Rendered:
    """The template with every variable replaced. An unknown variable becomes empty and is named in `missing`.

    Values are inserted as they are: a `{{name}}` inside a value is not replaced.
    """
    parts = _parts(template)
    if len(parts) == 1:
        return Rendered(template)
    pieces = list(parts)
    missing: dict[str, None] = {}
    for position in range(1, len(parts), 2):
        value = variables.get(parts[position])
        if value is None:
            missing[parts[position]] = None
        pieces[position] = value or ""
    return Rendered("".join(pieces), tuple(missing))
