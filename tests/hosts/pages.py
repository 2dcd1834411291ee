"""The install pages: every fenced block with the title that says which file or window it is for."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.house.tree import ROOT

FOLDER = ROOT / "docs" / "hosts"
_FENCE = re.compile(r"^```(?P<info>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_INFO = re.compile(r'(?P<language>\w+) title="(?P<title>[^"]+)"')


@dataclass(frozen=True)
class Block:
    """A fenced block of a page. `line` is where its fence stands."""

    page: str
    line: int
    language: str
    title: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def pages() -> list[Path]:
    """The pages, by name."""
    return sorted(FOLDER.glob("*.md"))


def blocks() -> Iterator[Block]:
    """Every block of every page. Raises ValueError for one whose title is missing, since nobody would test it."""
    for page in pages():
        text = page.read_text(encoding="utf-8")
        for found in _FENCE.finditer(text):
            line = text.count("\n", 0, found.start()) + 1
            info = _INFO.fullmatch(found["info"])
            if info is None:
                raise ValueError(f'{page.name}:{line} needs a fence of the form ```json title="file"')
            yield Block(page.name, line, info["language"], info["title"], found["text"])
