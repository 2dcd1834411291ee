"""The sessions of the MCP server over HTTP: one for each key, found by the key of the request."""

import hmac
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from pydantic import Field

from callwright.server.mcp.session import ServerSession, process_of

if TYPE_CHECKING:
    from callwright.tools.runtime.tool_context import Caller, Clock, ConfirmBy, ConfirmMode

MOST_SESSIONS = 1_000
"""The most sessions kept. Beyond it, the least recently used one is dropped, and created again on demand."""

ToolsOf = Callable[[str | None], frozenset[str] | None]
"""The tools that a profile switches on, None for all of them. The profile is None for a key of an organization."""


@dataclass(frozen=True)
class IdentifiedKey:
    """A valid key. `profile` limits the tools of a personal key; a key of an organization has none."""

    id: str
    org_id: str
    is_personal: bool
    profile: str | None
    secret: str = field(repr=False)


class KeyLookUpFailed(Exception):
    """The key cannot be looked up at the moment. Status, message and headers are those of REST's answer."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str]) -> None:
        self.status, self.message, self.headers = status, message, headers
        super().__init__(message)


class KeyDirectory(Protocol):
    """Finds the keys of the service, and returns a client for each."""

    async def look_up(self, secret: str, /) -> IdentifiedKey | None:
        """The key with this text; None where it is unknown or revoked. Raises `KeyLookUpFailed`."""
        ...

    def count_unknown(self, address: str, /) -> Mapping[str, str] | None:
        """Counts an unknown key that came from an address. Gives the headers of a 429 when it is one too many."""
        ...

    def limit_headers(self, most: int, wait_s: float, /) -> Mapping[str, str]:
        """The headers of a 429 for a key at its limit of `most` requests or sessions, for `wait_s` seconds."""
        ...

    def client(self, key: IdentifiedKey, /) -> "Caller":
        """A client that works as this key."""
        ...


class KeyToken(AccessToken):
    """The key of a request, in the form that the SDK passes to handlers."""

    key: IdentifiedKey = Field(exclude=True, repr=False)


def token_of(key: IdentifiedKey) -> KeyToken:
    """The token of a key. The SDK binds sessions and sealed states to its ids; the key's secret is not among them."""
    return KeyToken(token=key.id, client_id=key.id, subject=key.org_id, scopes=[], key=key)


class KeySessions:
    """A session for each key: its own client, its own tools.

    `base_url` is the base URL of REST, with the version prefix. REST refuses personal keys, so their sessions have no
    base URL. Each key's session has a secret derived from `seal`, which is the same in every process of one
    installation.
    """

    def __init__(
        self,
        keys: KeyDirectory,
        *,
        ids: Callable[[], str],
        clock: "Clock",
        seal: bytes,
        base_url: str | None,
        tools_of: ToolsOf,
        confirm: "ConfirmMode" = "real",
        confirm_by: "ConfirmBy" = "sentence",
        masks: bool = True,
        most: int = MOST_SESSIONS,
    ) -> None:
        self._keys, self._ids, self._clock, self._seal = keys, ids, clock, seal
        self._base_url, self._tools_of, self._most = base_url, tools_of, most
        self._confirm: ConfirmMode = confirm
        self._confirm_by: ConfirmBy = confirm_by
        self._masks = masks
        self._process = process_of(ids())
        self._sessions: OrderedDict[str, ServerSession] = OrderedDict()

    def __len__(self) -> int:
        return len(self._sessions)

    def current(self) -> ServerSession:
        """The session of the current request's key."""
        return self.session(current_key())

    def session(self, key: IdentifiedKey) -> ServerSession:
        """The session of a key."""
        found = self._sessions.get(key.id)
        if found is None:
            client = self._keys.client(key)
            found = self._sessions[key.id] = ServerSession(
                lambda: nullcontext(client),
                ids=self._ids,
                clock=self._clock,
                base_url=None if key.is_personal else self._base_url,
                enabled=self._tools_of(key.profile),
                confirm=self._confirm,
                confirm_by=self._confirm_by,
                masks=self._masks,
                secret=hmac.digest(self._seal, key.id.encode(), "sha256"),
                process=self._process,
                connected=client,
            )
            if len(self._sessions) > self._most:
                self._sessions.popitem(last=False)
        self._sessions.move_to_end(key.id)
        return found


def current_key() -> IdentifiedKey:
    """The current request's key. Raises RuntimeError outside a request over HTTP."""
    token = get_access_token()
    if not isinstance(token, KeyToken):
        raise RuntimeError("a request reached the tools without a key")
    return token.key
