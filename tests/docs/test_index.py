"""Every page can be found: from the index of the documentation, and from `llms.txt`."""

import re
from pathlib import Path

import pytest

from tests.house.tree import ROOT

DOCS = ROOT / "docs"
INDEXES = {"decisions": DOCS / "decisions" / "README.md", "operations": DOCS / "reference" / "operations.md"}
"""Folders whose pages are listed by a page of their own, which the index of the documentation names."""
_OUTSIDE = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "llms.txt", ROOT / "examples" / "README.md"]
WITH_LINKS = [*_OUTSIDE, *sorted(DOCS.glob("*.md"))]
_LINK = re.compile(r'(?:\]\(|src="|srcset=")(?!https?:|#)([^)#"\s]+)')


def linked(page: Path) -> set[Path]:
    """The files that a page leads to."""
    return {(page.parent / target).resolve() for target in _LINK.findall(page.read_text(encoding="utf-8"))}


def test_every_page_is_in_the_index_or_in_that_of_its_folder() -> None:
    index = linked(DOCS / "README.md")
    assert set(INDEXES.values()) <= index
    for page in sorted(DOCS.rglob("*.md")):
        listed = (
            index if page in INDEXES.values() or page.parent.name not in INDEXES else linked(INDEXES[page.parent.name])
        )
        assert page in listed or page == DOCS / "README.md", f"docs/README.md does not name {page.relative_to(ROOT)}"


@pytest.mark.parametrize("page", WITH_LINKS, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_of_a_page_lead_to_files(page: Path) -> None:
    assert sorted(str(target) for target in linked(page) if not target.exists()) == []


def test_the_text_for_models_has_the_form_of_llmstxt() -> None:
    lines = (ROOT / "llms.txt").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# Callwright"
    assert lines[2].startswith("> ")
    headings = [line for line in lines if line.startswith("#")]
    assert [line for line in headings[1:] if not line.startswith("## ")] == []
    assert headings[-1] == "## Optional"
    after = lines[lines.index(headings[1]) :]
    assert [line for line in after if line and not line.startswith(("## ", "- ["))] == []


def test_nobody_is_told_to_install_a_package_of_this_name_from_an_index() -> None:
    pages = [*WITH_LINKS, *sorted((DOCS / "hosts").glob("*.md")), ROOT / "service" / "rest" / "pages" / "front.html"]
    told = re.compile(r"(?:pip|pipx|uv tool|uv add|uv pip) (?:install )?callwright\b|uvx callwright\b")
    assert [page.name for page in pages if told.search(page.read_text(encoding="utf-8"))] == []
