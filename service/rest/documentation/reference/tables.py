"""Tables of fields from JSON Schemas: names, types, bounds and meanings."""

from collections.abc import Iterable, Mapping
from typing import Any, cast

Json = Mapping[str, Any]

_UNITS = {"Length": " characters", "Items": " entries", "Properties": " keys", "imum": ""}


class Tables:
    """Writes tables of fields. `fields_page` is the path of the page of schemas, relative to this page."""

    def __init__(self, components: Mapping[str, Json], fields_page: str) -> None:
        self._components = components
        self._fields_page = fields_page

    def of(self, shape: Json) -> list[str]:
        """The table of an object's fields."""
        rows = [
            f"| `{name}` | {self.type_of(field)} | {self.said(field)} |"
            for name, field in shape.get("properties", {}).items()
        ]
        return ["| field | type | meaning |", "|---|---|---|", *rows]

    def link(self, name: str) -> str:
        return f"[{name}]({self._fields_page}#{name.lower()})"

    def type_of(self, shape: Json) -> str:
        """A field's type in a word or two."""
        if "$ref" in shape:
            name, found = self._followed(shape)
            return self.link(name) if found.get("properties") else _values(found) or name
        for word in ("anyOf", "oneOf"):
            if word in shape:
                return " or ".join(dict.fromkeys(self.type_of(choice) for choice in shape[word]))
        if shape.get("type") == "array":
            return f"list of {self.type_of(shape.get('items', {}))}"
        inside = shape.get("additionalProperties")
        if shape.get("type") == "object" and isinstance(inside, dict):
            return f"object of {self.type_of(cast('Json', inside))}"
        return _values(shape) or str(shape.get("format") or shape.get("type") or "any")

    def said(self, shape: Json) -> str:
        """What a field means, its bounds and its default, as a cell of a table."""
        choices = [shape, *shape.get("anyOf", ()), shape.get("items", {})]
        words = [choice["description"] for choice in choices if "description" in choice][:1]
        if not words:
            words = [self._followed(choice)[1].get("description", "") for choice in choices if "$ref" in choice][:1]
        bounds = [found for found in dict.fromkeys(_bounds(choice) for choice in choices) if found]
        words += [f"{found}." for found in bounds if not words or found not in words[0]]
        if shape.get("default") not in (None, "", [], {}) and not isinstance(shape.get("default"), dict):
            words.append(f"Default: {_plain(shape['default'])}.")
        return cell(" ".join(word for word in words if word))

    def _followed(self, shape: Json) -> tuple[str, Json]:
        name = str(shape["$ref"]).rsplit("/", 1)[1]
        return name, self._components[name]


def cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    names = list(heads)
    lines = [f"| {' | '.join(cell(text) for text in row)} |" for row in rows]
    return [f"| {' | '.join(names)} |", "|" + "---|" * len(names), *lines]


def _values(shape: Json) -> str:
    if "const" in shape:
        return f"`{shape['const']}`"
    return ", ".join(f"`{value}`" for value in shape.get("enum", ()))


def _bounds(shape: Json) -> str:
    """`At most 200 characters`, `0.1 to 100`, and the like."""
    for word, unit in _UNITS.items():
        low, high = shape.get(f"min{word}"), shape.get(f"max{word}")
        if high is not None and low is not None and not (unit and low == 1):
            return f"{number(low)} to {number(high)}{unit}"
        if high is not None:
            return f"At most {number(high)}{unit}"
        if low is not None and not unit:
            return f"At least {number(low)}"
    return ""


def number(value: float) -> str:
    """`32,768`, `0.1`."""
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ", ".join(_plain(entry) for entry in cast("list[Any]", value))
    return f"`{value}`" if isinstance(value, str) else number(value)
