"""The key of a request to the MCP server over HTTP: looked up each time; 401 without a valid one.

Source: RFC 6750 (bearer tokens), RFC 9728 (protected resource metadata).
"""

import json

from mcp.server.auth.middleware.auth_context import AuthContextMiddleware
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from starlette.authentication import AuthCredentials
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from callwright.server.transport.key_sessions import KeyDirectory, KeyLookUpFailed, token_of

METADATA = "/.well-known/oauth-protected-resource"
"""Below it is the metadata of each protected path: `…/mcp` describes `/mcp`."""

_ABSENT = "Send Authorization: Bearer with a key: `callwright keys create` makes one, with --personal for one person."
_UNKNOWN = "The key is unknown or revoked."
_UNANSWERED = {503: "temporarily_unavailable"}
_TOO_MANY = "Too many unknown keys came from this address."


def origin_of(scope: Scope) -> str:
    """The origin that the client has used, for example https://mcp.example.com. The host was checked before."""
    return f"{scope['scheme']}://{Headers(scope=scope).get('host', '')}{scope.get('root_path', '')}"


def metadata_of(scope: Scope, path: str) -> Response:
    """The RFC 9728 metadata of a protected path. No authorization server is named: the operator creates the keys."""
    about = {
        "resource": origin_of(scope) + path,
        "resource_name": "Callwright",
        "bearer_methods_supported": ["header"],
    }
    return Response(json.dumps(about), media_type="application/json")


class KeyRequired:
    """Lets requests with a valid key pass, and makes the key known to their handlers.

    The key is looked up each time, so that revoking it takes effect on the next request.
    """

    def __init__(self, app: ASGIApp, keys: KeyDirectory) -> None:
        self._app = AuthContextMiddleware(app)
        self._keys = keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers 401 with the address of the metadata, or passes the request on.

        429 if too many unknown keys came from the address, here and at REST together; 503 if keys cannot be looked up,
        for example while the database is down.
        """
        secret = _bearer(Headers(scope=scope).get("authorization"))
        try:
            key = await self._keys.look_up(secret) if secret is not None else None
        except KeyLookUpFailed as failed:
            said = {"error": _UNANSWERED.get(failed.status, "server_error"), "error_description": failed.message}
            answer = Response(json.dumps(said), failed.status, failed.headers, media_type="application/json")
            await answer(scope, receive, send)
            return
        if key is None:
            client: tuple[str, int] | None = scope.get("client")
            headers = self._keys.count_unknown(client[0]) if secret is not None and client else None
            if headers is not None:
                said = {"error": "rate_limited", "error_description": _TOO_MANY}
                await Response(json.dumps(said), 429, headers, media_type="application/json")(scope, receive, send)
                return
            await _refusal(scope, was_sent=secret is not None)(scope, receive, send)
            return
        user = AuthenticatedUser(token_of(key))
        await self._app({**scope, "user": user, "auth": AuthCredentials()}, receive, send)


def _bearer(header: str | None) -> str | None:
    scheme, _, token = (header or "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" and token.strip() else None


def _refusal(scope: Scope, *, was_sent: bool) -> Response:
    """The 401. RFC 6750 wants an error code only if a key was sent."""
    path: str = scope["path"]
    where = f'resource_metadata="{origin_of(scope)}{METADATA}{path if path in ("/mcp", "/sse") else "/sse"}"'
    challenge = (
        f'Bearer error="invalid_token", error_description="{_UNKNOWN}", {where}' if was_sent else f"Bearer {where}"
    )
    said = {"error": "invalid_token", "error_description": _UNKNOWN if was_sent else _ABSENT}
    return Response(json.dumps(said), 401, {"WWW-Authenticate": challenge}, media_type="application/json")
