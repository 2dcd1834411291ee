"""Two services on one Postgres, one of which is repeatedly frozen or cut off from the network.

    sudo -E .venv/bin/python -m bench.outages.frozen_peers [STOPS] [CUTS]

At random moments the process that drives a campaign gets a SIGSTOP, or its network link is taken down. Each process has
a network namespace of its own, which ends with this program. Without the right to make namespaces only the stops are
made, and the output says so. The program prints the times, by the database's clock, until the other process drives and
delivers, its longest wait for a lock, and how many calls were dialled twice.
"""

import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import anyio
import psycopg
from sqlalchemy import make_url
from tests.support.campaigns import draft, make_agent, make_audience, people, rent
from tests.support.database.postgres import Server, create_database
from tests.support.processes.peer import Peer
from tests.support.service import Tenant, open_service

HERE = "10.213.9.9"
NETWORK = "10.213.0.0/16"
LEASE_MS = 2_000
POLL_S = 0.5
TRY_S = 0.25
PEOPLE = 150
BOUND_S = 2 * LEASE_MS / 1_000 + POLL_S
LIMIT_S = 60


class Taker(BaseHTTPRequestHandler):
    """A webhook endpoint that accepts every event."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Logs nothing."""


@dataclass
class Figures:
    """The measurements of all stops, or of all cuts."""

    inside: int = 0
    dialling_s: list[float] = field(default_factory=list[float])
    delivering_s: list[float] = field(default_factory=list[float])
    longest_wait_s: float = 0.0


class Trial:
    """Two peers, an organization with a subscription, and direct connections to the database."""

    def __init__(self, tenant: Tenant, url: str, peers: list[Peer], out: dict[str, Callable[[], None]]) -> None:
        self.tenant, self.peers, self.out, self.figures = tenant, peers, out, Figures()
        self._plain = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
        self._database = psycopg.connect(self._plain, autocommit=True)
        self._done = threading.Event()
        self.away: str | None = None
        self._watch = threading.Thread(target=self._watch_locks)
        self._watch.start()

    def close(self) -> None:
        """Closes the connections to the database."""
        self._done.set()
        self._watch.join()
        self._database.close()

    def _watch_locks(self) -> None:
        sql = (
            "SELECT application_name, extract(epoch FROM clock_timestamp() - query_start) FROM pg_stat_activity"
            " WHERE wait_event_type = 'Lock' AND starts_with(application_name, 'callwright-')"
        )
        with psycopg.connect(self._plain, autocommit=True) as connection:
            while not self._done.wait(0.02):
                for name, waited in connection.execute(sql):
                    if name != self.away:
                        self.figures.longest_wait_s = max(self.figures.longest_wait_s, float(waited))

    def one(self, sql: Any, *given: Any) -> Any:
        """The first row that a statement returns."""
        return self._database.execute(sql, given).fetchone()

    def until(self, is_so: Callable[[], bool]) -> bool:
        """Waits for a condition. False if it is not met within `LIMIT_S`."""
        end = time.monotonic() + LIMIT_S
        while not is_so():
            if time.monotonic() > end:
                return False
            time.sleep(0.01)
        return True

    def take_away(self, deployment_id: str, put_away: Callable[[Peer], None], put_back: Callable[[Peer], None]) -> bool:
        """Puts the driving process away and measures the takeover; false if it no longer drives an active campaign."""
        owner = "SELECT lease_owner, status, clock_timestamp() FROM deployments WHERE id = %s"
        if not self.until(lambda: self.one(owner, deployment_id)[0] is not None):
            return False
        time.sleep(random.random() * 0.5)  # any moment
        held, status, _ = self.one(owner, deployment_id)
        peer = next((peer for peer in self.peers if held in peer.owners), None)
        if peer is None or status != "active":
            return False
        self.away = peer.name
        put_away(peer)
        try:
            return self._measured(peer, deployment_id, owner)
        finally:
            time.sleep(random.random())  # any moment
            put_back(peer)
            self.away = None

    def _measured(self, peer: Peer, deployment_id: str, owner: str) -> bool:
        time.sleep(0.02)
        held, status, at = self.one(owner, deployment_id)
        if held not in peer.owners or status != "active":
            return False
        inside = self.one(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s AND backend_xid IS NOT NULL", peer.name
        )[0]
        self.figures.inside += bool(inside)
        names = list(peer.owners)
        queues = "SELECT count(*), clock_timestamp() FROM webhook_lanes WHERE lease_owner = ANY(%s)"
        had_queues = self.one(queues, names)[0] > 0
        dialling: float | None = None
        delivering: float | None = None
        end = time.monotonic() + LIMIT_S
        while (dialling is None or (had_queues and delivering is None)) and time.monotonic() < end:
            held, _, now = self.one(owner, deployment_id)
            if dialling is None and held not in names:
                dialling = (now - at).total_seconds()
            count, now = self.one(queues, names)
            if had_queues and delivering is None and count == 0:
                delivering = (now - at).total_seconds()
            time.sleep(0.005)
        self.figures.dialling_s.append(LIMIT_S if dialling is None else dialling)
        if had_queues:
            self.figures.delivering_s.append(LIMIT_S if delivering is None else delivering)
        return True


