"""The version stands in pyproject.toml. The change log speaks of the same one."""

import re
import tomllib

from tests.house.tree import ROOT


def test_the_newest_heading_of_the_change_log_is_this_version_or_unreleased() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    headings = re.findall(r"^## \[?([^]\s]+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[:1] in ([version], ["Unreleased"])
