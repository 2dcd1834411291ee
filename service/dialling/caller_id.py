"""Which number a call is made from."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

from sqlalchemy import Row

_AREA_LENGTH = 5
"""The length of `+1` and an area code in North America."""


def choose(numbers: Sequence[Row[Any]], strategy: str, contact: Row[Any], turn: int) -> Row[Any]:
    """One of the numbers, of which there is at least one. `turn` is how many calls the deployment has made.

    `random` depends only on the contact and the attempt, so that a campaign can be repeated exactly.
    """
    if contact.caller_number_id is not None and strategy == "sticky":
        kept = next((number for number in numbers if number.id == contact.caller_number_id), None)
        if kept is not None:
            return kept
    if strategy == "local_presence":
        near = [n for n in numbers if n.number[:_AREA_LENGTH] == contact.phone[:_AREA_LENGTH]]
        near = near or [n for n in numbers if n.country == contact.country]
        return near[turn % len(near)] if near else numbers[turn % len(numbers)]
    if strategy == "random":
        drawn = blake2b(f"{contact.phone}|{contact.attempts}".encode(), digest_size=8).digest()
        return numbers[int.from_bytes(drawn) % len(numbers)]
    return numbers[turn % len(numbers)]
