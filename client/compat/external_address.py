"""Opens an address found in an answer, for example a call's `recording_url`, without trusting it.

* The API key is sent only to the service itself (same scheme, host and port), and never after a redirect.
* Other hosts need https. A service on this machine that uses plain http may name others on this machine.
* Other hosts must be public: not in a private network, on this machine or on the local link, unless the service itself
  is there. Every IP address of the host is checked, and the connection goes to one of them.
* At most three redirects are followed, and the rules apply to each.
* The caller gives the media types and the limits of time and bytes.
"""

from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar
from urllib.parse import urljoin

import anyio

from callwright.client.compat.network_place import Place, places_of
from callwright.client.errors import AddressUnreadable, AnswerTooLarge
from callwright.client.transport import Request, Response, Transport, close_response, httpx, read_whole

T = TypeVar("T")
Accepts = Callable[[str], bool]
"""Whether a media type, for example `audio/mpeg`, is accepted. It is empty where the answer states none."""

ADDRESS_LIMIT_S = 10.0
"""Seconds from the first connection to the last byte."""
MOST_REDIRECTS = 3
USER_AGENT = "callwright-client"
_MOST_TRIED = 4
_LONGEST_URL = 4_000
_REDIRECTS = (301, 302, 303, 307, 308)
_UNTOLD = ("", "application/octet-stream", "binary/octet-stream")
_NOT_TRANSCRIPTS = ("text/html", "text/css", "text/javascript")


def transcript_type(media_type: str) -> bool:
    """Whether it may be the media type of a transcript: JSON, or text that is not a web page."""
    json = media_type == "application/json" or media_type.endswith("+json")
    text = media_type.startswith("text/") and media_type not in _NOT_TRANSCRIPTS
    return json or text or media_type in ("application/x-subrip", *_UNTOLD)


def sound_type(media_type: str) -> bool:
    """Whether it may be the media type of a recording."""
    return media_type.startswith("audio/") or media_type in _UNTOLD


def json_type(media_type: str) -> bool:
    """Whether it may be the media type of JSON."""
    return media_type.endswith(("/json", "+json")) or media_type in ("text/plain", *_UNTOLD)


class AddressContent:
    """An answer from an address, opened but not read. `size` is in bytes, None where the answer does not state it."""

    def __init__(self, response: Response, host: str, deadline: float) -> None:
        self._response, self._host, self._deadline = response, host, deadline
        self.media_type = _media_type(response)
        self.etag = response.headers.get("etag")
        length = response.headers.get("content-length", "")
        encoded = response.headers.get("content-encoding", "identity") != "identity"
        self.size = int(length) if length.isascii() and length.isdigit() and len(length) <= 15 and not encoded else None

    async def read(self, max_bytes: int, /) -> bytes:
        """All bytes, if there are at most `max_bytes`.

        Raises:
            AnswerTooLarge: there are more.
            AddressUnreadable: the connection breaks, or the time is over.
        """
        if self.size is not None and self.size > max_bytes:
            raise AnswerTooLarge(limit_bytes=max_bytes)
        return await _in_time(read_whole(self._response, max_bytes), self._host, self._deadline)


@asynccontextmanager
async def opened(
    transport: Transport, url: str, *, accepts: Accepts, limit_s: float = ADDRESS_LIMIT_S, chosen_by_user: bool = False
) -> AsyncGenerator[AddressContent]:
    """Opens an address; a relative one belongs to the service.

    `chosen_by_user` says that a person chose the address, so it may be in any network. Only the service gets the key.

    Raises:
        AddressUnreadable: it must not be opened, cannot be reached, or answers with an error or another media type.
    """
    deadline = anyio.current_time() + limit_s
    address = address_of(transport, url)
    response = await _in_time(_followed(transport, address, chosen_by_user=chosen_by_user), address.host, deadline)
    try:
        if not response.is_success:
            raise AddressUnreadable(f"{address.host} answered with status {response.status_code}")
        media_type = _media_type(response)
        if not accepts(media_type):
            raise AddressUnreadable(f"{address.host} answered with content of type {media_type[:100]}")
        yield AddressContent(response, address.host, deadline)
    finally:
        await close_response(response)


