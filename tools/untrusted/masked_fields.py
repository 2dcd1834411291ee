"""Decides by the name of a field how telephone numbers in it are masked.

Numbers are masked in every text that the contract does not mark as the organization's own: another service may put a
contact's number into any of them.
"""

import re
from datetime import datetime
from functools import lru_cache
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import AwareDatetime, BaseModel

from callwright.tools.numbers.masking import masked_in, masked_international, masked_number, may_hold_a_number

_NUMBERS = frozenset({"to", "from", "to_number", "from_number", "caller", "callee", "customer_number"})
"""Names that other services give to fields with telephone numbers."""
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_OPAQUE = re.compile(
    r"(?:^|_)(?:id|ids|uuid|uuids|guid|sid|key|keys|cursor|token|etag|hash|digest|checksum|signature|secret|seal)$"
    r"|revisions?$"
)
"""Names of values that callers send back unchanged: ids, cursors, keys."""
_MONEY = re.compile(r"(?:^|_)(?:amount|micros|cents|price|cost|balance|spend)$")
_MEASURED = re.compile(
    r"(?:^|_)(?:at|time|timestamp|date|clock|created|updated|since|until|expires|counts?|total|contacts|size|bytes"
    r"|seconds|ms|duration)$"
)
"""Names of times and counts."""
_ADDRESS = re.compile(r"(?:^|_)(?:url|uri|href|link)s?$")
_A_NUMBER = re.compile(r"\+\d{7,15}")

Sort = Literal["opaque", "money", "measured", "address", "text"]


def own_text(name: str, text: str) -> str:
    """A text of a field that the contract knows, with telephone numbers masked.

    Ids, keys and cursors are not changed, unless one is exactly a telephone number. Neither is money.
    """
    if not may_hold_a_number(text):
        return text
    sort = _sort(name)
    if sort == "money" or (sort == "opaque" and not _A_NUMBER.fullmatch(text)):
        return text
    return masked_international(text)


def unknown_text(name: str, text: str) -> str:
    """A text of a field that the contract does not know, masked in any notation if the field's name marks a number."""
    if _sort(name) != "text":
        return own_text(name, text)
    return masked_in(text, column="phone" if name in _NUMBERS else name)


def unknown_number(name: str, value: Any) -> Any:
    """A JSON value other than text in such a field. Ids, times, money and counts are not changed."""
    if _sort(name) != "text":
        return value
    return masked_number(value, column="phone" if name in _NUMBERS else name)


@lru_cache(maxsize=4_096)
def _sort(name: str) -> Sort:
    plain = _WORD.sub("_", name).lower()
    if _ADDRESS.search(plain):
        return "address"
    if _OPAQUE.search(plain):
        return "opaque"
    if _MONEY.search(plain):
        return "money"
    return "measured" if _MEASURED.search(plain) else "text"


def may_hold_text(model: type[BaseModel], name: str) -> bool:
    """Whether a field can be anything but a time, a number, or a boolean."""
    return _may_be_text(model.model_fields[name].annotation)


def _may_be_text(annotation: Any) -> bool:
    if get_origin(annotation) is Annotated:
        return _may_be_text(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return any(map(_may_be_text, get_args(annotation)))
    return annotation not in (int, float, bool, datetime, AwareDatetime, type(None))
