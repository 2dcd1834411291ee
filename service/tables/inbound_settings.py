"""The settings of an inbound deployment in its row: one JSON column, read as a model of the contract."""

from functools import lru_cache
from typing import Any

from sqlalchemy import Row

from callwright.contract.deployments.inbound import Inbound


def inbound_of(row: Row[Any]) -> Inbound:
    """How an inbound deployment takes calls."""
    return _read(row.inbound)


@lru_cache(maxsize=256)
def _read(text: str) -> Inbound:
    return Inbound.model_validate_json(text)
