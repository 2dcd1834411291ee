"""`callwright deployments report`: the results of a campaign as CSV."""

import csv
import json
from pathlib import Path

import pytest

from callwright.server.commands.tool_commands import report as module
from callwright.server.mcp.resources.tables import REPORT_COLUMNS
from tests.support.processes.programs import run


def campaign_in(called: Path, tmp_path: Path) -> str:
    listed = json.loads(run(tmp_path, "deployments", "list", "--json", "--data", called).stdout)["data"]
    return next(one["name"] for one in listed)


def test_each_person_is_a_line_on_stdout_and_in_a_file(called: Path, tmp_path: Path) -> None:
    name = campaign_in(called, tmp_path)
    said = run(tmp_path, "deployments", "report", name, "--data", called)
    rows = list(csv.DictReader(said.stdout.splitlines()))
    assert said.returncode == 0, said.stderr
    assert list(rows[0]) == list(REPORT_COLUMNS)
    assert len({row["contact_id"] for row in rows}) == len(rows) == 20
    assert all("•••" in row["phone_number"] for row in rows)
    file = tmp_path / "results.csv"
    saved = run(tmp_path, "deployments", "report", name, "--save", file, "--reveal-numbers", "--data", called)
    assert (saved.stdout, saved.stderr) == ("", f"20 people are in {file}.\n")
    assert file.read_bytes().startswith(b"\xef\xbb\xbf")  # a spreadsheet takes it for UTF-8
    with file.open(encoding="utf-8-sig", newline="") as opened:
        whole = list(csv.DictReader(opened))
    assert [row["contact_id"] for row in whole] == [row["contact_id"] for row in rows]
    assert all(row["phone_number"].strip("'+").isdigit() for row in whole)


@pytest.mark.parametrize(("name", "separator"), [(";", ";"), ("tab", "\t")])
def test_a_spreadsheet_that_wants_another_separator_gets_it(
    called: Path, tmp_path: Path, name: str, separator: str
) -> None:
    campaign = campaign_in(called, tmp_path)
    with_commas = run(tmp_path, "deployments", "report", campaign, "--data", called).stdout
    other = run(tmp_path, "deployments", "report", campaign, "--separator", name, "--data", called).stdout
    assert list(csv.reader(other.splitlines(), delimiter=separator)) == list(csv.reader(with_commas.splitlines()))
    refused = run(tmp_path, "deployments", "report", campaign, "--separator", "|", "--data", called)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "should be , or ; or tab" in refused.stderr


def test_what_cannot_be_found_or_written_is_said(called: Path, tmp_path: Path) -> None:
    unknown = run(tmp_path, "deployments", "report", "Nothing of that name", "--data", called)
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert "Nothing of that name" in unknown.stderr
    name = campaign_in(called, tmp_path)
    done = run(tmp_path, "deployments", "report", name, "--save", tmp_path / "none" / "x.csv", "--data", called)
    assert done.returncode == 2
    assert "x.csv cannot be written: No such file or directory" in done.stderr


@pytest.mark.parametrize(
    ("text", "part", "following"),
    [
        ("a,b\n1,2\n", "a,b\n1,2\n", None),
        ("a,b\n1,2\n# 9 rows are left: read callwright://x?cursor=n\n", "a,b\n1,2\n", "callwright://x?cursor=n"),
        ("a,b\n", "a,b\n", None),
    ],
)
def test_a_report_of_several_parts_goes_on_where_the_last_line_says(
    text: str, part: str, following: str | None
) -> None:
    assert module.without_note(text) == (part, following)
