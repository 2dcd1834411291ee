"""The pages about real lines, callers and what calls may do: each command that stands there is understood."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from callwright.server.commands.line import app
from tests.house.tree import ROOT

PAGES = (
    *("twilio", "real-calls", "costs", "transfers", "call-tools", "providers", "inbound-calls"),
    *("wallet", "compliance", "do-not-call", "webhooks", "call-capacity", "exports"),
)
_WHOLE = re.compile(r"^(?:[A-Z_]+=\S+ )?(callwright .*)$", re.MULTILINE)
_IN_A_SENTENCE = re.compile(r"`(callwright [^`]+)`")


def texts() -> dict[str, str]:
    return {page: (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8") for page in PAGES}


def blocks(text: str) -> str:
    """The lines of a page that are to be typed in a shell, each whole."""
    found = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return "".join(found).replace("\\\n", " ")


def command_of(words: list[str]) -> tuple[Any, list[str]]:
    """The command that words name, and what is left of them."""
    command: Any = typer.main.get_command(app)
    while hasattr(command, "commands") and words:
        name, *words = words
        command = command.commands[name]
    return command, words


LINES = [(page, line) for page, text in texts().items() for line in _WHOLE.findall(blocks(text))]
NAMED = [(page, line) for page, text in texts().items() for line in _IN_A_SENTENCE.findall(text)]


@pytest.mark.parametrize(("page", "line"), LINES)
def test_a_line_that_is_to_be_typed_is_understood(
    page: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "softphone.toml").touch()
    typed = re.split(r"\s[<#]\s?", line)[0]  # without what a pipe or a comment adds
    command, words = command_of(shlex.split(typed)[1:])
    with command.make_context("callwright", words):
        pass


@pytest.mark.parametrize(("page", "line"), NAMED)
def test_a_command_that_a_sentence_names_exists_with_its_options(page: str, line: str) -> None:
    command, words = command_of([word for word in shlex.split(line)[1:] if not word.isupper()])
    known = {option for parameter in command.params for option in parameter.opts}
    assert [word for word in words if word.startswith("--") and word not in known] == []


def test_every_page_but_those_without_a_command_is_looked_at() -> None:
    assert {page for page, _ in (*LINES, *NAMED)} == {*PAGES} - {"transfers"}