async def _repeat(
    trial: Trial, what: str, times: int, put_away: Callable[[Peer], None], put_back: Callable[[Peer], None]
) -> None:
    tenant, trial.figures = trial.tenant, Figures()
    agent, number = await make_agent(tenant, f"{what} agent"), await rent(tenant)
    audience = await make_audience(tenant, people(PEOPLE, area="415" if what == "stops" else "212"), f"{what} people")
    made = 0
    index = 0
    while made < times and index < 3 * times:
        index += 1
        campaign = await draft(
            tenant,
            [],
            f"{what} {index}",
            agent_id=agent.id,
            audience_id=audience.id,
            phone_number_ids=[number.id],
            max_concurrency=2,
        )
        await tenant.client.deployments.start(id=campaign.id)
        made += await anyio.to_thread.run_sync(trial.take_away, campaign.id, put_away, put_back)
        if made % 10 == 0:
            print(f"{what}: {made}, dialling {trial.figures.dialling_s[-10:]}", file=sys.stderr, flush=True)
        await tenant.ended(campaign.id, within_s=120)
    twice = trial.one("SELECT count(*) FROM simulated_dials WHERE times > 1")[0]
    both = trial.one(
        "SELECT count(*) FROM (SELECT 1 FROM calls GROUP BY deployment_id, contact_id, attempt_number"
        " HAVING count(*) > 1) AS twice"
    )[0]
    found = trial.figures
    dialled = trial.one("SELECT count(*) FROM simulated_dials")[0]
    for name, seen in (("dialling", found.dialling_s), ("delivering", found.delivering_s)):
        late = sum(one > BOUND_S for one in seen)
        figures = f"median {sorted(seen)[len(seen) // 2]:.2f} s, longest {max(seen):.2f} s" if seen else "not seen"
        print(f"{what}: {name} taken over {len(seen)} times, {figures}; {late} beyond {BOUND_S:.1f} s")
    print(f"{what}: {made} made, {found.inside} of them inside a transaction")
    print(f"{what}: longest wait of the other one for a lock {found.longest_wait_s:.3f} s (one try: {TRY_S} s)")
    sent = trial.one("SELECT count(*) FILTER (WHERE status = 'succeeded'), count(*) FROM deliveries")
    print(f"{what}: {sent[0]} of {sent[1]} deliveries arrived so far")
    print(f"{what}: dialled twice {twice + both} of {dialled}", flush=True)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, timeout=20)


def _may_isolate() -> bool:
    with suppress(OSError, subprocess.SubprocessError):
        _run("unshare", "-n", "ip", "link", "set", "lo", "up")
        return True
    return False


