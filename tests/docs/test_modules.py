"""Modules that the pages name exist."""

import re

from tests.house.tree import ROOT, files

_MODULE = re.compile(r"`([\w/]+/\w+\.py)`")


def test_every_module_that_a_page_names_exists() -> None:
    paths = [path.relative_to(ROOT).as_posix() for path in files()]
    missing = {
        f"{page}: {named}"
        for page in paths
        if page.endswith(".md") and not page.startswith("docs/reference/")
        for named in _MODULE.findall((ROOT / page).read_text(encoding="utf-8"))
        if not any(f"/{path}".endswith(f"/{named}") for path in paths)
    }
    assert missing == set()
