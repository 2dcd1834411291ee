"""`callwright people export NUMBER` and `people delete NUMBER`."""

import json
import os
import stat
import sys
from pathlib import Path

import pytest

from tests.support.processes.programs import run


def number_in(called: Path, tmp_path: Path) -> str:
    """The number of somebody who was called."""
    listed = run(tmp_path, "calls", "list", "--json", "--reveal-numbers", "--data", called)
    return json.loads(listed.stdout)["data"][0]["to"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes of files")
def test_an_export_is_one_document_in_a_file_that_the_owner_alone_can_read(called: Path, tmp_path: Path) -> None:
    number, file = number_in(called, tmp_path), tmp_path / "person.json"
    file.write_text("older")
    os.chmod(file, 0o644)
    said = run(tmp_path, "people", "export", number, "--save", file, "--data", called)
    assert said.returncode == 0, said.stderr
    document = json.loads(file.read_text(encoding="utf-8"))
    entries = sum(len(document[name]) for name in ("audience_rows", "contacts", "refused_rows", "calls"))
    assert (said.stdout, said.stderr) == ("", f"{entries} entries are in {file}.\n")
    assert document["counts"]["calls"] == len(document["calls"]) > 0
    assert {one["call"]["to"] for one in document["calls"]} == {number}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    printed = run(tmp_path, "people", "export", number, "--data", called)
    assert json.loads(printed.stdout)["calls"] == document["calls"]


def test_an_export_that_is_refused_leaves_no_file(called: Path, tmp_path: Path) -> None:
    file = tmp_path / "person.json"
    said = run(tmp_path, "people", "export", "nobody", "--save", file, "--data", called)
    assert said.returncode != 0
    assert "number" in said.stderr
    assert list(tmp_path.glob("person.json*")) == []


def test_a_deletion_without_confirm_is_refused_and_deletes_nothing(called: Path, tmp_path: Path) -> None:
    number = number_in(called, tmp_path)
    unsure = run(tmp_path, "people", "delete", number, "--no-confirm", "--data", called)
    assert unsure.returncode != 0
    assert "confirm" in unsure.stderr
    kept = json.loads(run(tmp_path, "people", "export", number, "--data", called).stdout)
    assert kept["counts"]["calls"] > 0


def test_somebody_who_is_not_known_is_deleted_without_a_trace(called: Path, tmp_path: Path) -> None:
    done = run(tmp_path, "people", "delete", "+12025550199", "--confirm", "--json", "--data", called)
    assert done.returncode == 0, done.stderr
    assert set(json.loads(done.stdout)["deleted"].values()) == {0}
