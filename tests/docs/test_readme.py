"""What the README and the pages tell a reader to type can be done as it stands."""

import re

import pytest

from tests.house.tree import ROOT

PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "hosts").glob("*.md")))
_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [(page, *found) for page in PAGES for found in _FENCE.findall(page.read_text(encoding="utf-8"))]


def test_the_python_program_of_the_readme_is_a_whole_one() -> None:
    programs = [text for page, language, text in BLOCKS if language == "python" and page.parent == ROOT]
    assert programs
    for text in programs:
        compile(text, "README.md", "exec")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_nothing_stands_behind_a_command_that_does_not_return(page: object) -> None:
    for where, language, text in BLOCKS:
        if where == page and language == "sh":
            lines = text.strip().splitlines()
            assert not [line for line in lines[:-1] if re.match(r"(\S*/)?callwright serve\b", line)], text
