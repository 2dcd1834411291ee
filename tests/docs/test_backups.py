"""The page about backups: its commands are run as they stand, on a service that has a campaign under way."""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import make_url

from tests.house.tree import ROOT
from tests.support.database import postgres
from tests.support.deployments.over_rest import (
    EVERYBODY,
    PEOPLE,
    SLOWLY,
    attempts_of,
    data_of,
    health_of,
    rest_client,
    rung_of,
    start_campaign,
    state_of,
)
from tests.support.processes.programs import environment, run, serving, until

PAGE = (ROOT / "docs" / "backups.md").read_text(encoding="utf-8")
BLOCKS = {
    title: text for title, text in re.findall(r'^```sh title="([^"]+)"\n(.*?)^```$', PAGE, re.MULTILINE | re.DOTALL)
}


def do(home: Path, title: str, said: Mapping[str, str] | None = None, path: Path | None = None) -> None:
    """Runs a block of the page in a shell, with `~` in a folder of the test."""
    text = BLOCKS[title]
    for written, meant in (said or {}).items():
        text = text.replace(written, meant)
    known = environment(home)
    known["PATH"] = os.pathsep.join([*([str(path)] if path else []), known["PATH"]])
    done = subprocess.run(
        ["sh", "-ec", text], env=known, cwd=home, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stderr


def test_every_block_is_run_here() -> None:
    assert set(BLOCKS) == {
        "sqlite",
        "sqlite, smaller and slower",
        "postgres",
        "sqlite restore",
        "postgres restore",
        "start",
    }
    assert BLOCKS["start"] == "callwright serve --paused\n"
    assert PAGE.count("```") == 2 * len(BLOCKS)


def goes_on_by_hand_alone(home: Path, data: Path, key: str, deployment_id: str, made: int, *flags: str) -> None:
    """A service on a copy must dial nothing by itself, and everybody who is left once a person says so."""
    with serving(home, data, "--paused", *flags, **SLOWLY) as service, rest_client(service, key) as http:
        assert health_of(service)[0] == 200
        assert state_of(http, deployment_id) == ("paused", "started_paused")
        assert service.told(signal.SIGTERM) == 0
    with serving(home, data, *flags) as service, rest_client(service, key) as http:
        assert state_of(http, deployment_id) == ("paused", "started_paused")
        assert made <= attempts_of(http, deployment_id) < PEOPLE
        data_of(http.post(f"/deployments/{deployment_id}/resume"))
        until(lambda: state_of(http, deployment_id)[0] == "completed", "the campaign is completed")
        assert rung_of(http, deployment_id) == EVERYBODY


def test_a_copy_of_sqlite_taken_in_mid_campaign_is_restored_and_dials_nothing_by_itself(tmp_path: Path) -> None:
    if shutil.which("sqlite3") is None:
        pytest.skip("there is no sqlite3 command here")
    data, backups = tmp_path / ".callwright", tmp_path / "backups"
    backups.mkdir()
    with serving(tmp_path, data, **SLOWLY) as service:
        key = run(tmp_path, "keys", "create", "--data", data, "--quiet").stdout.strip()
        with rest_client(service, key) as http:
            deployment_id = start_campaign(http)
            until(lambda: attempts_of(http, deployment_id) >= 3, "the campaign has made some calls")
            do(tmp_path, "sqlite")
            do(tmp_path, "sqlite, smaller and slower")
            assert service.told(signal.SIGTERM) == 0
    written_meanwhile = 64 * 1024  # the campaign goes on between the two copies
    assert (backups / "small.db").stat().st_size <= (backups / "callwright.db").stat().st_size + written_meanwhile
    do(tmp_path, "sqlite restore")
    goes_on_by_hand_alone(tmp_path, data, key, deployment_id, 3)


def test_a_copy_of_postgres_taken_in_mid_campaign_is_restored_and_dials_nothing_by_itself(
    engine: str, database_url: str, tmp_path: Path
) -> None:
    if engine != "postgres":
        pytest.skip("SQLite has a test of its own")
    (tmp_path / "backups").mkdir()
    url = make_url(database_url)
    plain = url.set(drivername="postgresql")
    restored = f"{url.database}_restored"

    def address(name: str) -> str:
        return plain.set(database=name).render_as_string(hide_password=False)

    said = {
        "postgresql://callwright@host/callwright_restored": f"'{address(restored)}'",
        "postgresql://callwright@host/callwright": f"'{address(str(url.database))}'",
        "postgresql://callwright@host/postgres": f"'{address('postgres')}'",
        "callwright_restored": restored,
    }
    data = tmp_path / "data"
    flags = ("--database", address(str(url.database)))
    with serving(tmp_path, data, *flags, **SLOWLY) as service:
        key = run(tmp_path, "keys", "create", "--data", data, "--quiet", *flags).stdout.strip()
        with rest_client(service, key) as http:
            deployment_id = start_campaign(http)
            until(lambda: attempts_of(http, deployment_id) >= 3, "the campaign has made some calls")
            do(tmp_path, "postgres", said, postgres.programs())
            assert service.told(signal.SIGTERM) == 0
    try:
        do(tmp_path, "postgres restore", said, postgres.programs())
        goes_on_by_hand_alone(tmp_path, tmp_path / "copy", key, deployment_id, 3, "--database", address(restored))
    finally:
        server: Any = url.set(database="postgres").render_as_string(hide_password=False)
        postgres.drop_database(server, restored)
