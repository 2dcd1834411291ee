"""The account that the imitation of Twilio knows, and its signature."""

import hashlib
import hmac
from base64 import b64encode

SID = "AC" + "0123456789abcdef" * 2
TOKEN = "not-a-real-auth-token"
NUMBER = "+12125550190"
"""The number of the account."""


def signature(url: str, form: dict[str, str]) -> str:
    """The signature that goes with a request of Twilio."""
    signed = url + "".join(name + form[name] for name in sorted(form))
    return b64encode(hmac.new(TOKEN.encode(), signed.encode(), hashlib.sha1).digest()).decode()
