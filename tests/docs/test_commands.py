"""The page about commands: each line of it is understood by the command line, and every noun is named."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from callwright.server.commands.line import app
from callwright.server.commands.tool_commands.declared import declared_tools, nouns

PAGE = (Path(__file__).parents[2] / "docs" / "commands.md").read_text(encoding="utf-8")
LINES = [
    line.partition("| ")[2] or line
    for block in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    for line in block.splitlines()
]


@pytest.mark.parametrize("line", LINES)
def test_a_command_on_the_page_is_understood(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").touch()
    program, *words = shlex.split(line)
    assert program == "callwright"
    command: Any = typer.main.get_command(app)
    while hasattr(command, "commands"):
        name, *words = words
        command = command.commands[name]
    with command.make_context("callwright", words) as context:
        pairs = [word.partition("=")[0] for word in context.params.get("arguments") or () if re.match(r"\w+=", word)]
        if pairs:
            tool = declared_tools()[context.params["tool"]]
            assert all(tool.argument(name) for name in pairs)


def test_every_noun_is_named() -> None:
    assert [noun for noun in nouns() if f"`{noun}`" not in PAGE] == []


def test_links_on_the_page_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", PAGE):
        assert (Path(__file__).parents[2] / "docs" / target).exists(), target
