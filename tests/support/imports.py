"""Imports of audiences, carried out for tests."""

from collections.abc import Callable

import anyio

from callwright.contract.audiences import AudienceImport
from callwright.service.platform.ids import Ids
from callwright.service.workers import imports
from tests.support.campaigns import Interrupted
from tests.support.service import Tenant


class FailingIds(Ids):
    """Ids that run out in the middle of a piece, as if the process had died there."""

    def __init__(self, now_ms: Callable[[], int], rows: int) -> None:
        super().__init__(now_ms)
        self._left = rows

    def several(self, prefix: str, count: int) -> list[str]:
        self._left -= count if prefix == "ctc" else 0
        if self._left < 0:
            raise Interrupted
        return super().several(prefix, count)


async def carry_out_import(tenant: Tenant, csv: str, *, audience_id: str | None = None) -> AudienceImport:
    """The import of a file, carried out."""
    if audience_id is None:
        audience_id = (await tenant.client.audiences.create(name=f"{tenant.services.ids.new('tst')}")).id
    waiting = await tenant.client.audiences.import_csv(id=audience_id, csv=csv)
    with anyio.fail_after(60):
        while await imports.work_on_one(tenant.services, "tests"):
            pass
    return await tenant.client.audiences.get_import(id=audience_id, import_id=waiting.id)


async def await_import(tenant: Tenant, audience_id: str, csv: str, *, within_s: float = 30.0) -> AudienceImport:
    """The import once it has ended."""
    job = await tenant.client.audiences.import_csv(id=audience_id, csv=csv)
    with anyio.fail_after(within_s):
        while True:
            job = await tenant.client.audiences.get_import(id=audience_id, import_id=job.id)
            if job.completed_at is not None:
                return job
            await anyio.sleep(0.01)
