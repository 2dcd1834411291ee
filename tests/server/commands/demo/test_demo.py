"""`callwright demo` keeps what it did, says what to type next, and calls the people of a list of one's own."""

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.support.processes.programs import COMMAND, run


def test_its_data_stays_and_the_commands_it_names_find_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first = run(tmp_path, "demo", "--contacts=20")
    assert (first.returncode, first.stderr) == (0, "")
    assert f"The data stays in {tmp_path / 'callwright-demo'}" in first.stdout
    assert not (tmp_path / ".callwright").exists()
    commands = [shlex.split(line) for line in first.stdout.splitlines() if line.startswith(f"  {COMMAND} ")]
    assert len(commands) == 3
    for command in commands:
        done = run(tmp_path, *command[1:])
        assert done.returncode == 0, done.stderr
        assert done.stdout

    (entry,) = re.findall(r'\{"mcpServers": .*', first.stdout)
    host = json.loads(entry)["mcpServers"]["callwright"]
    assert host == {"command": COMMAND, "args": ["mcp", "--data", str(tmp_path / "callwright-demo")]}

    again = run(tmp_path, "demo", "--contacts=20")
    assert (again.returncode, again.stderr) == (0, "")
    assert "rent_phone_number" in first.stdout
    assert "rent_phone_number" not in again.stdout


def test_the_people_of_a_list_are_called_by_their_names(tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    rows = "".join(f"Muster;Kim{at};0171 55501{at:02d}\n" for at in range(20))
    people.write_text(f"Nachname;Vorname;Mobil\n{rows}Nobody;None;12\n", encoding="utf-8")
    where = ("--data", tmp_path / "data", "--out", tmp_path / "x.mp3")
    done = run(tmp_path, "demo", "--list", people, "--country=DE", *where)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "20 people can be called, 1 row not, phone numbers in the column Mobil" in done.stdout
    assert "row 21: this is not a phone number" in done.stdout
    assert "Hello Kim0, this is Ada" in done.stdout
    assert "0171" not in done.stdout


@pytest.mark.parametrize(
    ("flags", "status", "said"),
    [
        (("--phone-column=Town",), 1, "--phone-column NAME"),
        (("--phone-column=None",), 1, "the file has not"),
    ],
)
def test_a_list_that_cannot_be_read_so_is_refused_with_how_to_say_it(
    flags: tuple[str, ...], status: int, said: str, tmp_path: Path
) -> None:
    people = tmp_path / "people.csv"
    people.write_text("name,phone,Town\nAnn,+14155550101,Bonn\n", encoding="utf-8")
    done = run(tmp_path, "demo", "--list", people, *flags, "--data", tmp_path / "data")
    assert done.returncode == status
    assert said in done.stdout


def test_how_to_read_a_list_is_refused_without_one(tmp_path: Path) -> None:
    done = run(tmp_path, "demo", "--country=DE")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--list" in done.stderr


def test_nobody_who_answers_is_an_end_and_not_a_fault(tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    people.write_text("phone,sim.outcome\n+14155550101,busy\n", encoding="utf-8")
    where = ("--data", tmp_path / "data", "--out", tmp_path / "x.mp3")
    done = run(tmp_path, "demo", "--list", people, *where)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "Nobody answered" in done.stdout
    assert not (tmp_path / "x.mp3").exists()
