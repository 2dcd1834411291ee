"""What an agent's call tools must be like, and how they are kept. Pure rules; the handler asks the database.

They are kept as one JSON text beside the other words of the agent: in its row, in its versions and by deployments.
"""

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from ipaddress import IPv4Network, IPv6Network
from urllib.parse import urlsplit

from pydantic import JsonValue, TypeAdapter

from callwright.contract.agents.call_tools import RESERVED_NAMES, TRANSFER, CallTool, CallTools, HttpTool, TransferTool
from callwright.contract.checks.argument_schemas import properties_of
from callwright.service.platform.json_text import json_text
from callwright.service.rules import transfer_destinations, webhook_url
from callwright.service.rules.templates import filled, placeholders_in
from callwright.service.rules.unfit_tools import Unfit

ANSWER = "answer"
"""The name that stands for the answer in what an agent says of it, as in `{{answer.times.0}}`."""
_WITHOUT_BODY = ("GET", "DELETE")
_SENT = "Tool calls"


@cache
def _adapter() -> TypeAdapter[list[CallTool]]:  # made when the first tool is read: a start needs none
    return TypeAdapter(CallTools)


@lru_cache(maxsize=256)
def _read(stored: str) -> tuple[CallTool, ...]:
    return tuple(_adapter().validate_json(stored))


def tools_in(stored: str | None) -> Sequence[CallTool]:
    """The tools of a stored text; none where there is none."""
    return _read(stored) if stored else ()


def stored_tools(tools: Sequence[CallTool]) -> str | None:
    """The text that is stored; None for no tools."""
    return json_text([tool.model_dump(mode="json", exclude_defaults=True) for tool in tools]) if tools else None


def columns_in(stored: str | None) -> list[str]:
    """The audience columns that tools need, each once."""
    return list(dict.fromkeys(name for tool in tools_in(stored) for name in _columns_of(tool)))


def _columns_of(tool: CallTool) -> Sequence[str]:
    if isinstance(tool, HttpTool):
        return tool.columns
    return transfer_destinations.columns_of(tool) if isinstance(tool, TransferTool) else ()


def origin_of(tool: HttpTool) -> str:
    """Scheme, host and port of the tool's address. A secret goes nowhere else."""
    parts = urlsplit(tool.url.partition("{{")[0])
    return f"{parts.scheme}://{parts.netloc.lower()}"


def check(tools: Sequence[CallTool], *, opened: Sequence[IPv4Network | IPv6Network]) -> None:
    """Raises `Unfit` for what contradicts itself. `opened` are ranges that the operator opened."""
    names = [tool.name for tool in tools]
    for index, tool in enumerate(tools):
        place = f"call_tools.{index}"
        if tool.name in RESERVED_NAMES:
            raise Unfit(f"{place}.name", f"must not be {tool.name}, which means something else to an agent")
        if tool.name in names[:index]:
            raise Unfit(f"{place}.name", f"must be unique; {tool.name} stands before already")
        if (tool.name == TRANSFER) != isinstance(tool, TransferTool):
            raise Unfit(f"{place}.name", f"must be {TRANSFER} for a tool of the type transfer, and for no other")
        if isinstance(tool, HttpTool):
            _check_http(tool, place, opened)
        if isinstance(tool, TransferTool):
            transfer_destinations.check(tool, place)
        _check_use(tool, place, names)


def _check_http(tool: HttpTool, place: str, opened: Sequence[IPv4Network | IPv6Network]) -> None:
    _check_url(tool.url, f"{place}.url", opened)
    if tool.body is not None and tool.method in _WITHOUT_BODY:
        raise Unfit(f"{place}.body", f"is not sent with {tool.method}; use POST, PUT or PATCH")
    names = [name.lower() for name in (*tool.headers, *tool.secret_headers)]
    if len(set(names)) < len(names):
        raise Unfit(f"{place}.secret_headers", "must not name a header twice, nor one of headers")
    known = {*properties_of(tool.parameters), *tool.columns}
    if both := set(properties_of(tool.parameters)) & set(tool.columns):
        raise Unfit(f"{place}.columns", f"must not have {min(both)}, which is an argument already")
    _check_names(tool.url, known, f"{place}.url")
    for header, value in tool.headers.items():
        _check_names(value, known, f"{place}.headers.{header}")
    for text in texts_in(tool.body):
        _check_names(text, known, f"{place}.body")


def _check_url(template: str, field: str, opened: Sequence[IPv4Network | IPv6Network]) -> None:
    head = template.partition("{{")[0]
    behind_scheme = head.partition("://")[2]
    if head != template and not any(mark in behind_scheme for mark in "/?"):
        raise Unfit(field, "must name scheme and host itself; placeholders stand behind the host")
    written = filled(template, lambda _: "x")
    if "{" in written or "}" in written:
        raise Unfit(field, "has a brace that belongs to no placeholder; a placeholder is {{name}}")
    try:
        webhook_url.check(written, opened=opened, sent=_SENT)
    except ValueError as error:
        raise Unfit(field, str(error)) from error


def _check_names(template: str, known: set[str], field: str) -> None:
    for place in placeholders_in(template):
        if place.name not in known:
            there = f"there are {', '.join(sorted(known))}" if known else "there are none"
            raise Unfit(
                field, f"has {{{{{place.name[:60]}}}}}, which is no argument in parameters and not in columns; {there}"
            )


def texts_in(value: JsonValue) -> Iterator[str]:
    """The texts in a JSON value, at any depth; names of objects are none."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from texts_in(one)
    elif isinstance(value, list):
        for one in value:
            yield from texts_in(one)


def _check_use(tool: CallTool, place: str, names: Sequence[str]) -> None:
    use = tool.use_when
    if use is None:
        return
    if tool.type == "call_back_at":
        raise Unfit(
            f"{place}.use_when", "is not for call_back_at: without a model a wish to be called later is heard by itself"
        )
    if tool.type == "transfer":
        raise Unfit(f"{place}.use_when", "is not for transfer: without a model a wish for a person is heard by itself")
    if tool.type == "press_keys" and tool.keys is None:
        raise Unfit(f"{place}.keys", "is required with use_when: without a model nobody says which keys")
    if use.after is not None and (use.after not in names or use.after == tool.name):
        others = ", ".join(name for name in names if name != tool.name) or "none"
        raise Unfit(f"{place}.use_when.after", f"must be the name of another tool; there are {others}")
    known: set[str] = set()
    if isinstance(tool, HttpTool):
        known = {*properties_of(tool.parameters), *tool.columns}
    for field, text in (("say", use.say), ("say_if_failed", use.say_if_failed)):
        for spoken in placeholders_in(text):
            is_answer = spoken.name.partition(".")[0] == ANSWER and field == "say" and isinstance(tool, HttpTool)
            if not is_answer and spoken.name not in known:
                raise Unfit(
                    f"{place}.use_when.{field}",
                    f"has {{{{{spoken.name[:60]}}}}}, which is no argument, no column and no part of {{{{answer}}}}",
                )
