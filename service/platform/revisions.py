"""Revisions: a short text that identifies the state of a thing. It is computed when needed and not stored.

It is a hash of 120 bits without a secret: it does not reveal the state, and different states have different revisions.
"""

import base64
import hashlib
from typing import Any

import orjson

from callwright.contract.declaration.revisions import PREFIX

_BYTES = 15


def revision(kind: str, facts: Any) -> str:
    """The revision of a thing of this kind with these facts, which are anything that JSON can hold."""
    raw = hashlib.blake2b(orjson.dumps([kind, facts], option=orjson.OPT_SORT_KEYS), digest_size=_BYTES).digest()
    return PREFIX + base64.urlsafe_b64encode(raw).decode()
