"""Whether a request is from Twilio: its signature (Twilio, "Security": validating requests).

It is the HMAC-SHA1 of the address with the names and values of the form behind it in the order of their names, by the
auth token of the account.
"""

import hmac
from base64 import b64encode
from collections.abc import Sequence

HEADER = "X-Twilio-Signature"


def signature_of(auth_token: str, url: str, form: Sequence[tuple[str, str]]) -> str:
    """The signature of a request to an address, with its query, and with the fields of its form."""
    signed = url + "".join(f"{name}{value}" for name, value in sorted(set(form)))
    return b64encode(hmac.digest(auth_token.encode(), signed.encode(), "sha1")).decode()


def is_signed(auth_token: str, url: str, form: Sequence[tuple[str, str]], given: str) -> bool:
    """Whether a signature is the one of the request."""
    return hmac.compare_digest(signature_of(auth_token, url, form).encode(), given.encode())
