"""`callwright deployments export`: the rows of a deployment in a file or on stdout."""

import json
from pathlib import Path

import pytest

from tests.support.exports import parquet_file, rows_of
from tests.support.processes.programs import run


def campaign_in(called: Path, tmp_path: Path) -> str:
    listed = json.loads(run(tmp_path, "deployments", "list", "--json", "--data", called).stdout)["data"]
    return next(one["id"] for one in listed)


def name_of_campaign_in(called: Path, tmp_path: Path) -> str:
    listed = json.loads(run(tmp_path, "deployments", "list", "--json", "--data", called).stdout)["data"]
    return next(one["name"] for one in listed)


@pytest.mark.requirement("EXPORT-05")
def test_rows_are_on_stdout_masked_and_in_a_file_whole_when_asked_for(called: Path, tmp_path: Path) -> None:
    deployment_id = campaign_in(called, tmp_path)
    said = run(tmp_path, "deployments", "export", name_of_campaign_in(called, tmp_path), "--data", called)
    masked = rows_of(said.stdout)
    assert said.returncode == 0, said.stderr
    assert all("•" in row["phone_number"] for row in masked)
    assert "name" not in masked[0]
    file = tmp_path / "people.csv"
    saved = run(tmp_path, "deployments", "export", deployment_id, "--save", file, "--reveal-numbers", "--data", called)
    assert (saved.stdout, saved.stderr) == ("", f"The contacts are in {file}.\n")
    whole = rows_of(file.read_text(encoding="utf-8"))
    assert [row["id"] for row in whole] == [row["id"] for row in masked]
    assert all(row["phone_number"][1:].isdigit() for row in whole)
    table = tmp_path / "calls.parquet"
    run(
        tmp_path, "deployments", "export", deployment_id, "--of", "calls", "--format", "parquet", "--save", table,
        "--data", called,
    )  # fmt: skip
    assert parquet_file(table.read_bytes()).metadata.num_rows >= len(whole)


def test_what_cannot_be_exported_is_said_and_leaves_no_file(called: Path, tmp_path: Path) -> None:
    deployment_id = campaign_in(called, tmp_path)
    file = tmp_path / "people.csv"
    unknown = run(tmp_path, "deployments", "export", "dep_none", "--save", file, "--data", called)
    wrong = run(tmp_path, "deployments", "export", deployment_id, "--of", "people", "--save", file, "--data", called)
    assert (unknown.returncode, wrong.returncode, file.exists()) == (2, 2, False)
    assert "There is no such thing in your organization." in unknown.stderr
    nameless = run(tmp_path, "deployments", "export", "Nobody's", "--data", called)
    assert (nameless.returncode, "Nobody's" in nameless.stderr) == (2, True)
    assert "of: " in wrong.stderr
