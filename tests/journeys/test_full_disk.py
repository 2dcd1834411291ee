"""A disk that fills while a campaign runs, and is emptied again: a real process on a small file system of its own."""

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Generator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import httpx2 as httpx
import pytest

from tests.support.campaigns import people
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
from tests.support.processes.programs import Serving, run, serving, until

MOST_LOG = 600
"""Bytes that may be logged about a disk that is full for some seconds."""


@pytest.fixture
def small_disk(tmp_path: Path) -> Generator[Path]:
    """A folder with 24 MB."""
    folder = tmp_path / "data"
    folder.mkdir()
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root may mount a small file system, and only on Linux")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(folder)], capture_output=True, text=True, timeout=10
    )
    if mounted.returncode:
        pytest.skip(f"no small file system can be mounted here: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True, timeout=10)


@contextmanager
def filled(folder: Path) -> Generator[None]:
    """The file system without a byte of room."""
    filling = folder / "filling"
    descriptor = os.open(filling, os.O_WRONLY | os.O_CREAT)
    try:
        for size in (65_536, 4_096, 1):
            while True:
                try:
                    os.write(descriptor, b"x" * size)
                except OSError:
                    break
    finally:
        os.close(descriptor)
    try:
        yield
    finally:
        filling.unlink()


def full_by_all_accounts(home: Path, data: Path, service: Serving, http: httpx.Client, deployment_id: str) -> None:
    """Health, the campaign, answers to writes and `doctor` must say so."""
    until(lambda: health_of(service)[0] == 503, "the health check says that something is wrong")
    assert health_of(service)[1] == {"status": "unavailable", "problems": {"storage": "disk full"}}
    until(lambda: state_of(http, deployment_id) == ("paused", "storage_full"), "the campaign is shown as paused")
    refused = http.post("/audiences", json={"name": "More", "rows": people(900)})
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "storage_full")
    doctor = run(home, "doctor", "--data", data)
    assert doctor.returncode == 1, doctor.stdout
    assert "full: 0 MB free" in doctor.stdout
    assert "the database file is sound" in doctor.stdout
    if (data / "service.json").exists():  # there is no room for it where the service was started on a full disk
        assert "storage: disk full" in doctor.stdout


def dials(data: Path) -> dict[str, int]:
    """How often each contact was dialled, by the network's own book."""
    with closing(sqlite3.connect(data / "callwright.db")) as connection:
        rows = connection.execute("SELECT contact_id, sum(times) FROM simulated_dials GROUP BY contact_id")
        return dict(rows.fetchall())


def test_a_disk_that_fills_in_mid_campaign_is_said_loses_nothing_and_goes_on_when_a_person_says_so(
    tmp_path: Path, small_disk: Path
) -> None:
    with ExitStack() as stack, serving(tmp_path, small_disk, **SLOWLY) as service:
        key = run(tmp_path, "keys", "create", "--data", small_disk, "--quiet").stdout.strip()
        with rest_client(service, key) as http:
            deployment_id = start_campaign(http)
            until(lambda: attempts_of(http, deployment_id) >= 3, "the campaign has made some calls")
            logged = service.log.stat().st_size
            with filled(small_disk):
                full_by_all_accounts(tmp_path, small_disk, service, http, deployment_id)
                assert service.log.stat().st_size - logged < MOST_LOG, service.log.read_text(encoding="utf-8")
            until(lambda: health_of(service)[0] == 200, "the service has found that there is room")
            assert state_of(http, deployment_id) == ("paused", "storage_full")
            made = attempts_of(http, deployment_id)
            assert made < PEOPLE
            data_of(http.post(f"/deployments/{deployment_id}/resume"))
            until(lambda: attempts_of(http, deployment_id) > made, "the campaign has gone on")
            with filled(small_disk):
                full_by_all_accounts(tmp_path, small_disk, service, http, deployment_id)
                assert service.told(signal.SIGTERM) == 0
                again = stack.enter_context(serving(tmp_path, small_disk, **SLOWLY))
                later = stack.enter_context(rest_client(again, key))
                full_by_all_accounts(tmp_path, small_disk, again, later, deployment_id)
            until(lambda: health_of(again)[0] == 200, "the service has found that there is room")
            assert state_of(later, deployment_id) == ("paused", "storage_full")
            data_of(later.post(f"/deployments/{deployment_id}/resume"))
            until(lambda: state_of(later, deployment_id)[0] == "completed", "the campaign is completed")
            assert rung_of(later, deployment_id) == EVERYBODY
            assert again.told(signal.SIGTERM) == 0
    dialled = dials(small_disk)
    assert (len(dialled), set(dialled.values())) == (PEOPLE, {1})


def test_a_service_that_was_stopped_starts_on_a_full_disk_reads_and_goes_on_when_there_is_room(
    tmp_path: Path, small_disk: Path
) -> None:
    with serving(tmp_path, small_disk) as service:
        key = run(tmp_path, "keys", "create", "--data", small_disk, "--quiet").stdout.strip()
        with rest_client(service, key) as http:
            data_of(http.post("/audiences", json={"name": "Before", "rows": people(3)}))
        assert service.told(signal.SIGTERM) == 0
    with filled(small_disk):
        with serving(tmp_path, small_disk) as service, rest_client(service, key) as http:
            for _ in range(2):
                assert [found["name"] for found in data_of(http.get("/audiences"))] == ["Before"]
                assert http.post("/audiences", json={"name": "More"}).json()["error"]["code"] == "storage_full"
            assert health_of(service) == (503, {"status": "unavailable", "problems": {"storage": "disk full"}})
            doctor = run(tmp_path, "doctor", "--data", small_disk)
            assert "full: 0 MB free" in doctor.stdout
            (small_disk / "filling").write_bytes(b"")
            until(lambda: health_of(service)[0] == 200, "the service has found that there is room")
            data_of(http.post("/audiences", json={"name": "After", "rows": people(3)}))
            assert {found["name"] for found in data_of(http.get("/audiences"))} == {"Before", "After"}


@pytest.mark.long
def test_a_campaign_whose_moment_came_is_not_begun_by_a_start_on_a_full_disk_that_gets_room(
    tmp_path: Path, small_disk: Path
) -> None:
    with serving(tmp_path, small_disk, CALLWRIGHT_CLOCK="2026-11-21T12:00:00Z") as service:
        key = run(tmp_path, "keys", "create", "--data", small_disk, "--quiet").stdout.strip()
        with rest_client(service, key) as http:
            due = start_campaign(http, "Due", start_at="2026-11-21T18:00:00Z")
            later = start_campaign(http, "Later", start_at="2026-11-29T18:00:00Z")
            assert {state_of(http, due), state_of(http, later)} == {("scheduled", None)}
        assert service.told(signal.SIGTERM) == 0
    with filled(small_disk):
        with (
            serving(tmp_path, small_disk, CALLWRIGHT_CLOCK="2026-11-22T12:00:00Z") as service,
            rest_client(service, key) as http,
        ):
            until(lambda: state_of(http, due) == ("paused", "storage_full"), "the campaign is shown as paused")
            (small_disk / "filling").write_bytes(b"")
            until(lambda: health_of(service)[0] == 200, "the service has found that there is room")
            assert state_of(http, due) == ("paused", "storage_full")
            assert state_of(http, later) == ("scheduled", None)
            assert attempts_of(http, due) == 0
