"""A preview reads: whoever changes the deployment at the same moment neither holds it up nor makes it fail."""

from pathlib import Path

import anyio
import pytest
from sqlalchemy import update

from callwright.service.storage.database import make_engine
from callwright.service.storage.schema import deployments
from tests.service import samples
from tests.service.doors import open_service


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
async def test_a_preview_does_not_wait_for_a_change_under_way(database_url: str, tmp_path: Path) -> None:
    async with open_service(database_url, tmp_path, workers=False) as door:
        made = (await samples.draft(door, "Survey")).deployment
        other = make_engine(database_url)
        try:
            with other.begin() as connection:
                connection.execute(update(deployments).where(deployments.c.id == made.id).values(name="Changed"))
                with anyio.fail_after(10):
                    shown = await door.client.deployments.preview(id=made.id)
        finally:
            other.dispose()
        assert shown.deployment_id == made.id
