"""What the README and the pages tell a reader to type can be done as it stands."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.tree import ROOT

PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "hosts").glob("*.md")))
_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [(page, *found) for page in PAGES for found in _FENCE.findall(page.read_text(encoding="utf-8"))]


def test_the_python_programs_of_the_pages_are_whole_ones() -> None:
    programs = [(page, text) for page, language, text in BLOCKS if language == "python"]
    assert {page.name for page, _ in programs} >= {"README.md", "webhooks.md", "clients.md"}
    for page, text in programs:
        compile(text, page.name, "exec")
        undefined = subprocess.run(
            [Path(sys.executable).with_name("ruff"), "check", "--isolated", "--select=F821", "-"],
            input=text,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert undefined.returncode == 0, f"{page.name}: {undefined.stdout}"


def test_the_readme_sets_each_environment_variable_that_its_program_reads() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in re.findall(r'os\.environ\["(\w+)"\]', text):
        assert re.search(rf"^export {name}=", text, re.MULTILINE), name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_nothing_stands_behind_a_command_that_does_not_return(page: object) -> None:
    for where, language, text in BLOCKS:
        if where == page and language == "sh":
            lines = text.strip().splitlines()
            assert not [line for line in lines[:-1] if re.match(r"(\S*/)?callwright serve\b", line)], text
