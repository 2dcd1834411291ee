"""Limits failed attempts with keys by address, to slow down guessing. Valid keys are never limited by it.

Source: RFC 6177 and RFC 7421: one site of IPv6 has a network of 64 bits at least.
"""

from collections import OrderedDict
from functools import lru_cache
from ipaddress import IPv6Address, IPv6Network, ip_address

from callwright.service.platform.clock.clock import SECOND
from callwright.service.rules.request_rate import RateLimitState

ALLOWED = 30
"""Unknown keys that one address may send in a minute."""
WINDOW_MS = 60_000
ALLOWED_PER_ACCOUNT = 10
"""Wrong passwords of one account in `ACCOUNT_WINDOW_MS`."""
ACCOUNT_WINDOW_MS = 900_000
LINKS_PER_ACCOUNT = 3
"""Links for a forgotten password of one account in `LINK_WINDOW_MS`."""
LINK_WINDOW_MS = 3_600_000
MOST_ADDRESSES = 10_000
"""The most addresses or accounts remembered; beyond that the one whose window began first is forgotten."""


@lru_cache(maxsize=1_000)
def counted_as(address: str) -> str:
    """What an address is counted as: an IPv6 address as its network of 64 bits, since one machine has all of those.

    An IPv4 address that is written as IPv6 is counted as itself, and so is what is no address.
    """
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(found, IPv6Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(IPv6Network((int(found), 64), strict=False))


class CountedAttempts:
    """Counts attempts of each name in windows of time. One for each process, in memory."""

    def __init__(self, *, allowed: int = ALLOWED, window_ms: int = WINDOW_MS) -> None:
        self._allowed, self._window_ms = allowed, window_ms
        self._windows: OrderedDict[str, tuple[int, int]] = OrderedDict()

    def note(self, name: str, now_ms: int) -> RateLimitState | None:
        """Counts one more attempt. Returns the state of the limit if it is exceeded, else None."""
        begun_ms, count = self._windows.get(name, (now_ms, 0))
        if not 0 <= now_ms - begun_ms < self._window_ms:
            begun_ms, count = now_ms, 0
        if count == 0:
            self._windows.pop(name, None)
            if len(self._windows) >= MOST_ADDRESSES:
                self._windows.popitem(last=False)
        self._windows[name] = (begun_ms, count + 1)
        if count < self._allowed:
            return None
        end_ms = begun_ms + self._window_ms
        return RateLimitState(self._allowed, 0, end_ms, end_ms, self._window_ms // SECOND, refused="second")

    def take_back(self, name: str) -> None:
        """Takes one attempt back that was counted before it was known to be right."""
        begun_ms, count = self._windows.get(name, (0, 0))
        if count > 0:
            self._windows[name] = (begun_ms, count - 1)


class FailedAttempts(CountedAttempts):
    """Counts failed attempts of each address in windows of a minute. Addresses are those of `counted_as`."""

    def note(self, name: str, now_ms: int) -> RateLimitState | None:
        """Counts one more attempt of an address. Returns the state of the limit if it is exceeded, else None."""
        return super().note(counted_as(name), now_ms)

    def take_back(self, name: str) -> None:
        """Takes one attempt of an address back."""
        super().take_back(counted_as(name))


class LoginAttempts:
    """Counts attempts with passwords, by address and by account, before the work of hashing.

    An account whose attempts are used up takes passwords again after a quarter of an hour, and links all the while.
    """

    def __init__(self) -> None:
        self._by_address = FailedAttempts()
        self._by_account = CountedAttempts(allowed=ALLOWED_PER_ACCOUNT, window_ms=ACCOUNT_WINDOW_MS)
        self._links = CountedAttempts(allowed=LINKS_PER_ACCOUNT, window_ms=LINK_WINDOW_MS)

    def of_address(self, address: str | None, now_ms: int) -> RateLimitState | None:
        """Counts an attempt of an address. Returns the state of the limit if it is exceeded, else None."""
        return None if address is None else self._by_address.note(address, now_ms)

    def of_account(self, account: str, now_ms: int) -> RateLimitState | None:
        """Counts an attempt with an account, also with one that does not exist."""
        return self._by_account.note(account, now_ms)

    def of_link(self, account: str, now_ms: int) -> bool:
        """Counts a link that is asked for; whether it may be made."""
        return self._links.note(account, now_ms) is None

    def right(self, account: str, address: str | None = None) -> None:
        """Takes back what was counted of an attempt that was right."""
        self._by_account.take_back(account)
        if address is not None:
            self._by_address.take_back(address)
