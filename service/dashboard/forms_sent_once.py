"""The mark of a form that makes something: sent twice, it does so once.

The page hides the mark in the form, and the operation gets it as its idempotency key.
"""

import re
import secrets
from collections.abc import Mapping

from callwright.contract.problems import INVALID_FIELD
from callwright.service.dashboard.asking import Refused

FIELD = "once"
_MARK = re.compile(r"[0-9a-f]{24}")
_WORDS = "This form is not as the page made it. Open the page again, and send the form from there."


def new_mark() -> str:
    """The mark of a form that is shown for the first time."""
    return secrets.token_hex(12)


def mark_of(fields: Mapping[str, list[str]]) -> str:
    """The mark of a form that was sent and is shown again; a new one if it came without one."""
    found = fields.get(FIELD, [""])[0]
    return found if _MARK.fullmatch(found) else new_mark()


def key_of(fields: Mapping[str, list[str]]) -> str:
    """The idempotency key of a form that was sent. Raises `Refused` if the mark is not one that a page made."""
    found = fields.get(FIELD, [""])[0]
    if not _MARK.fullmatch(found):
        raise Refused(400, INVALID_FIELD.code, _WORDS)
    return f"page-{found}"
