"""Lines by a keyed hash, where something must be known of a number whose person may have been deleted.

Only who has the secret of the installation could find a number by trying.
"""

import hashlib
import hmac
from collections.abc import Sequence

from sqlalchemy import Connection, select

from callwright.service.tables.schema import service_state

SECRET = "person_secret"
"""The name of the secret of the hash, which a service makes when it starts."""
_LENGTH = 32
_SECRET = select(service_state.c.value).where(service_state.c.name == SECRET)


def hashes(connection: Connection, org_id: str, lines: Sequence[str]) -> list[str]:
    """The hash of each line, of 32 characters, for one organization."""
    secret = bytes.fromhex(connection.execute(_SECRET).scalar_one())
    return [hmac.new(secret, f"{org_id} {line}".encode(), hashlib.sha256).hexdigest()[:_LENGTH] for line in lines]
