"""The request that an HTTP tool sends, from its templates and the arguments of one call."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from pydantic import JsonValue

from callwright.contract.agents.call_tools import HttpTool
from callwright.contract.checks.header_fields import header_value
from callwright.service.rules.call_tools import texts_in
from callwright.service.rules.templates import Columns, Placeholder, filled, placeholders_in

_MOST_URL = 8_000
Json = Mapping[str, JsonValue]


class UnfitArgument(ValueError):
    """An argument cannot be sent as it is. The text is a sentence for the model."""


@dataclass(frozen=True)
class HttpRequest:
    """What is sent. Its headers may hold secrets."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None
    secrets: Mapping[str, str] = field(default_factory=dict[str, str])
    """The headers whose values nobody may read in an answer."""


def request_of(tool: HttpTool, arguments: Json, columns: Mapping[str, str], secrets: Mapping[str, str]) -> HttpRequest:
    """The request of a call. `columns` are those of the contact, `secrets` the values of the secret headers.

    Raises:
        UnfitArgument: a value would lead elsewhere, or end a header.
    """
    values = _Values(tool, arguments, columns)
    headers = {"Accept": "application/json, text/*"}
    headers |= {name: _header(name, filled(template, values.text)) for name, template in tool.headers.items()}
    body = _body(tool, values, arguments)
    if body is not None and not any(name.lower() == "content-type" for name in headers):
        headers["Content-Type"] = "application/json"
    return HttpRequest(tool.method, _url(tool, values, arguments), {**headers, **secrets}, body, secrets)


class _Values:
    """The values of placeholders: arguments, then the columns that the tool names."""

    def __init__(self, tool: HttpTool, arguments: Json, columns: Mapping[str, str]) -> None:
        known = Columns(columns)
        self._values: dict[str, JsonValue] = {name: columns.get(known.find(name) or "", "") for name in tool.columns}
        self._values |= arguments

    def of(self, place: Placeholder) -> JsonValue:
        """The value; the placeholder's own words, or an empty text, where there is none."""
        value = self._values.get(place.name)
        return (place.default or "") if value is None or value == "" else value

    def text(self, place: Placeholder) -> str:
        """The value as text; lists and objects as JSON."""
        value = self.of(place)
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _header(name: str, value: str) -> str:
    try:
        return header_value(value.strip())
    except ValueError as error:
        raise UnfitArgument(f"The header {name} {error}. Call again with another value.") from error


def _url(tool: HttpTool, values: _Values, arguments: Json) -> str:
    def encoded(place: Placeholder) -> str:
        text = values.text(place)
        if not text.strip("."):  # a part of a path that is only dots leads elsewhere, and an empty one to a list
            raise UnfitArgument(
                f"{place.name} must not be {'empty' if not text else 'dots'} here. Call again with a value."
            )
        return quote(text, safe="")

    url = filled(tool.url, encoded)
    if tool.method in ("GET", "DELETE"):
        used = _names_in(tool)
        left = {name: _plain(value) for name, value in arguments.items() if name not in used and value is not None}
        if left:
            url = f"{url}{'&' if '?' in url else '?'}{urlencode(left, quote_via=quote)}"
    if len(url) > _MOST_URL:
        raise UnfitArgument("The arguments are too long for an address. Call again with shorter ones.")
    return url


def _plain(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _names_in(tool: HttpTool) -> set[str]:
    """The names in all templates of a tool."""
    return {place.name for text in (tool.url, *tool.headers.values()) for place in placeholders_in(text)}


def _body(tool: HttpTool, values: _Values, arguments: Json) -> bytes | None:
    if tool.method in ("GET", "DELETE"):
        return None
    value: Any = dict(arguments) if tool.body is None else _filled(tool.body, values)
    return json.dumps(value, ensure_ascii=False).encode()


def _filled(value: JsonValue, values: _Values) -> JsonValue:
    """A JSON template with its values. A text that is one placeholder becomes the value itself."""
    if isinstance(value, dict):
        return {name: _filled(one, values) for name, one in value.items()}
    if isinstance(value, list):
        return [_filled(one, values) for one in value]
    if not isinstance(value, str) or "{{" not in value:
        return value
    places = placeholders_in(value)
    if len(places) == 1 and filled(value, lambda _: "") == "":
        return values.of(places[0])
    return filled(value, values.text)


def column_names(tool: HttpTool) -> set[str]:
    """The names of placeholders anywhere in the tool."""
    return _names_in(tool) | {place.name for text in texts_in(tool.body) for place in placeholders_in(text)}
