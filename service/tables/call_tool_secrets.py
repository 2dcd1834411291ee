"""The secret headers of call tools in the row of their agent: JSON by tool and header, each value encrypted.

A secret belongs to a tool's name and to the address that it was set for, not to a version of the agent: an earlier
version that is brought back has the newest secret, and a tool that asks another address has none.
"""

import json
from collections.abc import Iterator, Mapping, Sequence

from callwright.contract.agents.call_tools import CallTool, CallToolSecret, HttpTool, http_tools
from callwright.service.platform.json_text import json_text
from callwright.service.platform.secret_box import SecretBox, SecretUnreadable
from callwright.service.rules.call_tools import origin_of

_Stored = dict[str, dict[str, dict[str, str]]]


def _read(stored: str | None) -> _Stored:
    return json.loads(stored) if stored else {}


def _found(kept: _Stored, tool: HttpTool, header: str) -> str | None:
    """The encrypted value that goes with a tool's header, where it was set for the tool's address."""
    entry = kept.get(tool.name, {}).get(header.lower())
    return entry["encrypted"] if entry is not None and entry["sent_to"] == origin_of(tool) else None


def shown(stored: str | None, tools: Sequence[CallTool]) -> list[CallToolSecret]:
    """The secret headers of tools, without their values."""
    kept = _read(stored)
    return [
        CallToolSecret(
            tool=tool.name, header=header, is_set=_found(kept, tool, header) is not None, sent_to=origin_of(tool)
        )
        for tool in http_tools(tools)
        for header in tool.secret_headers
    ]


def with_secret(
    stored: str | None, tool: HttpTool, header: str, value: str, box: SecretBox, owner: tuple[str, str]
) -> str | None:
    """The stored text with a secret, or without it if the value is empty. `owner`: the organization and the agent.

    Raises:
        SecretUnreadable: it cannot be encrypted.
    """
    kept, name, sent_to = _read(stored), header.lower(), origin_of(tool)
    headers = {key: entry for key, entry in kept.pop(tool.name, {}).items() if key != name}
    if value:
        encrypted = box.encrypt(value, (*owner, tool.name, name, sent_to))
        headers[name] = {"sent_to": sent_to, "encrypted": encrypted}
    if headers:
        kept[tool.name] = headers
    return json_text(kept) if kept else None


def values_of(
    stored: str | None, tools: Sequence[CallTool], box: SecretBox, owner: tuple[str, str]
) -> Mapping[str, Mapping[str, str]]:
    """The secret headers with their values by tool. What is not set or cannot be read is left out."""
    return {tool.name: dict(_values(_read(stored), tool, box, owner)) for tool in http_tools(tools)}


def _values(kept: _Stored, tool: HttpTool, box: SecretBox, owner: tuple[str, str]) -> Iterator[tuple[str, str]]:
    for header in tool.secret_headers:
        encrypted = _found(kept, tool, header)
        if encrypted is not None:
            try:
                yield header, box.decrypt(encrypted, (*owner, tool.name, header.lower(), origin_of(tool)))
            except SecretUnreadable:
                continue


def encrypted_again(stored: str, box: SecretBox, owner: tuple[str, str]) -> tuple[str, int, list[str]]:
    """The text with all values encrypted with the first secrets key, how many there are, and the tools of those that
    cannot be read, which stay as they are.
    """
    kept, done, unreadable = _read(stored), 0, list[str]()
    for tool, headers in kept.items():
        for header, entry in headers.items():
            bound_to = (*owner, tool, header, entry["sent_to"])
            try:
                entry["encrypted"] = box.encrypt(box.decrypt(entry["encrypted"], bound_to), bound_to)
                done += 1
            except SecretUnreadable:
                unreadable.append(f"{owner[1]}/{tool}")
    return json_text(kept), done, unreadable
