"""Lists as people have them, imported as they are: what arrives equals what is in them, and each fault has its line."""

import base64

import anyio
import pytest

from tests.support.list_samples import SAMPLES, ListSample
from tests.support.service import Tenant


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
@pytest.mark.service(workers=True)
async def test_a_list_arrives_as_it_is(tenant: Tenant, sample: ListSample) -> None:
    audiences = tenant.client.audiences
    made = await audiences.create(name=sample.name, default_country=sample.country)
    job = await audiences.import_csv(id=made.id, file=base64.b64encode(sample.data).decode())
    with anyio.fail_after(30):
        while job.completed_at is None:
            await anyio.sleep(0.01)
            job = await audiences.get_import(id=made.id, import_id=job.id)
    errors = [error async for error in audiences.list_import_errors(id=made.id, import_id=job.id)]
    rows = [(row.phone_number, row.values[sample.name_column]) async for row in audiences.list_rows(id=made.id)]
    assert job.status_reason is None
    assert rows == list(sample.people)
    assert {error.line: error.code for error in errors} == sample.faults
    assert job.read_as == sample.read_as
    assert (await audiences.get(id=made.id)).phone_column == sample.phone_column