async def _followed(transport: Transport, address: httpx.URL, *, chosen_by_user: bool) -> Response:
    with_key, headers = True, {"Accept": "*/*", "Accept-Encoding": "identity", "User-Agent": USER_AGENT}
    for _ in range(MOST_REDIRECTS + 1):
        asked = Request("GET", address, headers=headers)
        response = await sent(transport, asked, with_key=with_key, chosen_by_user=chosen_by_user)
        target = response.headers.get("location")
        if response.status_code not in _REDIRECTS or target is None:
            return response
        await close_response(response)
        address, with_key = address_of(transport, urljoin(str(address), target)), False
    raise AddressUnreadable(f"{address.host} answered after more than {MOST_REDIRECTS} redirects")


async def sent(transport: Transport, asked: Request, *, with_key: bool, chosen_by_user: bool = False) -> Response:
    """Sends a request once, if its address may be used. The caller closes the answer.

    Raises:
        AddressUnreadable: the address must not be used.
        httpx.RequestError: there was no answer.
    """
    address = asked.url
    if _origin(address) == _origin(httpx.URL(transport.base_url)):
        return await transport.send_once(asked, to_service=True, with_key=with_key)
    if chosen_by_user:
        return await transport.send_once(asked, to_service=False, with_key=False)
    ways = list(await _allowed(transport, address))[:_MOST_TRIED]
    for number, way in enumerate(ways, start=1):
        # Connects to an address that was checked. A second look-up of the name could give another one.
        request = Request(
            asked.method,
            address.copy_with(host=way),
            headers={**asked.headers, "host": address.netloc.decode("ascii")},
            content=asked.content,
            extensions={} if way == address.host else {"sni_hostname": address.host},
        )
        try:
            return await transport.send_once(request, to_service=False, with_key=False)
        except (httpx.ConnectError, httpx.ConnectTimeout):
            if number == len(ways):
                raise
    raise AddressUnreadable(f"{address.host} does not exist")


async def _allowed(transport: Transport, address: httpx.URL) -> dict[str, Place]:
    """The IP addresses that may be connected to."""
    found = await _places(transport, address)
    if not found:
        raise AddressUnreadable(f"{address.host} does not exist")
    if address.scheme == "https" and set(found.values()) == {"public"}:
        return found
    home = httpx.URL(transport.base_url)
    at_home = set((await _places(transport, home)).values())
    if not set(found.values()) <= {"public", *at_home} - {"reserved"}:
        raise AddressUnreadable(f"{address.host} lies in a network that is not open to this service")
    on_this_machine = home.scheme == "http" and at_home == {"loopback"} == set(found.values())
    if address.scheme != "https" and not on_this_machine:
        raise AddressUnreadable(f"{address.host} is addressed without https")
    return found


async def _places(transport: Transport, address: httpx.URL) -> dict[str, Place]:
    try:
        return await places_of(address.host, address.port or 443, transport.resolve)
    except OSError:
        return {}


def address_of(transport: Transport, url: str) -> httpx.URL:
    """The address that an answer names, whole. Raises `AddressUnreadable` if it names none."""
    try:
        if len(url) > _LONGEST_URL:
            raise AddressUnreadable("the address is too long")
        address = httpx.URL(urljoin(f"{transport.base_url}/", url)).copy_with(fragment=None)
    except (httpx.InvalidURL, ValueError):
        raise AddressUnreadable("the address is not a URL") from None
    if address.scheme not in ("http", "https") or not address.host:
        raise AddressUnreadable("the address does not begin with http:// or https://")
    if address.userinfo:
        raise AddressUnreadable("the address holds a user and a password")
    return address


def _origin(address: httpx.URL) -> tuple[str, str, int]:
    return address.scheme, address.host, address.port or (443 if address.scheme == "https" else 80)


async def _in_time(work: Coroutine[Any, Any, T], host: str, deadline: float) -> T:
    try:
        with anyio.fail_after(max(0.0, deadline - anyio.current_time())):
            return await work
    except (TimeoutError, httpx.TimeoutException):
        raise AddressUnreadable(f"{host} did not answer in time") from None
    except (httpx.RequestError, httpx.InvalidURL):
        raise AddressUnreadable(f"{host} cannot be reached") from None


def _media_type(response: Response) -> str:
    return response.headers.get("content-type", "").partition(";")[0].strip().lower()
