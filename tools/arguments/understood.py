"""Arguments whose meaning is plain though their form is not the contract's, and the names that tools give to arguments.

A single value stands for a list of one, a number for an amount of money, `9:00` for `09:00`, `Monday` for `mon`, `de`
for `DE`, a day for its beginning in UTC. A wait or a page that is too long is shortened, and the answer says so.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from types import UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import AwareDatetime, BaseModel
from pydantic.fields import FieldInfo

from callwright.contract.declaration.field_types import COUNTRY_PATTERN, Spend
from callwright.contract.deployments.dialling import WEEKDAYS, Window
from callwright.tools.arguments.arguments import unwrapped
from callwright.tools.runtime.tool import Tool

_AMOUNT = re.compile(r"\$?\s*(\d{1,9}(?:\.\d{1,6})?)\s*(?:USD|\$)?", re.IGNORECASE | re.ASCII)
_CLOCK = re.compile(r"(\d{1,2})(?::(\d{2}))?\s*(am|pm|a\.m\.|p\.m\.)?", re.IGNORECASE | re.ASCII)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_NAIVE = re.compile(r"(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2})?)", re.ASCII)
_CODE_LETTERS = 2
_LETTERS = re.compile(r"[a-z]{2}", re.IGNORECASE | re.ASCII)
_WHOLE = re.compile(r"-?\d{1,9}", re.ASCII)
_NUMBER = re.compile(r"-?\d{1,9}(?:\.\d{1,6})?", re.ASCII)
_NAMES_OF_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SHORTEST_DAY = 3
_MOST_MONEY = 10**9
_SHORTENED = ("wait_seconds", "per_page", "max_tokens", "snippets")
"""Arguments whose highest value is taken in place of a higher one."""
_OTHER_NAMES = {"per_page": ("limit", "page_size")}
"""Names by which other services know an argument, where a tool has no argument of that name."""
_BOOLEANS = {"true": True, "false": False}


class Understood:
    """The arguments of one call as the contract writes them. `notes` say what was read in another way."""

    def __init__(self, tool: Tool, arguments: Mapping[str, Any]) -> None:
        self.notes: list[str] = []
        self.arguments: dict[str, Any] = {}
        fields = tool.arguments.model_fields
        for name, value in _own_names(tool, arguments).items():
            field = fields.get(name)
            self._name = tool.shown(name)
            self.arguments[name] = (
                value if field is None else self._read(field, name, unwrapped(value, tool.arguments, name))
            )

    def _read(self, field: FieldInfo, name: str, value: Any) -> Any:
        found = _country(field.metadata, self._as(field.annotation, value))
        most = next((mark.le for mark in field.metadata if hasattr(mark, "le")), None)
        if name in _SHORTENED and type(found) is int and most is not None and found > most:
            self.notes.append(f"{name}: at most {most}, so {most} was taken.")
            return most
        return found

    def _as(self, annotation: Any, value: Any) -> Any:
        """The value as a type takes it; unchanged if its meaning is not plain."""
        kind = _bare(annotation)
        if kind is str:  # a large list has very many
            if not isinstance(value, str) or len(value) != _CODE_LETTERS:
                return value
            return _country([mark for one in get_args(annotation)[1:] for mark in getattr(one, "metadata", ())], value)
        origin = get_origin(kind)
        if origin in (Union, UnionType):
            branches: list[Any] = [branch for branch in get_args(kind) if branch is not type(None)]
            if len(branches) == 1:
                return self._as(branches[0], value)
            lists = [branch for branch in branches if get_origin(_bare(branch)) is list]
            single = [branch for branch in branches if get_origin(_bare(branch)) is not list]
            meant = lists if type(value) is list else single
            return self._as(meant[0], value) if len(meant) == 1 else cast("Any", value)
        if origin is list:
            return self._entries(get_args(kind)[0], value)
        if origin is Literal:
            return _choice(get_args(kind), value)
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            return self._inside(kind, value)
        return self._plain(kind, value)

    def _entries(self, inner: Any, value: Any) -> Any:
        if isinstance(value, str) and value[:1] in "[{":
            return value  # a list as JSON text
        if isinstance(value, list):
            return [self._as(inner, entry) for entry in cast("list[Any]", value)]
        return value if value is None else [self._as(inner, value)]

    def _inside(self, model: type[BaseModel], value: Any) -> Any:
        if issubclass(model, Spend):
            return self._amount(value)
        if not isinstance(value, dict):
            return value
        given = cast("dict[str, Any]", value)
        if issubclass(model, Window):
            given = {name: _clock(part) if name in ("start", "end") else part for name, part in given.items()}
        fields = model.model_fields
        return {
            name: self._as(fields[name].annotation, part) if name in fields else part for name, part in given.items()
        }

    def _amount(self, value: Any) -> Any:
        found = _money(value)
        if found is None or isinstance(found, dict) or (isinstance(found, str) and found[:1] == "{"):
            return cast("Any", found)
        raise ToolError(
            f"Invalid arguments: {self._name}: should be an amount in USD such as 25.00, not below 0, with nine digits "
            "before the point and six behind it at most"
        )

    def _plain(self, kind: Any, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        if kind is int and _WHOLE.fullmatch(value.strip()):
            return int(value)
        if kind is float and _NUMBER.fullmatch(value.strip()):
            return float(value)
        if kind is bool:
            return _BOOLEANS.get(value.strip().lower(), value)
        if kind in (datetime, AwareDatetime):
            return self._moment(value.strip())
        return value

    def _moment(self, value: str) -> str:
        naive = _NAIVE.fullmatch(value)
        if not _DAY.fullmatch(value) and naive is None:
            return value
        read = f"{naive[1]}T{naive[2]}Z" if naive else f"{value}T00:00:00Z"
        self.notes.append(f"{value} was read as {read} (UTC).")
        return read


def _own_names(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments by the names of the contract. Raises ToolError for one that is given by both of its names."""
    found = dict(arguments)
    for own, shown in tool.shown_names.items():
        if shown not in found:
            continue
        value = found.pop(shown)
        if found.setdefault(own, value) != value:
            raise ToolError(
                f"Invalid arguments: {shown}: is given twice, as {own} with another value; give {shown} alone."
            )
    fields = tool.arguments.model_fields
    for own, others in _OTHER_NAMES.items():
        for other in others:
            if own in fields and other in found and other not in fields and own not in found:
                found[own] = found.pop(other)
    for name in [name for name in found if name not in fields]:
        meant = next((own for own in fields if f"{name}_id" in (own, tool.shown(own))), None)
        if meant is not None and meant not in found:
            found[meant] = found.pop(name)  # deployment for deployment_id
    return found


