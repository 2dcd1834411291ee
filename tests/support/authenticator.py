"""An authenticator in software: it makes passkeys and answers challenges as a device and its browser do together."""

import base64
import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from webauthn.helpers import encode_cbor

_PRESENT, _VERIFIED, _ATTESTED = 0x01, 0x04, 0x40


def in_base64url(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def from_base64url(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@dataclass
class Authenticator:
    """One passkey on one device. The fields may be changed, to answer as no honest device does."""

    origin: str
    rp_id: str = "localhost"
    is_verified: bool = True
    count: int = 1
    user_handle: bytes = b""
    id: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    _key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    def made(self, options: Mapping[str, Any]) -> str:
        """The browser's answer to a challenge to add a passkey, as JSON."""
        self.user_handle = from_base64url(options["user"]["id"])
        numbers = self._key.public_key().public_numbers()
        key = {1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32, "big"), -3: numbers.y.to_bytes(32, "big")}
        credential = bytes(16) + len(self.id).to_bytes(2, "big") + self.id + encode_cbor(key)
        attested: dict[str, Any] = {"fmt": "none", "attStmt": {}, "authData": self._data(_ATTESTED) + credential}
        said = self._client_data("webauthn.create", options["challenge"])
        return self._answer(clientDataJSON=said, attestationObject=encode_cbor(attested))

    def proved(self, options: Mapping[str, Any]) -> str:
        """The browser's answer to a challenge to log in, as JSON. The counter grows by one."""
        self.count += 1
        said, data = self._client_data("webauthn.get", options["challenge"]), self._data(0)
        signature = self._key.sign(data + hashlib.sha256(said).digest(), ec.ECDSA(SHA256()))
        return self._answer(
            clientDataJSON=said, authenticatorData=data, signature=signature, userHandle=self.user_handle
        )

    def renew_key(self) -> None:
        """Signs with another key from now on."""
        self._key = ec.generate_private_key(ec.SECP256R1())

    def _data(self, flags: int) -> bytes:
        flags |= _PRESENT | (_VERIFIED if self.is_verified else 0)
        return hashlib.sha256(self.rp_id.encode()).digest() + bytes([flags]) + self.count.to_bytes(4, "big")

    def _client_data(self, kind: str, challenge: str) -> bytes:
        return json.dumps({"type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": False}).encode()

    def _answer(self, **response: bytes) -> str:
        parts = {name: in_base64url(content) for name, content in response.items()}
        own = in_base64url(self.id)
        return json.dumps({"id": own, "rawId": own, "type": "public-key", "response": parts})
