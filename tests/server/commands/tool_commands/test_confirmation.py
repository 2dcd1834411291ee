"""What dials or spends is asked of the person at the terminal; without one, the sentence has to be passed on."""

import json
import re
from pathlib import Path

import pytest

from tests.support.commands.terminal import at_terminal
from tests.support.processes.programs import run

SENTENCE = re.compile(r"«(.+)»")
ASKS = {"CALLWRIGHT_CONFIRM": "always"}


def rented(data: Path, home: Path) -> int:
    return len(json.loads(run(home, "numbers", "list", "--json", "--data", data).stdout)["data"])


def free_number(data: Path, home: Path) -> str:
    found = run(home, "numbers", "search-available", "--country=US", "--per-page=1", "--json", "--data", data).stdout
    return json.loads(found)["data"][0]["number"]


@pytest.mark.parametrize(("answer", "more"), [(b"yes\n", 1), (b"y\n", 1), (b"n\n", 0), (b"\n", 0)])
def test_the_person_at_the_terminal_is_asked_and_only_yes_counts(
    answer: bytes, more: int, called: Path, tmp_path: Path
) -> None:
    before, number = rented(called, tmp_path), free_number(called, tmp_path)
    words = ("numbers", "rent", "--country=US", "--number", number, "--data", called)
    with at_terminal(tmp_path, *words, CALLWRIGHT_CONFIRM="always") as terminal:
        terminal.until("Do this? [y/N]")
        assert f"Rent {number} for 1.15 USD a month" in terminal.shown
        terminal.type(answer)
        assert terminal.ended() == 1 - more
    assert rented(called, tmp_path) == before + more


def test_without_a_terminal_the_sentence_is_passed_on_and_counts_in_another_command(
    called: Path, tmp_path: Path
) -> None:
    before, number = rented(called, tmp_path), free_number(called, tmp_path)
    words = ("numbers", "rent", "--country=US", "--number", number, "--data", called)
    asked = run(tmp_path, *words, **ASKS)
    assert (asked.returncode, asked.stdout) == (1, "")
    assert "--person-agreed-to" in asked.stderr
    found = SENTENCE.search(asked.stderr)
    assert found is not None
    other = run(tmp_path, *words[:4], "+12065550199", *words[5:], f"--person-agreed-to={found[1]}", **ASKS)
    assert (other.returncode, rented(called, tmp_path)) == (1, before)
    agreed = run(tmp_path, *words, f"--person-agreed-to={found[1]}", **ASKS)
    assert (agreed.returncode, rented(called, tmp_path)) == (0, before + 1), agreed.stderr
    run(tmp_path, *words, f"--person-agreed-to={found[1]}", **ASKS)
    assert rented(called, tmp_path) == before + 1, "one yes rents one number"


def test_nobody_is_asked_about_play_money_unless_that_is_wanted(called: Path, tmp_path: Path) -> None:
    done = run(tmp_path, "call", "rent_phone_number", "country=US", "--json", "--data", called)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["simulated"] is True


def test_a_started_campaign_is_followed_to_its_end_by_another_command(called: Path, tmp_path: Path) -> None:
    first = json.loads(run(tmp_path, "deployments", "list", "--json", "--data", called).stdout)["data"][0]
    copy = json.loads(
        run(tmp_path, "deployments", "clone", first["id"], "--name=Again", "--json", "--data", called).stdout
    )
    started = run(tmp_path, "deployments", "start", copy["id"], "--json", "--data", called)
    assert started.returncode == 0, started.stderr
    assert "callwright serve" in started.stderr
    done = run(tmp_path, "deployments", "get", "Again", "--wait-seconds=45", "--json", "--data", called)
    assert json.loads(done.stdout)["status"] == "completed"
