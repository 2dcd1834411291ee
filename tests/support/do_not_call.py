"""Entries of the do-not-call list for tests, made and read through the typed client."""

from collections.abc import Mapping, Sequence
from typing import Any

from callwright.contract.do_not_call import DoNotCallAdded, DoNotCallEntry, NewEntry
from tests.support.service import Tenant


async def add(tenant: Tenant, entries: Sequence[Mapping[str, Any]], **fields: Any) -> DoNotCallAdded:
    """What became of numbers that were to be added."""
    return await tenant.client.do_not_call.add(entries=[NewEntry(**entry) for entry in entries], **fields)


async def listed(tenant: Tenant, **filters: Any) -> list[DoNotCallEntry]:
    """Every entry that fits."""
    return [entry async for entry in tenant.client.do_not_call.list(**filters)]
