"""Keys that were looked up already. Each is forgotten with the next commit of anybody, so revoking holds at once."""

from callwright.service.accounts.principals import KeyPrincipal, fingerprint, identify
from callwright.service.platform.database.database import Database
from callwright.service.platform.database.units import brief

MOST_KEYS = 1_000
"""Keys remembered at a time; then all are forgotten."""

_IDENTIFY = brief(identify)


class KnownKeys:
    """Whose key a secret is, without asking the database again while nothing has changed in it.

    On SQLite that is told by a number which changes with every commit of any process. On Postgres every key is looked
    up each time.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._found: dict[str, KeyPrincipal] = {}
        self.generation: int | None = None
        """The state of the database in which a key was last looked for; None on Postgres."""

    def remembered(self, secret: str) -> KeyPrincipal | None:
        """The key, if it was looked up and nothing was committed since."""
        generation = self._database.generation()
        if generation is None or generation != self.generation:
            self._found.clear()
            self.generation = generation
        return self._found.get(fingerprint(secret))

    async def find(self, secret: str) -> KeyPrincipal:
        """Whose key this is, as `identify` says it. Raises `Refusal`: invalid_api_key when it is unknown or revoked."""
        found = self.remembered(secret)
        if found is not None:
            return found
        generation = self.generation
        found = await self._database.read(_IDENTIFY, secret)
        if generation is not None and generation == self.generation and len(self._found) < MOST_KEYS:
            self._found[fingerprint(secret)] = found
        return found
