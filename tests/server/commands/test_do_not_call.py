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


def long_list(file: Path, rows: int) -> None:
    """A list of about 2 kB a row, so that few rows make several parts. The first row takes two lines."""
    note = "n" * 1_950
    lines = [f"+1415555{index:04d},{'?' if index % 100 == 50 else 'regulator'},{note}" for index in range(rows)]
    lines[0] = f'{lines[0].removesuffix(note)}"two\nlines"'
    lines[200] = "12,,"
    lines[351] = "13,,"
    file.write_text("\n".join(["number,reason,note", *lines, ""]), encoding="utf-8")


def test_a_list_of_several_parts_is_one_answer_with_the_lines_of_the_file_and_may_be_imported_again(
    tmp_path: Path,
) -> None:
    file = tmp_path / "long.csv"
    long_list(file, rows=400)
    answer = json.loads(said(tmp_path, "do-not-call", "import", str(file), "--json"))
    assert (answer["received"], answer["added"], answer["refused"]) == (400, 398, 2)
    assert [(one["row_number"], one["line"]) for one in answer["errors"]] == [(201, 203), (352, 354)]
    assert answer["read_as"] == "CSV, UTF-8, commas"
    assert answer["number_columns"] == ["number"]
    assert answer["notices"] == [
        "4 rows: the reason is none of the known ones; it is taken as other and kept in the note; "
        "line 53, 153, 253, 353"
    ]
    exported = tmp_path / "exported.csv"
    said(tmp_path, "do-not-call", "export", "--save", str(exported))
    assert exported.stat().st_size > 700_000
    again = json.loads(said(tmp_path, "do-not-call", "import", str(exported), "--json"))
    assert (again["added"], again["already_there"], again["refused"]) == (0, 398, 0)


def test_a_later_part_without_a_column_that_looks_like_numbers_is_read_by_that_of_the_first(tmp_path: Path) -> None:
    file = tmp_path / "list.csv"
    rows = [f"{NUMBER if index < 200 else 'none'},{'n' * 1_950}" for index in range(300)]
    file.write_text("\n".join(["contact,note", *rows, f"{OTHER},last", ""]), encoding="utf-8")
    answer = json.loads(said(tmp_path, "do-not-call", "import", str(file), "--json"))
    assert (answer["added"], answer["already_there"], answer["refused"]) == (2, 199, 100)


def test_a_list_with_a_mistake_near_its_end_is_refused_before_any_of_it_is_sent(tmp_path: Path) -> None:
    file = tmp_path / "long.csv"
    long_list(file, rows=400)
    with file.open("a", encoding="utf-8") as opened:
        opened.write(f'"{OTHER},open\n')
    said(tmp_path, "orgs", "create", "acme")
    why = refused(tmp_path, "do-not-call", "import", file, "--data", tmp_path / "data")
    assert "the row that begins in line 403 has a quotation mark without its counterpart" in why
    assert said(tmp_path, "do-not-call", "export").splitlines()[1:] == []


def test_a_list_that_the_service_refuses_or_that_is_too_large_or_not_named_once_is_refused_with_the_remedy(
    tmp_path: Path,
) -> None:
    said(tmp_path, "orgs", "create", "acme")
    data = ("--data", str(tmp_path / "data"))
    none = run(tmp_path, "do-not-call", "import", "--csv", "name\nAda", *data)
    assert (none.returncode, none.stdout) == (1, "")
    assert "name one of the header as --number-column" in none.stderr
    large = tmp_path / "large.csv"
    with large.open("wb") as opened:
        opened.truncate(50_000_001)
    assert "is larger than 50 MB; cut it into several files" in refused(tmp_path, "do-not-call", "import", large, *data)
    assert "No such file" in refused(tmp_path, "do-not-call", "import", tmp_path / "none.csv", *data)
    for both in ((), (str(large), "--csv", "number")):
        assert "name one file, or - for standard input" in refused(tmp_path, "do-not-call", "import", *both, *data)


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
    assert [line.partition(",")[0] for line in saved.read_text(encoding="utf-8-sig").splitlines()] == ["number", OTHER]
    said(tmp_path, "do-not-call", "remove", entries["regulator"]["id"])
    assert "had 1 simulated number" in said(tmp_path, "do-not-call", "clear", "--simulated")
    assert said(tmp_path, "do-not-call", "export").splitlines()[1:] == []
