"""Calls under way: the page that follows them, and listening in to one that a media process carries."""

import array
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from callwright.contract.calls.calls import Call
from callwright.service import accounts
from callwright.service.accounts import sessions
from callwright.service.dashboard import listening
from callwright.service.dashboard.listening import BEGINS_S, BEHIND_S, FollowedRecording, sound_header
from callwright.service.dashboard.pages.calling.live_calls import GOING_ON
from callwright.service.speech.mu_law_files import RATE_HZ, header
from tests.support.calls.stored_calls import put_call
from tests.support.campaigns import ONCE, people, started
from tests.support.dashboard import Visit, logged_in, text_of
from tests.support.scripted_carrier import driven_on_lines
from tests.support.scripted_lines import media_lines
from tests.support.service import Tenant

pytestmark = pytest.mark.service(workers=False)
SILENT, HUMMED = 0xFF, 0x00
"""Codes of G.711: silence, and the loudest sample."""
WITHIN_S = 30.0


def _grown(path: Path, seconds: float) -> None:
    """A recording with so many seconds, of which each second has another code in the agent's channel."""
    frames = int(seconds * RATE_HZ)
    both = bytearray([SILENT]) * (2 * frames)
    both[0::2] = bytes(at // RATE_HZ for at in range(frames))
    path.write_bytes(header(frames) + both)


@pytest.mark.requirement("DASH-50")
def test_a_listener_hears_the_last_second_first_and_then_what_is_written(tmp_path: Path) -> None:
    path = tmp_path / "cal_1.wav"
    _grown(path, 10)
    followed = FollowedRecording(path)
    assert len(followed.further()) == int(BEGINS_S * RATE_HZ) * 4
    assert followed.further() == b""
    _grown(path, 10.5)
    piece = array.array("h", followed.further())
    assert (len(piece), set(piece[1::2])) == (RATE_HZ, {0})
    assert len(set(piece[0::2])) == 1


@pytest.mark.requirement("DASH-50")
def test_a_listener_who_falls_behind_goes_on_with_what_is_said_now(tmp_path: Path) -> None:
    path = tmp_path / "cal_1.wav"
    _grown(path, 10)
    followed = FollowedRecording(path)
    followed.further()
    _grown(path, 10 + 3 * BEHIND_S)
    assert len(followed.further()) == int(BEGINS_S * RATE_HZ) * 4
    assert followed.further() == b""


@pytest.mark.requirement("DASH-50")
def test_sound_that_the_header_does_not_count_yet_is_not_sent(tmp_path: Path) -> None:
    path = tmp_path / "cal_1.wav"
    _grown(path, 2)
    followed = FollowedRecording(path)
    followed.further()
    with path.open("ab") as file:
        file.write(bytes(1_000))
    assert followed.further() == b""


@asynccontextmanager
async def _talking(tenant: Tenant) -> AsyncGenerator[Call]:
    """A call that a media process carries and that goes on until somebody hangs up."""
    made = await started(tenant, people(1, first=3), retry_policy=ONCE)
    async with media_lines(tenant), anyio.create_task_group() as tasks:
        tasks.start_soon(driven_on_lines, tenant, made.id)
        with anyio.fail_after(WITHIN_S):
            while not (found := (await tenant.client.calls.list(status=["in_progress"])).data):  # noqa: ASYNC110
                await anyio.sleep(0.05)
        yield found[0]


@pytest.mark.requirement("DASH-50", "DASH-48")
async def test_a_member_hears_a_call_to_its_end_and_the_audit_log_says_so(tenant: Tenant) -> None:
    async with _talking(tenant) as call, logged_in(tenant, role="member") as member:
        assert f'src="/calls/{call.id}/listen.wav"' in await member.page(f"/calls/{call.id}")
        board = await member.page("/calls/live")
        assert (f'formaction="/calls/{call.id}/hangup"' in board, "Listen in" in board) == (True, True)
        heard: list[bytes] = []

        async def listen() -> None:
            answer = await member.http.get(f"/calls/{call.id}/listen.wav")
            assert (answer.status_code, answer.headers["content-type"]) == (200, "audio/wav")
            heard.append(answer.content)

        with anyio.fail_after(WITHIN_S):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(listen)
                await _listened(tenant, call)
                await _hang_up(member, call)
    sound = heard[0]
    assert sound.startswith(sound_header())
    samples = array.array("h", sound[len(sound_header()) :])
    assert len(samples) >= 2 * RATE_HZ * BEGINS_S
    assert (min(samples[0::2]), set(samples[1::2])) == (-32124, {0})


@pytest.mark.requirement("DASH-50")
async def test_of_many_who_come_at_once_so_many_listen_as_may_and_their_places_are_free_again(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "MOST_LISTENERS", 2)
    monkeypatch.setattr(listening, "ASKED_EVERY_S", 0.1)
    going_on: dict[str, Any] = {"ended_at": None, "status": "in_progress", "outcome": None, "simulated": False}
    call_id = await put_call(tenant, **going_on)
    path = tenant.services.recordings.lines.path_of(call_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    _grown(path, 2)
    owner = await tenant.database.read(accounts.first_owner, tenant.org_id)
    assert owner is not None
    for _ in range(2):
        async with logged_in(tenant) as visit:
            statuses: list[int] = []

            async def listen(visit: Visit = visit, statuses: list[int] = statuses) -> None:
                statuses.append((await visit.http.get(f"/calls/{call_id}/listen.wav")).status_code)

            with anyio.fail_after(WITHIN_S):
                async with anyio.create_task_group() as tasks:
                    for _ in range(5):
                        tasks.start_soon(listen)
                    while len(statuses) < 3:  # noqa: ASYNC110
                        await anyio.sleep(0.02)
                    assert statuses == [503] * 3
                    await tenant.database.write(sessions.log_out_everywhere, owner)
            assert statuses == [503] * 3 + [200] * 2


async def _listened(tenant: Tenant, call: Call) -> None:
    while True:
        entries = [one async for one in tenant.client.audit_log.list(subject_id=call.id, action="call.listened")]
        if entries:
            assert (len(entries), entries[0].actor_id) == (1, entries[0].user_id)
            return
        await anyio.sleep(0.05)


async def _hang_up(member: Visit, call: Call) -> None:
    sent = await member.send(f"/calls/{call.id}/hangup", shown_at=f"/calls/{call.id}")
    assert sent.headers["location"] == f"/calls/{call.id}"


@pytest.mark.requirement("DASH-50")
async def test_a_viewer_does_not_listen_and_a_call_that_cannot_be_heard_says_why(tenant: Tenant) -> None:
    going_on: dict[str, Any] = {"ended_at": None, "status": "in_progress", "outcome": None}
    simulated = await put_call(tenant, to_number="+12125550161", **going_on)
    elsewhere = await put_call(tenant, to_number="+12125550162", simulated=False, **going_on)
    going_on["status"] = "ringing"
    rings = await put_call(tenant, to_number="+12125550163", **going_on)
    over = await put_call(tenant)
    async with logged_in(tenant) as visit:
        for call_id, status, words in (
            (simulated, 404, "This call is simulated"),
            (elsewhere, 404, "dashboard of the machine that carries the call"),
            (rings, 409, "Nobody has answered yet"),
            (over, 409, "has ended"),
            ("cal_0000000000000000000000AA", 404, "no such thing"),
        ):
            assert words in text_of(await visit.page(f"/calls/{call_id}/listen.wav", status=status)), call_id
        assert "This call is simulated" in await visit.page(f"/calls/{simulated}")
        assert "not on this machine" in await visit.page(f"/calls/{elsewhere}")
    async with logged_in(tenant, role="viewer") as viewer:
        await viewer.page(f"/calls/{elsewhere}/listen.wav", status=403)
    assert [one async for one in tenant.client.audit_log.list(action="call.listened")] == []


@pytest.mark.requirement("DASH-48")
async def test_calls_under_way_are_shown_with_a_button_that_ends_one_and_others_are_not(tenant: Tenant) -> None:
    call_ids = [
        await put_call(tenant, ended_at=None, outcome=None, status=status, to_number=f"+1212555017{at}")
        for at, status in enumerate(GOING_ON)
    ]
    over = await put_call(tenant)
    async with logged_in(tenant) as visit:
        page = await visit.page("/calls/live")
        assert [f'href="/calls/{call_id}"' in page for call_id in (*call_ids, over)] == [True] * 4 + [False]
        assert page.count("simulated: none") == 4
        fields = {"form_token": await visit.token("/calls/live"), "back": "live"}
        sent = await visit.http.post(f"/calls/{call_ids[0]}/hangup", data=fields, headers={"Origin": "http://service"})
        assert (sent.status_code, sent.headers["location"]) == (303, "/calls/live")
    async with logged_in(tenant, role="viewer") as viewer:
        assert "Hang up" not in await viewer.page("/calls/live")
