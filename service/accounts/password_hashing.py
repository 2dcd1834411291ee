"""Hashes passwords with Argon2id, in worker threads, a few at once.

Parameters: OWASP Password Storage Cheat Sheet, 19 MiB, two passes, one lane. Hashing takes some 20 ms of a processor
on purpose, so it never stands inside a transaction.
"""

import secrets
from base64 import b64encode
from functools import cache
from typing import TYPE_CHECKING

from anyio import CapacityLimiter, to_thread

from callwright.contract.problems import SERVICE_UNAVAILABLE
from callwright.service.accounts.password_rules import LONGEST, normalized
from callwright.service.platform.refusals import Refusal

if TYPE_CHECKING:
    from argon2 import PasswordHasher

MEMORY_KIB, PASSES, LANES = 19_456, 2, 1
AT_ONCE = 2
"""Hashes that one process makes at once; each takes 19 MiB."""
MOST_WAITING = 50
"""Hashes that wait for their turn; a further one is refused."""


class PasswordHashing:
    """Makes and checks hashes. One for each process."""

    def __init__(self) -> None:
        self._limiter = CapacityLimiter(AT_ONCE)
        salt, digest = (b64encode(secrets.token_bytes(size)).rstrip(b"=").decode() for size in (16, 32))
        self._of_nobody = f"$argon2id$v=19$m={MEMORY_KIB},t={PASSES},p={LANES}${salt}${digest}"

    async def hashed(self, password: str) -> str:
        """The hash of a password, with its parameters and a fresh salt. Raises `Refusal` if too many wait."""
        self._check_waiting()
        return await to_thread.run_sync(lambda: _hasher().hash(normalized(password)), limiter=self._limiter)

    async def matches(self, password: str, known: str | None) -> bool:
        """Whether a password has a hash. Without a hash the same work is done, and the answer is no.

        Raises `Refusal` if too many wait.
        """
        self._check_waiting()
        found = known or self._of_nobody
        is_same = await to_thread.run_sync(_verified, found, normalized(password[: 4 * LONGEST]), limiter=self._limiter)
        return is_same and known is not None

    def is_old(self, known: str) -> bool:
        """Whether a hash has other parameters than hashes get now."""
        return _hasher().check_needs_rehash(known)

    def _check_waiting(self) -> None:
        if self._limiter.statistics().tasks_waiting >= MOST_WAITING:
            raise Refusal(SERVICE_UNAVAILABLE, "Too many people log in at this moment. Try again in a minute.")


@cache
def _hasher() -> "PasswordHasher":
    from argon2 import PasswordHasher  # a start does not wait for it

    return PasswordHasher(time_cost=PASSES, memory_cost=MEMORY_KIB, parallelism=LANES)


def _verified(known: str, password: str) -> bool:
    from argon2.exceptions import InvalidHashError, VerificationError

    try:
        return _hasher().verify(known, password)
    except (VerificationError, InvalidHashError):
        return False
