"""What is found in the place of the database before anything is made: nobody's data is taken for new, or touched."""

import os
import sqlite3
import tempfile
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import text

from callwright.server.commands.doctor import folder as doctor_folder
from callwright.server.commands.doctor.checkup import CheckResult
from callwright.server.embedded.failures import reason
from callwright.server.settings import read_settings
from callwright.service.platform.data_folder import KEY
from callwright.service.platform.database.engines import make_engine
from callwright.service.platform.database.unavailable import DatabaseUnusable
from callwright.service.tables.migrations.upgrade import upgrade

NOBODY = 65_534
REFUSALS: dict[str, tuple[str, ...]] = {
    "a page without tables": ("has no tables", "embedded.key", "docs/backups.md"),
    "another program's": ("another program", "--data", "docs/backups.md"),
    "another program's with migrations": ("another program", "--data", "docs/backups.md"),
    "ours without a number": ("does not say at which schema", "docs/backups.md"),
    "ours with no number in it": ("does not say at which schema", "docs/backups.md"),
    "a log without its database": ("is missing", "callwright.db-wal", "docs/backups.md"),
}


def put(folder: Path, what: str) -> Path:
    """Puts a file into the place of the database."""
    file = folder / "callwright.db"
    if what == "a log without its database":
        Path(f"{file}-wal").write_bytes(b"x" * 100)
        return file
    if what.startswith("ours"):
        upgrade(f"sqlite:///{file}")
    with closing(sqlite3.connect(file)) as connection, connection:
        if what == "a page without tables":
            connection.execute("VACUUM")
            connection.execute("PRAGMA journal_mode = WAL")
            (folder / KEY).write_text("svc_live_1", encoding="utf-8")
        elif what == "ours without a number":
            connection.execute("DROP TABLE alembic_version")
        elif what == "ours with no number in it":
            connection.execute("DELETE FROM alembic_version")
        else:
            connection.execute("CREATE TABLE users (name TEXT)")
            if "migrations" in what:
                connection.execute("CREATE TABLE alembic_version (version_num TEXT)")
                connection.execute("INSERT INTO alembic_version VALUES ('ae1027a6acf0')")
    return file


async def findings(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[str, str]]:
    """What `doctor` says of the data folder."""

    async def none() -> CheckResult:
        return CheckResult(state="good", what="Speech", said="not looked at")

    monkeypatch.setattr(doctor_folder, "_speech", none)
    report = await doctor_folder.report_of(read_settings({}, data=folder), port=0)
    return {found.what: (found.state, found.said) for section in report.sections for found in section.findings}


@pytest.mark.parametrize("what", REFUSALS)
async def test_a_file_in_the_place_of_the_database_that_is_not_it_is_refused_in_a_line_and_left_as_it_is(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = put(tmp_path, what)
    before = file.read_bytes() if file.exists() else None
    with pytest.raises(DatabaseUnusable) as raised:
        upgrade(f"sqlite:///{file}", tmp_path)
    said = reason(raised.value)
    assert said is not None
    assert "\n" not in said
    for words in (str(file), *REFUSALS[what]):
        assert words in said
    assert (await findings(tmp_path, monkeypatch))["Database"] == ("bad", said)
    assert (file.read_bytes() if file.exists() else None) == before


async def test_what_a_first_start_that_was_killed_has_left_is_a_new_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = put(tmp_path, "a page without tables")
    (tmp_path / KEY).unlink()
    assert (await findings(tmp_path, monkeypatch))["Database"] == ("good", "SQLite, still empty")
    upgrade(f"sqlite:///{file}", tmp_path)
    assert (await findings(tmp_path, monkeypatch))["Database"][0] == "good"


def test_a_folder_with_recordings_has_been_in_use(tmp_path: Path) -> None:
    (tmp_path / "recordings").mkdir()
    with pytest.raises(DatabaseUnusable, match=f"remove {tmp_path}/recordings first"):
        upgrade(f"sqlite:///{tmp_path / 'callwright.db'}", tmp_path)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("DELETE FROM alembic_version", "does not say at which schema"),
        ("DROP TABLE alembic_version, organizations CASCADE", "another program"),
    ],
)
def test_a_database_with_our_tables_and_no_number_is_refused_on_both_engines(
    database_url: str, statement: str, words: str
) -> None:
    engine = make_engine(database_url, writer=True)
    with engine.begin() as connection:
        if engine.name == "sqlite":
            for one in ("DROP TABLE organizations", "DELETE FROM alembic_version"):
                if "organizations" in statement or "DELETE" in one:
                    connection.execute(text(one))
        else:
            connection.execute(text(statement))
    engine.dispose()
    with pytest.raises(DatabaseUnusable, match=words):
        upgrade(database_url)


@contextmanager
def as_a_reader_of(file: Path) -> Generator[None]:
    """Inside the block this process may write everything in the folder but one file."""
    for path in file.parent.iterdir():
        path.chmod(0o444 if path == file else 0o666)
    before = os.geteuid()
    if before == 0:
        file.parent.chmod(0o777)
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(before)


@pytest.mark.parametrize("name", ["callwright.db", "callwright.db-wal"])
async def test_a_database_that_cannot_be_written_to_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory() as made:  # not below a folder that only one person may enter
        folder = Path(made)
        url = f"sqlite:///{folder / 'callwright.db'}"
        upgrade(url, folder)
        (folder / name).touch()
        with as_a_reader_of(folder / name):
            with pytest.raises(DatabaseUnusable) as raised:
                upgrade(url, folder)
            said = reason(raised.value)
            assert str(said).startswith(f"{folder / name} cannot be written to. ")
            assert (await findings(folder, monkeypatch))["Database"] == ("bad", said)
        upgrade(url, folder)
