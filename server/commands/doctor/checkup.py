"""What `callwright doctor` found, and how it looks in a terminal."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from callwright.contract.checks.counts import count_of

State = Literal["good", "note", "bad"]
Standing = Literal["works", "partly", "absent", "unknown"]

_MARKS: dict[State, tuple[str, str]] = {"good": ("✓", "green"), "note": ("!", "yellow"), "bad": ("✗", "bold red")}
_STANDINGS: dict[Standing, tuple[str, str, str]] = {
    "works": ("✓", "green", "work"),
    "partly": ("!", "yellow", "work partly"),
    "absent": ("✗", "red", "not offered"),
    "unknown": ("?", "dim", "not tried"),
}
_LEGEND: dict[Standing, str] = {
    "partly": "Partly: the service shows fewer fields or other ones. Assistants get what it shows.",
    "unknown": "Not tried: they change something, or need more than an id. Each says in words what it finds.",
}
_LABEL_WIDTH = 15
_STANDING_WIDTH = 15


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """One thing that was looked at. `help` says what to do about it."""

    state: State
    what: str
    said: str
    help: str = ""


@dataclass(frozen=True)
class ToolCheck:
    """Whether a tool works in front of a service."""

    tool: str
    standing: Standing


@dataclass(frozen=True, kw_only=True)
class Section:
    """Findings that belong together."""

    title: str
    findings: Sequence[CheckResult]


@dataclass(frozen=True, kw_only=True)
class Report:
    """All that was found about a service or a folder."""

    about: str
    sections: Sequence[Section]
    tools: Sequence[ToolCheck] = ()

    @property
    def healthy(self) -> bool:
        """Whether nothing has to be put right."""
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
        for standing, words in _LEGEND.items():
            if any(one.standing == standing for one in report.tools):
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


def _tools(tools: Sequence[ToolCheck]) -> Table:
    table = _grid(_STANDING_WIDTH)
    for standing, (mark, style, words) in _STANDINGS.items():
        names = [one.tool for one in tools if one.standing == standing]
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
