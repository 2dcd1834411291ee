"""The TypeScript client against answers that a service rarely gives."""

from pathlib import Path

import pytest

from tests.typescript_client.running import HERE, seen_by


@pytest.mark.requirement("VER-07")
async def test_every_check_of_the_client_holds(tmp_path: Path) -> None:
    seen = await seen_by(HERE / "checks.mts", tmp_path)
    assert seen["failed"] == {}
    assert seen["checks"] > 20
