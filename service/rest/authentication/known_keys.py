"""Caches of keys. A revocation takes effect at once with both."""

from callwright.service.accounts.principals import RequestPrincipal, fingerprint
from callwright.service.platform.database.database import Database
from callwright.service.platform.database.units import brief
from callwright.service.rest.authentication.api_key_check import identify

MOST_KEYS = 1_000
"""The most keys in the cache; further ones are not cached."""

RECENT_MS = 5_000
"""How long a key is recent. So long may a change of a plan's limits take to take effect for writes."""

_IDENTIFY = brief(identify)


class KnownKeys:
    """Finds the principal of a secret, without reading the database again while nothing has changed in it.

    On SQLite a number changes with every commit of any process. On Postgres there is no such number, and every key is
    looked up each time.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._found: dict[str, RequestPrincipal] = {}
        self.generation: int | None = None
        """`Database.generation` when a key was last looked for; None on Postgres."""

    def remembered(self, secret: str) -> RequestPrincipal | None:
        """The principal of the key, if it was looked up and nothing was committed since."""
        generation = self._database.generation()
        if generation is None or generation != self.generation:
            self._found.clear()
            self.generation = generation
        return self._found.get(fingerprint(secret))

    async def find(self, secret: str) -> RequestPrincipal:
        """The principal of a key, see `identify`. Raises `Refusal`: invalid_api_key if it is unknown or revoked."""
        found = self.remembered(secret)
        if found is not None:
            return found
        generation = self.generation
        found = await self._database.read(_IDENTIFY, secret)
        if generation is not None and generation == self.generation and len(self._found) < MOST_KEYS:
            self._found[fingerprint(secret)] = found
        return found


class RecentKeys:
    """The principals of keys that were valid a moment ago, to count writes by.

    A write asks for its key again, in its transaction and with a lock; only then is it done.
    """

    def __init__(self) -> None:
        self._found: dict[str, tuple[RequestPrincipal, int]] = {}

    def find(self, secret: str, now_ms: int) -> RequestPrincipal | None:
        """The principal, if the key was looked up within the last `RECENT_MS`."""
        principal, found_ms = self._found.get(fingerprint(secret), (None, 0))
        return principal if 0 <= now_ms - found_ms < RECENT_MS else None

    def keep(self, secret: str, principal: RequestPrincipal, now_ms: int) -> None:
        """Remembers a key that was just found. All others are forgotten when there are too many."""
        if len(self._found) >= MOST_KEYS:
            self._found.clear()
        self._found[fingerprint(secret)] = (principal, now_ms)
