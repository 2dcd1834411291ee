"""`callwright do-not-call`: opt-outs of the simulated network are forgotten, real ones stay."""

import json
from pathlib import Path

import pytest
from openpyxl import Workbook
from sqlalchemy import create_engine, text

from tests.support.commands.words import refused, said
from tests.support.processes.programs import run

NUMBER = "+14155500000"
OTHER = "+14155500001"


def put_on_list(data: Path) -> None:
    """A simulated and a real entry in each organization."""
    engine = create_engine(f"sqlite:///{data / 'callwright.db'}")
    with engine.begin() as connection:
        for org_id in connection.execute(text("SELECT id FROM organizations")).scalars().all():
            for simulated in (0, 1):
                connection.execute(
                    text(
                        "INSERT INTO do_not_call (id, org_id, number, simulated, reason, created_at) "
                        "VALUES (:id, :org, :number, :simulated, 'opted_out', 1)"
                    ),
                    {"id": f"dnc_{org_id}{simulated}", "org": org_id, "number": NUMBER, "simulated": simulated},
                )
    engine.dispose()


def listed(data: Path) -> list[tuple[str, bool]]:
    """The organizations' names with what is on their lists."""
    query = (
        "SELECT organizations.name, simulated FROM do_not_call JOIN organizations ON organizations.id = org_id "
        "ORDER BY organizations.name, simulated"
    )
    engine = create_engine(f"sqlite:///{data / 'callwright.db'}")
    with engine.begin() as connection:
        found = [(name, bool(simulated)) for name, simulated in connection.execute(text(query)).all()]
    engine.dispose()
    return found


def test_simulated_opt_outs_of_one_organization_are_cleared_and_real_ones_stay(tmp_path: Path) -> None:
    data = tmp_path / "data"
    said(tmp_path, "orgs", "create", "acme")
    said(tmp_path, "orgs", "create", "beta")
    put_on_list(data)
    told = said(tmp_path, "do-not-call", "clear", "--simulated", "--org=acme")
    assert told == "acme had 1 simulated number not to call, now none\n"
    assert NUMBER not in told
    assert listed(data) == [("acme", False), ("beta", False), ("beta", True)]
    assert "do_not_call.cleared" in said(tmp_path, "audit", "--org=acme")
    assert "had 0 simulated" in said(tmp_path, "do-not-call", "clear", "--simulated", "--org=acme")


def test_nothing_is_cleared_without_the_word_simulated_or_in_an_organization_nobody_knows(tmp_path: Path) -> None:
    data = tmp_path / "data"
    said(tmp_path, "orgs", "create", "acme")
    put_on_list(data)
    assert "add --simulated" in refused(tmp_path, "do-not-call", "clear", "--org=acme", "--data", data)
    assert "gamma" in refused(tmp_path, "do-not-call", "clear", "--simulated", "--org=gamma", "--data", data)
    assert listed(data) == [("acme", False), ("acme", True)]


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8-sig"])
def test_a_list_is_imported_in_the_encodings_in_which_audiences_are(encoding: str, tmp_path: Path) -> None:
    file = tmp_path / "list.csv"
    file.write_text(f"Name;Telephone;Note\nJürgen Groß;{NUMBER};möchte nicht\n", encoding=encoding)
    said(tmp_path, "do-not-call", "import", "--csv", f"@{file}")
    (entry,) = json.loads(said(tmp_path, "do-not-call", "list", "--json", "--fields", "note"))["data"]
    assert entry["note"] == "möchte nicht"


def test_a_workbook_is_imported_as_audiences_are(tmp_path: Path) -> None:
    file = tmp_path / "list.xlsx"
    book = Workbook()
    for row in (["Telephone", "Reason"], [NUMBER, "regulator"], [], ["12", ""]):
        book.worksheets[0].append(row)
    book.save(file)
    told = said(tmp_path, "do-not-call", "import", "--csv", f"@{file}", "--json")
    answer = json.loads(told)
    assert (answer["added"], [one["line"] for one in answer["errors"]]) == (1, [4])


def test_an_import_that_adds_nothing_and_refuses_rows_ends_with_status_1_and_says_how_many_are_not_shown(
    tmp_path: Path,
) -> None:
    said(tmp_path, "orgs", "create", "acme")
    file = tmp_path / "list.csv"
    file.write_text("Telephone\n" + "12\n" * 130, encoding="utf-8")
    command = ("do-not-call", "import", "--csv", f"@{file}", "--data", str(tmp_path / "data"))
    done = run(tmp_path, *command)
    assert (done.returncode, done.stderr) == (1, "30 more refused rows not shown.\n")
    file.write_text(f"Telephone\n12\n{NUMBER}\n", encoding="utf-8")
    some = run(tmp_path, *command)
    assert (some.returncode, some.stderr) == (0, "")


def test_numbers_are_added_listed_imported_exported_and_removed_from_the_command_line(tmp_path: Path) -> None:
    given = f'[{{"number": "{NUMBER}", "reason": "requested"}}]'
    assert "added" in said(tmp_path, "do-not-call", "add", "--entries", given, "--simulated")
    file = tmp_path / "list.csv"
    file.write_text(f"Telephone;Reason\n{OTHER};regulator\n12;\n", encoding="utf-8")
    said(tmp_path, "do-not-call", "import", "--csv", f"@{file}")
    shown = said(tmp_path, "do-not-call", "list", "--json")
    assert NUMBER not in shown
    entries = {entry["reason"]: entry for entry in json.loads(shown)["data"]}
    assert (entries["requested"]["simulated"], entries["regulator"]["simulated"]) == (True, False)
    exported = said(tmp_path, "do-not-call", "export")
    assert exported.splitlines()[0] == "number,reason,created_at,expires_at,source_call_id,simulated,note"
    assert {line.partition(",")[0] for line in exported.splitlines()[1:]} == {NUMBER, OTHER}
    saved = tmp_path / "saved.csv"
    said(tmp_path, "do-not-call", "export", "--no-simulated", "--save", str(saved))
    assert [line.partition(",")[0] for line in saved.read_text(encoding="utf-8").splitlines()] == ["number", OTHER]
    said(tmp_path, "do-not-call", "remove", entries["regulator"]["id"])
    assert "had 1 simulated number" in said(tmp_path, "do-not-call", "clear", "--simulated")
    assert said(tmp_path, "do-not-call", "export").splitlines()[1:] == []
