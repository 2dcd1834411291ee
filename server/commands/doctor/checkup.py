"""The results of `callwright doctor`, and their output in a terminal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from callwright.contract.checks.counts import count_of

State = Literal["good", "note", "bad"]
Support = Literal["works", "partly", "absent", "unknown"]

_MARKS: dict[State, tuple[str, str]] = {"good": ("✓", "green"), "note": ("!", "yellow"), "bad": ("✗", "bold red")}
_SUPPORT: dict[Support, tuple[str, str, str]] = {
    "works": ("✓", "green", "work"),
    "partly": ("!", "yellow", "work partly"),
    "absent": ("✗", "red", "not offered"),
    "unknown": ("?", "dim", "not tried"),
}
_LEGEND: dict[Support, str] = {
    "partly": "Partly: the service shows fewer or other fields. Assistants get what it shows.",
    "unknown": "Not tried: these tools change something, or need more than an id.",
}
_LABEL_WIDTH = 15
_SUPPORT_WIDTH = 15


@dataclass(frozen=True)
class CheckResult:
    """The result of one check. `help` says what to do about it."""

    state: State
    what: str
    said: str
    help: str = ""


@dataclass(frozen=True, kw_only=True)
class Section:
    """A group of results, under a title."""

    title: str
    findings: Sequence[CheckResult]


@dataclass(frozen=True, kw_only=True)
class Report:
    """The results of all checks of a service or a data folder."""

    about: str
    sections: Sequence[Section]
    tools: Mapping[str, Support] = field(default_factory=dict[str, Support])
    """Whether each tool works with the service."""

    @property
    def healthy(self) -> bool:
        """Whether no check found a fault."""
        return all(finding.state != "bad" for section in self.sections for finding in section.findings)


def show(report: Report, console: Console) -> None:
    """Prints a report."""
    console.print(Text.assemble(("Callwright doctor", "bold"), "  ", (report.about, "cyan")))
    for section in report.sections:
        console.print()
        console.print(Text(section.title, style="bold"))
        console.print(Padding(_findings(section.findings), (0, 0, 0, 2)))
    if report.tools:
        console.print()
        console.print(Text("Tools", style="bold"))
        console.print(Padding(_tools(report.tools), (0, 0, 0, 2)))
        for support, words in _LEGEND.items():
            if support in report.tools.values():
                console.print(Padding(Text(words, style="dim"), (0, 0, 0, 4)))
    console.print()
    console.print(_verdict(report))


def _findings(findings: Sequence[CheckResult]) -> Table:
    table = _grid(_LABEL_WIDTH)
    for finding in findings:
        mark, style = _MARKS[finding.state]
        said = Text(finding.said)
        cell = Group(said, Text(finding.help, style="dim")) if finding.help else said
        table.add_row(Text(mark, style=style), Text(finding.what), cell)
    return table


def _tools(tools: Mapping[str, Support]) -> Table:
    table = _grid(_SUPPORT_WIDTH)
    for support, (mark, style, words) in _SUPPORT.items():
        names = [tool for tool, found in tools.items() if found == support]
        if names:
            count = Text(f"{len(names)} {words}", style=style)
            table.add_row(Text(mark, style=style), count, Text(", ".join(names)))
    return table


def _grid(label_width: int) -> Table:
    table = Table.grid(padding=(0, 1), expand=False)
    table.add_column(width=1)
    table.add_column(width=label_width, no_wrap=True)
    table.add_column(overflow="fold")
    return table


def _verdict(report: Report) -> Text:
    bad = [finding.what for section in report.sections for finding in section.findings if finding.state == "bad"]
    if not bad:
        return Text.assemble(("✓ ", "green"), ("Callwright can work with this.", "bold green"))
    put_right = f"{count_of(len(bad), 'thing')} to put right: {', '.join(bad)}."
    return Text.assemble(("✗ ", "bold red"), (put_right, "bold red"))
