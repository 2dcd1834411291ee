"""Secrets at rest: encrypted with the secrets key of the installation, and each bound to what it belongs to.

The secrets key is `CALLWRIGHT_SECRETS_KEY`, or else a file in the data folder that is made when the first secret is
stored. It is not in the database, so that a copy of the database holds no secret that can be read.
"""

import json
import os
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from callwright.contract.checks.secrets_keys import KEY_BYTES, keys_in
from callwright.service.settings import ServiceSettings

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet

KEY_FILE = "secrets.key"


class SecretUnreadable(Exception):
    """A stored secret cannot be read: it was encrypted with another secrets key, or belongs to something else."""


def load() -> None:
    """Imports the library, which takes some ten milliseconds, before a transaction has to wait for it."""
    import_module("cryptography.fernet")


class SecretBox:
    """Encrypts and decrypts with the secrets key of an installation. Reading never makes a key."""

    def __init__(self, settings: ServiceSettings) -> None:
        self._given, self._folder = settings.secrets_key, settings.data

    def encrypt(self, secret: str, bound_to: Sequence[str]) -> str:
        """The secret as it is stored. It can be read only by whoever names the same `bound_to`.

        Raises:
            SecretUnreadable: the file of the secrets key is there and holds none.
            OSError: the file of the secrets key cannot be made.
        """
        return self._fernet(make=True).encrypt(json.dumps([*bound_to, secret]).encode()).decode()

    def decrypt(self, stored: str, bound_to: Sequence[str]) -> str:
        """The secret. Raises `SecretUnreadable`."""
        from cryptography.fernet import InvalidToken

        try:
            *owner, secret = json.loads(self._fernet(make=False).decrypt(stored.encode()))
        except InvalidToken:
            raise SecretUnreadable("it was encrypted with another secrets key") from None
        if owner != [*bound_to]:
            raise SecretUnreadable("it was stored for something else")
        return secret

    def _fernet(self, *, make: bool) -> "MultiFernet":
        from cryptography.fernet import Fernet, MultiFernet

        try:
            keys = keys_in(self._given or _stored_key(self._folder / KEY_FILE, make=make))
        except ValueError:
            raise SecretUnreadable(f"{self._folder / KEY_FILE} holds no secrets key") from None
        return MultiFernet([Fernet(key) for key in keys])


def _stored_key(path: Path, *, make: bool) -> str:
    """The text of the key's file. `make` makes the file if there is none, whole and for its owner alone."""
    try:
        return path.read_text(encoding="ascii")
    except FileNotFoundError:
        if not make:
            raise SecretUnreadable(f"the secrets key is gone: there is no {path}") from None
    except (OSError, UnicodeError):
        raise SecretUnreadable(f"{path} cannot be read") from None
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(urlsafe_b64encode(secrets.token_bytes(KEY_BYTES)).decode() + "\n")
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):  # another process has just made its key, which a rename would replace
            os.link(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    return path.read_text(encoding="ascii")
