"""The checks of `callwright doctor` without a service: of the data folder and the machine."""

import os
import socket
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import anyio
from anyio import to_thread
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from callwright.client.transport import httpx
from callwright.server.commands.doctor.checkup import CheckResult, Report, Section
from callwright.server.commands.doctor.disk import free_finding, health_finding, soundness
from callwright.server.settings import ProgramSettings
from callwright.service.platform.data_folder import ADDRESS, DataFolder
from callwright.service.platform.database.engines import check_encoding, file_of, make_engine
from callwright.service.platform.database.unavailable import DatabaseUnusable
from callwright.service.speech.synthesiser import SpeechUnavailable, Synthesiser, find_libraries
from callwright.service.speech.voices import VOICES
from callwright.service.tables.database_file import check_database, read_only
from callwright.service.tables.migrations.upgrade import REVISION, revision_of

PORT = 8080
"""The default port of `callwright serve`."""
_SPEECH_LIMIT_S = 20.0
_CONNECT_S = 2.0
_NOT_FOUND = "A service that just starts gives its address within seconds. Stop any other process and start it again."
_ANOTHER = "Give another folder with --data."


async def report_of(settings: ProgramSettings, *, port: int = PORT) -> Report:
    """Checks the folder without creating or migrating anything in it."""
    folder = await to_thread.run_sync(_folder, settings.data)
    served = await _served(settings.data) if settings.data.is_dir() else []
    database = await to_thread.run_sync(_database, settings.database_url, settings.data)
    disk = [await to_thread.run_sync(free_finding, settings.data)] if folder.state == "good" else []
    machine = (await _speech(), await to_thread.run_sync(_port, port))
    return Report(
        about=str(settings.data),
        sections=(
            Section(title="Data", findings=(folder, *disk, *served, *database)),
            Section(title="This machine", findings=machine),
        ),
    )


def _folder(path: Path) -> CheckResult:
    if path.exists():
        try:
            with tempfile.TemporaryFile(dir=path):
                return CheckResult("good", "Folder", "can be written to")
        except OSError as error:
            return CheckResult("bad", "Folder", f"cannot be written to: {error.strerror}", help=_ANOTHER)
    above = next(parent for parent in path.parents if parent.exists())
    if above.is_dir() and os.access(above, os.W_OK | os.X_OK) and _takes_files(above):
        return CheckResult("good", "Folder", "is made at the first start")
    return CheckResult("bad", "Folder", f"cannot be made: {above} cannot be written to", help=_ANOTHER)


def _takes_files(folder: Path) -> bool:
    """Whether a file can be made there. What the file system of `/proc` allows is not what its permissions say."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


async def _served(path: Path) -> list[CheckResult]:
    folder = DataFolder(path)
    address = await to_thread.run_sync(folder.address)
    if address is not None:
        url = httpx.URL(address.base_url)
        try:
            with anyio.fail_after(_CONNECT_S):
                await (await anyio.connect_tcp(url.host, url.port or 80)).aclose()
        except (OSError, TimeoutError):
            pass
        else:
            said = f"at {address.base_url}, process {address.pid}"
            return [CheckResult("good", "Served", said), await health_finding(address.base_url)]
    try:
        held = await to_thread.run_sync(folder.is_held)
    except OSError:  # without permission; the check of the folder says so
        held = False
    if held:
        lack = f"{ADDRESS} cannot be read" if address is None else f"nothing answers at {address.base_url}"
        return [CheckResult("bad", "Served", f"by a process that cannot be reached: {lack}", help=_NOT_FOUND)]
    left = "" if address is None else "; the last service ended without removing its address"
    return [CheckResult("good", "Served", f"by no process now{left}")]


_MAY_MAKE_TABLES = text("SELECT has_schema_privilege(current_schema(), 'CREATE')")
_MAY_NOT = "The account may not make tables there. An administrator can say: GRANT CREATE ON SCHEMA public TO account."


def _database(url: str, data: Path) -> list[CheckResult]:
    try:
        if (file := file_of(url)) is not None:
            check_database(data, file)
            if not file.exists():
                return [CheckResult("good", "Database", "SQLite, made at the first start")]
            return [_schema("SQLite", _sqlite_revision(file)), soundness(file)]
        engine = make_engine(url)
        try:
            with engine.connect() as connection:
                check_encoding(connection)
                revision = revision_of(connection)
                if revision is None and not connection.execute(_MAY_MAKE_TABLES).scalar():
                    return [CheckResult("bad", "Database", "Postgres, still empty", help=_MAY_NOT)]
                return [_schema("Postgres", revision)]
        finally:
            engine.dispose()
    except DatabaseUnusable as error:
        return [CheckResult("bad", "Database", str(error))]
    except (SQLAlchemyError, sqlite3.Error) as error:
        reason = str(getattr(error, "orig", None) or error).splitlines()[0]
        return [CheckResult("bad", "Database", f"cannot be read: {reason}")]


def _sqlite_revision(file: Path) -> str | None:
    """The schema revision of a file. It is opened read-only: nothing is created or locked."""
    with closing(read_only(file)) as connection:
        named = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").fetchone()
        if named is None:
            return None
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        return str(row[0]) if row else None


def _schema(engine: str, revision: str | None) -> CheckResult:
    if revision == REVISION:
        return CheckResult("good", "Database", f"{engine}, schema {revision}, up to date")
    if revision is None:
        return CheckResult("good", "Database", f"{engine}, still empty")
    if revision > REVISION:
        said = f"{engine}, schema {revision}; this program knows {REVISION}"
        return CheckResult("bad", "Database", said, help="Use a newer version of Callwright.")
    said = f"{engine}, schema {revision}; the next start brings it to {REVISION}"
    return CheckResult("note", "Database", said, help="Back up the folder first if you may want to go back.")


async def _speech() -> CheckResult:
    voice = next(voice for voice in VOICES if voice.language.startswith("en"))
    try:
        with anyio.fail_after(_SPEECH_LIMIT_S):
            async with Synthesiser(await to_thread.run_sync(find_libraries)) as synthesiser:
                await synthesiser.speak("Hello.", voice.espeak)
    except (SpeechUnavailable, TimeoutError) as error:
        said = error.reason if isinstance(error, SpeechUnavailable) else "it does not answer"
        return CheckResult(
            "note", "Speech", f"not available: {said}", help="Everything but recordings works without it."
        )
    return CheckResult("good", "Speech", "espeak-ng speaks")


def _port(port: int) -> CheckResult:
    with closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as probe:
        if os.name == "posix":
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return CheckResult(
                "note",
                "Port",
                f"{port} is in use on 127.0.0.1",
                help="Perhaps by a service of another folder. `callwright serve --port` takes another one.",
            )
    return CheckResult("good", "Port", f"{port} is free on 127.0.0.1")
