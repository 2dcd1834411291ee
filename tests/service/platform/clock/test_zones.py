"""Time zones are those of the pinned package, whatever the machine has."""

import zoneinfo
from pathlib import Path

import pytest

from callwright.service.platform.clock.zones import zone_of


def test_a_zone_is_read_from_the_package_and_not_from_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stale = tmp_path / "America" / "Vancouver"
    stale.parent.mkdir()
    stale.write_bytes(b"no table of zones")
    before = zoneinfo.TZPATH
    zone_of.cache_clear()
    zoneinfo.reset_tzpath(to=[str(tmp_path)])
    try:
        with pytest.raises(ValueError, match=r"."):
            zoneinfo.ZoneInfo.no_cache("America/Vancouver")
        assert zone_of("America/Vancouver").key == "America/Vancouver"
    finally:
        zoneinfo.reset_tzpath(to=before)


def test_a_name_that_is_none_is_refused_as_python_refuses_it() -> None:
    with pytest.raises(zoneinfo.ZoneInfoNotFoundError):
        zone_of("Mars/Olympus")
