"""The commands by noun: tables for people, JSON for programs, flags from the declarations."""

import json
import re
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.support.processes.programs import run


@pytest.mark.parametrize("noun", ["calls", "deployments", "events"])
def test_a_list_fits_its_width_with_a_line_for_each_entry(noun: str, called: Path, tmp_path: Path) -> None:
    found = json.loads(run(tmp_path, noun, "list", "--json", "--data", called).stdout)
    for columns in (80, 140):
        done = run(tmp_path, noun, "list", "--data", called, COLUMNS=str(columns))
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        assert max(map(cell_len, lines)) <= columns
        assert [line.split()[0] for line in lines if line.split()[0][3:4] == "_"] == [
            one["id"] for one in found["data"]
        ]


def test_a_list_says_how_many_follow_and_goes_on_from_there(called: Path, tmp_path: Path) -> None:
    first = run(tmp_path, "calls", "list", "--per-page=2", "--data", called)
    (cursor,) = (line.split("--cursor ")[1] for line in first.stderr.splitlines() if "--cursor " in line)
    second = run(tmp_path, "calls", "list", "--per-page=2", f"--cursor={cursor}", "--data", called)
    assert second.returncode == 0
    ids = [line.split()[0] for done in (first, second) for line in done.stdout.splitlines() if "cal_" in line]
    assert len(set(ids)) == len(ids) == 4


def test_filters_are_flags_that_take_several_values(called: Path, tmp_path: Path) -> None:
    for flags in (("--outcome=busy,no_answer",), ("--outcome", "busy", "--outcome", "no_answer")):
        found = json.loads(run(tmp_path, "calls", "list", *flags, "--json", "--data", called).stdout)
        assert {call["outcome"] for call in found["data"]} == {"busy", "no_answer"}


def test_one_thing_is_shown_field_by_field(called: Path, tmp_path: Path) -> None:
    said = run(tmp_path, "wallet", "get", "--data", called).stdout
    fields = dict(line.split("  ", 1) for line in said.splitlines() if "  " in line.strip())
    assert fields["play money"].strip() == "yes"
    assert fields["balance"].strip().endswith(" USD")
    assert "prices (" in said


def test_a_transcript_is_shown_turn_by_turn(called: Path, tmp_path: Path) -> None:
    listed = run(tmp_path, "calls", "list", "--disposition=goal_met", "--json", "--data", called).stdout
    call_id = json.loads(listed)["data"][0]["id"]
    lines = run(tmp_path, "calls", "get-transcript", call_id, "--data", called).stdout.splitlines()
    assert any("agent" in line and "Hello" in line for line in lines)
    assert max(map(cell_len, lines)) <= 80


def test_the_sound_of_a_call_is_written_to_a_file(called: Path, tmp_path: Path) -> None:
    listed = run(tmp_path, "calls", "list", "--outcome=answered", "--json", "--data", called).stdout
    call_id = json.loads(listed)["data"][0]["id"]
    sound = tmp_path / "call.mp3"
    done = run(tmp_path, "calls", "get-recording", call_id, "--save", sound, "--json", "--data", called)
    assert done.returncode == 0, done.stderr
    assert sound.stat().st_size == json.loads(done.stdout)["size_bytes"]
    other = run(tmp_path, "calls", "get-recording", call_id, "--save", tmp_path / "no" / "x.mp3", "--data", called)
    assert (other.returncode, "cannot be written" in other.stderr) == (2, True)


def test_conversations_are_shown_one_after_the_other(called: Path, tmp_path: Path) -> None:
    done = run(tmp_path, "calls", "read-conversations", "--max-tokens=600", "--data", called)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    begun = next(at for at, line in enumerate(lines) if line.startswith("  cal_"))
    assert next(line for line in lines[begun:] if line.startswith("    ")).startswith("    agent: Hello")
    assert done.stderr.startswith("More: --cursor ")


def test_figures_have_a_column_for_each_thing_they_are_grouped_by(called: Path, tmp_path: Path) -> None:
    words = ("calls", "get-stats", "--group-by=outcome,language", "--data", called)
    lines = run(tmp_path, *words, COLUMNS="160").stdout.splitlines()
    head = next(line for line in lines if "calls" in line and "share" in line)
    assert head.split()[:3] == ["outcome", "language", "calls"]


def test_a_file_is_imported_by_its_path_from_the_present_folder(
    called: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "people.csv").write_text("phone,name\n+14155550101,Ann\n", encoding="utf-8")
    audience = json.loads(run(tmp_path, "audiences", "create", "--name=Ours", "--json", "--data", called).stdout)
    done = run(tmp_path, "audiences", "import", audience["id"], "--path=lists/people.csv", "--data", called)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^status +completed *$", done.stdout, re.MULTILINE)
    assert "It goes on" not in done.stderr
    rows = json.loads(run(tmp_path, "audiences", "list-rows", "Ours", "--json", "--data", called).stdout)
    assert [row["name"] for row in rows["data"]] == ["Ann"]
    assert "list-import-errors" not in done.stderr
    (tmp_path / "lists" / "bad.csv").write_text("phone\n" + "\n".join(map(str, range(12))), encoding="utf-8")
    bad = run(tmp_path, "audiences", "import", audience["id"], "--path=lists/bad.csv", "--data", called)
    found = re.search(r"callwright (audiences list-import-errors \S+ imp_\w+)", bad.stderr)
    assert found is not None, bad.stderr
    shown = run(tmp_path, *found[1].split(), "--json", "--data", called)
    assert len(json.loads(shown.stdout)["data"]) == 12
    missing = run(tmp_path, "audiences", "import", audience["id"], "--path=none/people.csv", "--data", called)
    assert (missing.returncode, missing.stdout) == (2, "")
    assert "there is no folder" in missing.stderr


def test_a_refusal_names_commands_and_not_tools(called: Path, tmp_path: Path) -> None:
    done = run(tmp_path, "agents", "get", "Nobody", "--data", called)
    assert (done.returncode, done.stdout) == (1, "")
    assert "`agents list` shows what exists" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("deployments", "create", "--name=x"), "--agent-id"),
        (
            ("deployments", "create", "--name=x", "--agent-id=a", "--audience-id=b", "--caller-id-strategy=any"),
            "sticky",
        ),
        (("calls", "get"), "ID"),
    ],
)
def test_a_command_that_lacks_something_says_what(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    done = run(tmp_path, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert not (tmp_path / ".callwright").exists()


def test_what_the_service_says_to_do_next_is_said_as_a_command(tmp_path: Path) -> None:
    data = tmp_path / "data"
    assert run(tmp_path, "audiences", "create", "--name=B", "--data", data).returncode == 0
    (tmp_path / "odd.csv").write_text("a;b\n1;2\n", encoding="utf-8")
    done = run(tmp_path, "audiences", "import", "B", f"--path={tmp_path / 'odd.csv'}", "--data", data)
    assert done.returncode == 1  # nothing of it went in
    said = " ".join(done.stdout.split())
    assert "Name the column as phone_column with `audiences update`, and import it again" in said