def _wire(peer: Peer, index: int) -> Callable[[], None]:
    """Connects a process in a namespace of its own by a veth link. Returns a function that takes the link down."""
    here, there, net = f"cw{index}", f"cp{index}", f"10.213.{index}"
    inside = ("nsenter", "-t", str(peer.pid), "-n")
    _run("ip", "link", "add", here, "type", "veth", "peer", "name", there)
    _run("ip", "link", "set", there, "netns", str(peer.pid))
    _run("ip", "addr", "add", f"{net}.1/24", "dev", here)
    _run("ip", "link", "set", here, "up")
    _run(*inside, "ip", "link", "set", "lo", "up")
    _run(*inside, "ip", "addr", "add", f"{net}.2/24", "dev", there)
    _run(*inside, "ip", "link", "set", there, "up")
    _run(*inside, "ip", "route", "add", "default", "via", f"{net}.1")
    return lambda: _run("ip", "link", "set", here, "down")


@contextmanager
def _peers(url: str, folder: Path, *, isolated: bool) -> Generator[tuple[list[Peer], dict[str, Callable[[], None]]]]:
    before = ("unshare", "-n") if isolated else ()
    made: list[Peer] = []
    cuts: dict[str, Callable[[], None]] = {}
    try:
        for index, name in enumerate(("callwright-one", "callwright-two"), 1):
            peer = Peer(url, folder / name, name, lease_ms=LEASE_MS, network=NETWORK, before=before)
            made.append(peer)
            if isolated:
                time.sleep(0.5)  # until it is in its namespace
                cuts[name] = _wire(peer, index)
        for peer in made:
            peer.begin()
        yield made, cuts
    finally:
        for peer in made:
            peer.end()


async def _trial(folder: Path, stops: int, cuts: int, *, isolated: bool) -> None:
    host = HERE if isolated else "127.0.0.1"
    server = Server(folder / "postgres", listens=host, trusts=NETWORK if isolated else "127.0.0.0/8")
    taker = ThreadingHTTPServer((host, 0), Taker)
    threading.Thread(target=taker.serve_forever, daemon=True).start()
    try:
        local = create_database(server.url, "trial")
        # The peers connect over the network, as from other machines; this program connects directly.
        url = f"postgresql+psycopg://postgres@{host}:{server.port}/trial"
        async with open_service(local, folder / "own", workers=False, extra_dollars=100_000) as tenant:
            with _peers(url, folder, isolated=isolated) as (peers, cables):
                trial = Trial(tenant, local, peers, cables)
                try:
                    for number in range(2):
                        made = await tenant.client.webhooks.create(url=f"https://example.com/{number}", events=["*"])
                        own = f"http://{host}:{taker.server_port}/{number}"
                        await anyio.to_thread.run_sync(
                            trial.one, "UPDATE webhooks SET url = %s WHERE id = %s RETURNING id", own, made.id
                        )
                    await _repeat(trial, "stops", stops, Peer.freeze, Peer.thaw)
                    if isolated:

                        def mend(peer: Peer) -> None:
                            index = 1 + [one.name for one in peers].index(peer.name)
                            _run("ip", "link", "set", f"cw{index}", "up")

                        await _repeat(trial, "cuts", cuts, lambda peer: cables[peer.name](), mend)
                finally:
                    trial.close()
    finally:
        taker.shutdown()
        server.stop()


def main(stops: int, cuts: int) -> None:
    """Runs the trial, inside a network namespace if possible."""
    isolated = os.environ.get("CALLWRIGHT_TRIAL") == "isolated"
    if not isolated and _may_isolate():
        os.environ["CALLWRIGHT_TRIAL"] = "isolated"
        command = [sys.executable, "-m", "bench.outages.frozen_peers", str(stops), str(cuts)]
        raise SystemExit(subprocess.run(["unshare", "-n", *command], check=False).returncode)
    if isolated:
        _run("ip", "link", "set", "lo", "up")
        _run("ip", "addr", "add", f"{HERE}/32", "dev", "lo")
    else:
        print("cuts: skipped, since namespaces are not allowed here")
    with tempfile.TemporaryDirectory(prefix="callwright-trial-") as folder:
        os.chmod(folder, 0o711)  # Postgres runs as another user there
        anyio.run(lambda: _trial(Path(folder), stops, cuts, isolated=isolated))


if __name__ == "__main__":
    main(*(int(one) for one in (sys.argv[1:] + ["60", "20"][len(sys.argv) - 1 :])))
