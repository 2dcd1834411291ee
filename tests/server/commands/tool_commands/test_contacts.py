"""Contacts in a shell: where each stands, why, the rule that decided and when it is called next."""

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes.programs import run

NAME = "With consent"
LONG = "Bartholomew Featherstonehaugh the Younger"


@pytest.fixture(scope="module")
def asked(called: Path) -> Path:
    """The folder with a campaign in which one of two people does not consent."""
    home = called.parent

    def made(*words: str | Path) -> Mapping[str, Any]:
        done = run(home, *words, "--json", "--data", called)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    (home / "asked.csv").write_text(
        f"phone,first_name,day,ok\n+14155550101,Ann,Monday,yes\n+14155550102,{LONG},Monday,no\n", encoding="utf-8"
    )
    audience = made("audiences", "create", "--name", NAME)["id"]
    made("audiences", "import", audience, "--path", home / "asked.csv")
    agent = made("agents", "list")["data"][0]["id"]
    number = made("numbers", "list")["data"][0]["id"]
    about = ("--agent-id", agent, "--audience-id", audience, "--phone-number-ids", number)
    made("deployments", "create", "--name", NAME, *about, "--compliance", '{"consent_column": "ok"}')
    made("deployments", "start", NAME)
    return called


def test_status_and_reason_stay_in_a_table_of_80_columns(asked: Path, tmp_path: Path) -> None:
    listed = run(tmp_path, "deployments", "list-contacts", NAME, "--data", asked, COLUMNS="80")
    assert listed.returncode == 0, listed.stderr
    line = next(line for line in listed.stdout.splitlines() if "suppressed" in line)
    assert "no_consent" in line
    assert len(line) <= 80


def test_the_data_of_a_contact_has_its_reason_its_rule_and_its_next_attempt(asked: Path, tmp_path: Path) -> None:
    listed = run(tmp_path, "deployments", "list-contacts", NAME, "--json", "--data", asked)
    found = next(one for one in json.loads(listed.stdout)["data"] if one["status"] == "suppressed")
    assert (found["status_reason"], found["decided_by"]) == ("no_consent", "no_consent")
    assert "next_attempt_at" not in found  # nobody calls them


def test_a_field_that_was_asked_for_and_is_empty_is_named(asked: Path, tmp_path: Path) -> None:
    words = ("deployments", "list-contacts", NAME, "--status=suppressed", "--fields=id,decided_by,next_attempt_at")
    listed = run(tmp_path, *words, "--data", asked, COLUMNS="80")
    assert "no_consent" in listed.stdout
    assert "Empty here: next_attempt_at." in listed.stderr


def test_a_report_says_why_somebody_is_not_called(asked: Path, tmp_path: Path) -> None:
    said = run(tmp_path, "deployments", "report", NAME, "--data", asked)
    rows = list(csv.DictReader(said.stdout.splitlines()))
    assert list(rows[0])[-4:] == ["status_reason", "decided_by", "next_attempt_at", "callback_at"]
    assert [row["status_reason"] for row in rows if row["status"] == "suppressed"] == ["no_consent"]
