"""Revisions: a short text that stands for how a thing is. Computed whenever it is asked for, and kept nowhere.

It says nothing of what it is made of, and two different things have two: a hash of 120 bits, without a secret.
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
