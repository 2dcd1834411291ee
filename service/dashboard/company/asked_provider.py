"""Asks a provider over HTTP: within a time, up to a size, without following where it leads."""

from collections.abc import Mapping
from typing import Any

import anyio
import httpx2
import orjson

LIMIT_S = 10.0
"""The longest that one answer may take."""
LONGEST = 256_000
"""Bytes of an answer."""


class ProviderFailed(Exception):
    """A provider did not answer as OpenID Connect says. Says what in a sentence without a full stop."""


async def asked(
    method: str,
    address: str,
    *,
    form: Mapping[str, str] | None = None,
    login: tuple[str, str] | None = None,
    limit_s: float = LIMIT_S,
) -> dict[str, Any]:
    """The JSON object of an answer with status 200. `login` is user and password. Raises `ProviderFailed`."""
    content = bytearray()
    try:
        with anyio.fail_after(limit_s):
            async with httpx2.AsyncClient(timeout=limit_s, trust_env=False, follow_redirects=False) as client:
                headers = {"Accept": "application/json"}
                auth = None if login is None else httpx2.BasicAuth(*login)
                async with client.stream(method, address, data=form, headers=headers, auth=auth) as answer:
                    async for piece in answer.aiter_bytes():
                        content += piece
                        if len(content) > LONGEST:
                            raise ProviderFailed("it answered with too much")
    except TimeoutError as error:
        raise ProviderFailed("it did not answer in time") from error
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise ProviderFailed("it cannot be reached") from error
    if answer.status_code != 200:
        raise ProviderFailed(f"it answered with status {answer.status_code}")
    try:
        found = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise ProviderFailed("its answer is no JSON") from error
    if not isinstance(found, dict):
        raise ProviderFailed("its answer is no JSON object")
    return found  # pyright: ignore[reportUnknownVariableType]
