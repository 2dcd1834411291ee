"""For which host passkeys are: the public address, or `localhost` on the machine of the service.

Browsers make passkeys only where TLS or the machine itself protects the page, and only for names, not for addresses
like 127.0.0.1. Source: W3C Web Authentication, level 3, section 5.1.3; W3C Secure Contexts.
"""

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request

from callwright.service.accounts.passkeys import RelyingParty
from callwright.service.services import Services

_ON_THIS_MACHINE = "localhost"
_LOOPBACK = ("127.0.0.1", "::1")


class NoPasskeys(Exception):
    """Passkeys are not possible at the address of this page. Says why, and what to do."""

    def __init__(self, words: str, address: str | None = None) -> None:
        super().__init__(words)
        self.address = address
        """Where they are possible."""


def relying_party(services: Services, request: Request) -> RelyingParty:
    """The host for which passkeys are. Raises `NoPasskeys`."""
    public = services.settings.public_url
    root = public or f"{request.url.scheme}://{request.headers.get('host', '')}"
    try:
        place = urlsplit(root)
        host, port = place.hostname or "", place.port
    except ValueError:
        host, port, place = "", None, urlsplit("")
    if public is None and host != _ON_THIS_MACHINE:
        if host in _LOOPBACK:
            address = f"http://{_ON_THIS_MACHINE}{'' if port is None else f':{port}'}"
            raise NoPasskeys("Browsers make passkeys for names, not for the address of this page. Use", address)
        raise NoPasskeys("Passkeys need a public address with https. The setting CALLWRIGHT_PUBLIC_URL names it.")
    if place.scheme != "https" and host != _ON_THIS_MACHINE:
        raise NoPasskeys("Passkeys need https. The public address of this service begins with http.")
    if _is_ip(host):
        raise NoPasskeys("Passkeys need a name like voice.example.com. The public address of this service has none.")
    is_usual = port is None or (place.scheme, port) in (("https", 443), ("http", 80))
    return RelyingParty(host, f"{place.scheme}://{host}{'' if is_usual else f':{port}'}")


def possible(services: Services, request: Request) -> Mapping[str, Any]:
    """Whether passkeys are possible at the address of a page: else why not, and where."""
    try:
        relying_party(services, request)
    except NoPasskeys as refused:
        return {"no_passkeys": str(refused), "passkeys_at": refused.address}
    return {"no_passkeys": "", "passkeys_at": None}


def _is_ip(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