def _bare(annotation: Any) -> Any:
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    return annotation


def _country(marks: Iterable[Any], value: Any) -> Any:
    """A country code in capitals, if the marks are those of one."""
    if not isinstance(value, str) or not _LETTERS.fullmatch(value):
        return value
    return value.upper() if any(getattr(mark, "pattern", None) == COUNTRY_PATTERN for mark in marks) else value


def _choice(choices: tuple[Any, ...], value: Any) -> Any:
    if not isinstance(value, str) or value in choices:
        return value
    plain = value.strip().lower().replace(" ", "_").replace("-", "_")
    if choices == WEEKDAYS and len(plain) >= _SHORTEST_DAY:
        plain = next((day[:3] for day in _NAMES_OF_DAYS if day.startswith(plain.removesuffix("."))), plain)
    meant = (plain, f"{plain}_id")  # deployment for deployment_id
    return next((choice for choice in choices if isinstance(choice, str) and choice.lower() in meant), value)


def _money(value: Any) -> Any:
    """An amount in USD, given as a number, a text or an object."""
    if isinstance(value, dict):
        given = cast("dict[str, Any]", value)
        return {**given, "amount": _sum(given["amount"])} if "amount" in given else given
    if type(value) in (int, float):
        return {"amount": found} if isinstance(found := _sum(value), str) else value
    if isinstance(value, str) and (written := _AMOUNT.fullmatch(value.strip())):
        return {"amount": written[1]}
    return value


def _sum(value: Any) -> Any:
    """A number as text with six places; unchanged if it has more, or more than nine digits before them."""
    if type(value) not in (int, float) or not 0 <= value < _MOST_MONEY:
        return value
    text = f"{value:.6f}"
    return text if Decimal(text) == Decimal(repr(value)) else value


def _clock(value: Any) -> Any:
    """`9`, `9:00` and `9am` as `09:00`."""
    written = _CLOCK.fullmatch(value.strip()) if isinstance(value, str) else None
    if written is None:
        return value
    hour, minute, half = int(written[1]), written[2] or "00", (written[3] or "").lower().replace(".", "")
    if half and not 1 <= hour <= 12:
        return value
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    return f"{hour:02d}:{minute}"
