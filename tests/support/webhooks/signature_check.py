"""A receiver's check of a signature, written from the description of the header and with the standard library alone.

It is what a customer would write: nothing of the service is imported.
"""

import hashlib
import hmac

TOLERANCE_S = 300


class Refused(Exception):
    """The request is answered with 401."""


def verified(header: str | None, raw_body: bytes, secret: str, *, now_s: float) -> None:
    """Returns for a request that the holder of the secret has signed within the last and next 300 seconds.

    Raises:
        Refused: the header is absent or malformed, the time is too far off, or no digest fits.
    """
    if header is None:
        raise Refused("there is no signature")
    times: list[str] = []
    digests: list[str] = []
    for item in header.split(","):
        name, sign, value = item.partition("=")
        if not sign or not value:
            raise Refused("the signature is malformed")
        if name == "t":
            times.append(value)
        elif name == "v1":
            digests.append(value)
    if len(times) != 1 or not times[0].isascii() or not times[0].isdigit() or not digests:
        raise Refused("the signature is malformed")
    if abs(now_s - int(times[0])) > TOLERANCE_S:
        raise Refused("the signature is too old, or of the future")
    expected = hmac.new(secret.encode(), times[0].encode() + b"." + raw_body, hashlib.sha256).hexdigest()
    if not any(hmac.compare_digest(expected.encode(), digest.encode()) for digest in digests):
        raise Refused("no digest fits")
