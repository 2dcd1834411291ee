"""The media process as a program: its input, its faults, its end and what it loads."""

import json
import os
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import anyio
import pytest

from callwright.contract.checks.extras import installing
from callwright.service.telephony.media import process
from callwright.service.telephony.media.host_watch import HOST_SILENT
from callwright.service.telephony.media.messages import (
    LONGEST_LINE,
    MOST_CALLS,
    Alive,
    BeginCall,
    Ended,
    SpeechService,
    SpeechServices,
    report_from,
)
from tests.service.telephony.legs.interleavings import REQUEST
from tests.service.telephony.media.caller import caller
from tests.service.telephony.media.calls import Line
from tests.service.telephony.media.media_process import media_process
from tests.service.telephony.media.recordings import read_recording
from tests.service.telephony.media.sentences import YES

pytestmark = pytest.mark.xdist_group("live-calls")
CALLS = pytest.mark.asyncio(loop_scope="session")


@CALLS
async def test_the_end_of_its_input_ends_the_process_and_its_calls(line: Line) -> None:
    async with media_process() as own:
        other = Line(own, line.service, line.sounds, line.folder)
        async with other.call() as call:
            await call.page.heard(0.2)
            await own.end_input()
            assert await call.page.closed() in (1000, 1001)
            with anyio.fail_after(20):
                assert await own.process.wait() == 0


@CALLS
@pytest.mark.requirement("LINE-04")
async def test_calls_whose_host_stands_still_end_with_a_warning_that_says_so(line: Line) -> None:
    async with line.call() as call:
        await call.page.heard(0.2)
        await call.media.send(Alive())  # and never again
        ended = await call.ended()
    assert (ended.cause, ended.ended_by, ended.warnings) == ("platform_error", "platform", (HOST_SILENT,))


@CALLS
async def test_a_killed_process_leaves_a_recording_that_is_complete_up_to_the_last_second(
    line: Line, tmp_path: Path
) -> None:
    path = tmp_path / "call.wav"
    async with media_process() as own:
        other = Line(own, line.service, line.sounds, line.folder)
        async with other.call(recording=str(path)) as call:
            await call.page.heard(2.0)
            own.process.kill()
            await call.page.closed()
    recorded = read_recording(path)
    assert recorded.counted >= 4_000
    assert max(abs(sample) for sample in memoryview(recorded.agent).cast("h")) > 1_000


@CALLS
async def test_a_line_that_is_no_order_is_left_out_and_one_that_is_too_long_ends_the_process(line: Line) -> None:
    async with media_process() as own:
        other = Line(own, line.service, line.sounds, line.folder)
        await own.send_line(b'{"type": "begin", "token": "secret"}\n[]\n\n')
        async with other.call(welcome="") as call:
            await call.page.send(type="hang_up")
            assert (await call.ended()).cause == "contact_hangup"
        await own.send_line(b"x" * (LONGEST_LINE + 2))
        with anyio.fail_after(20):
            assert await own.process.wait() == process.FAULT


@CALLS
async def test_what_is_said_and_secret_is_in_no_log(line: Line, tmp_path: Path) -> None:
    errors = tmp_path / "errors"
    line.service.status = 401
    async with media_process(errors=errors) as own:
        other = Line(own, line.service, line.sounds, line.folder)
        secret = SpeechService(kind="openai", url=line.service.url, key="sk-secret")
        order = other.order(services=SpeechServices(hearing=secret, thinking=secret))
        await other.begin(order)
        async with other.joined(order) as call:
            await call.turn("agent", 1)
            await call.say(YES)
            await call.turn("contact", 1)
            await call.page.send(type="keys", digits="123#")
            await call.turn("contact", 2)
            await call.page.connection.send("{")
            assert (await call.ended()).cause == "network_error"
        await own.send(other.order(services=SpeechServices(thinking=SpeechService(kind="brain", key="sk-secret"))))
        await own.send_line(b'{"type": "begin", "token": "sk-secret"}\n')
    assert errors.read_text() == "ERROR:callwright.service.telephony.media.process:a line was no order\n"


@CALLS
async def test_a_fault_of_one_call_ends_that_call_alone(line: Line) -> None:
    broken = line.order(services=SpeechServices(speaking=SpeechService(kind="gramophone")))
    sip = line.order(transport="sip", carrier_options={"trunk": "{}"})
    same = line.order(welcome="")
    async with line.call(hears=False, welcome="") as call:
        await line.media.send(broken)
        await line.media.send(sip)
        await line.begin(same)
        await line.media.send(line.order(welcome="").model_copy(update={"token": same.token}))
        ends = [await line.media.ended(order.request.call_id) for order in (broken, sip)]
        twice = await line.media.reports.wait_for(
            Ended, lambda each: each.warnings == ("The call failed in its media process.",), within_s=30
        )
        await call.page.send(type="hang_up")
        assert (await call.ended()).cause == "contact_hangup"
        async with caller(line.media.port, same.token) as page:
            await page.send(type="hang_up")
            assert (await line.media.ended(same.request.call_id)).cause == "contact_hangup"
    assert {end.cause for end in [*ends, twice]} == {"platform_error"}
    assert "There is no speaking service 'gramophone'" in ends[0].warnings[0]
    assert ends[1].warnings == ("The order names no SIP trunk.",)


@CALLS
async def test_a_full_process_takes_no_further_call(line: Line) -> None:
    orders = [line.order(hears=False, welcome="", ring_timeout_s=3.0) for _ in range(MOST_CALLS + 1)]
    for order in orders[:-1]:
        await line.begin(order)
    await line.media.send(orders[-1])
    refused = await line.media.ended(orders[-1].request.call_id)
    assert refused.warnings == ("The process takes no more calls.",)
    for order in orders[:-1]:
        assert (await line.media.ended(order.request.call_id)).cause == "no_answer"


def test_without_the_extra_the_process_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(process, "find_spec", lambda _name: None)  # pyright: ignore[reportUnknownLambdaType,reportUnknownArgumentType]  # no module is found
    assert process.main() == process.MISSING
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == f"Live calls need more packages: {installing('live')}.\n"


async def test_without_the_sip_stack_a_call_over_sip_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(process, "find_spec", lambda _name: None)  # pyright: ignore[reportUnknownLambdaType,reportUnknownArgumentType]  # no module is found
    out = BytesIO()
    reports = process.Reports(out)
    async with anyio.create_task_group() as tasks:
        calls = process.Calls(tasks, cast("Any", None), cast("Any", None), reports)
        await calls.obey(BeginCall(request=REQUEST, transport="sip"))
    reports.close()
    ended = report_from(out.getvalue())
    assert isinstance(ended, Ended)
    assert ended.cause == "platform_error"
    assert ended.warnings == (f"Calls over SIP need more packages: {installing('sip')}.",)


def test_the_rest_of_the_house_loads_nothing_of_live_calls() -> None:
    program = (
        "import sys, json, callwright.service.app, callwright.server.main;"
        "import callwright.service.telephony.media.messages, callwright.service.telephony.media.process;"
        "print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True, env=dict(os.environ)
    )
    loaded = set(json.loads(done.stdout))
    assert "callwright" in loaded
    assert loaded & {"pipecat", "loguru", "numpy", "websockets", "onnxruntime", "openai", "baresip"} == set()
