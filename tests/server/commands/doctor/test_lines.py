"""What `callwright doctor` says about real calls, before the first one."""

from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest

from callwright.client.transport import MockTransport, Request, Response
from callwright.server.commands.doctor.checkup import CheckResult
from callwright.server.commands.doctor.lines import line_checks
from callwright.server.embedded.embedded import listener_on
from callwright.server.settings import read_settings

PUBLIC = "https://voice.example.com"


async def checks(tmp_path: Path, given: Mapping[str, str], answer: Response | None = None) -> dict[str, CheckResult]:
    def answered(request: Request) -> Response:
        assert str(request.url) == f"{PUBLIC}/healthz"
        assert answer is not None
        return answer

    settings = read_settings(given, data=tmp_path)
    with anyio.fail_after(30):
        found = await line_checks(settings, transport=MockTransport(answered))
    return {finding.what: finding for finding in found}


async def test_without_settings_nothing_is_wrong_and_it_says_what_is_missing(tmp_path: Path) -> None:
    found = await checks(tmp_path, {})
    assert {finding.state for finding in found.values()} == {"good", "note"}
    assert "real-calls.md" in found["SIP trunk"].said
    assert "CALLWRIGHT_STT_URL" in found["Hearing"].said
    assert "Public address" not in found


async def test_a_public_address_that_leads_elsewhere_is_found_before_the_first_call(tmp_path: Path) -> None:
    given = {"CALLWRIGHT_PUBLIC_URL": PUBLIC}
    good = await checks(tmp_path, given, Response(200, json={"status": "ok"}))
    assert good["Public address"].state == "good"
    other = await checks(tmp_path, given, Response(200, text="<html>Welcome to nginx</html>"))
    assert (other["Public address"].state, "not this service" in other["Public address"].said) == ("bad", True)
    absent = await checks(tmp_path, given, Response(404, json=["no"]))
    assert absent["Public address"].state == "bad"


async def test_a_public_address_that_does_not_answer_is_named(tmp_path: Path) -> None:
    with listener_on() as listener:
        port = listener.getsockname()[1]
    settings = read_settings({"CALLWRIGHT_PUBLIC_URL": f"http://127.0.0.1:{port}"}, data=tmp_path)
    found = {finding.what: finding for finding in await line_checks(settings)}
    assert (found["Public address"].state, f"127.0.0.1:{port}" in found["Public address"].said) == ("bad", True)


async def test_a_trunk_is_looked_at_without_a_call(tmp_path: Path) -> None:
    with listener_on() as listener:
        port = listener.getsockname()[1]
        trunk = {"CALLWRIGHT_SIP_TRUNK": f"sip:127.0.0.1:{port};transport=tcp"}
        numbers = {"CALLWRIGHT_SIP_NUMBERS": "+12125550191"}
        assert (await checks(tmp_path, trunk | numbers))["SIP trunk"].state == "good"
        without = (await checks(tmp_path, trunk))["SIP trunk"]
        assert (without.state, "CALLWRIGHT_SIP_NUMBERS" in without.help) == ("note", True)
    gone = (await checks(tmp_path, trunk | numbers))["SIP trunk"]
    assert (gone.state, "no connection" in gone.said) == ("bad", True)


@pytest.mark.parametrize("trunk", ["voice.example.com", "sip:voice.example.com;transport=smoke"])
async def test_a_trunk_that_is_written_wrong_is_said_with_its_setting_and_without_the_password(
    trunk: str, tmp_path: Path
) -> None:
    given = {"CALLWRIGHT_SIP_TRUNK": trunk, "CALLWRIGHT_SIP_PASSWORD": "hunter2"}
    found = (await checks(tmp_path, given))["SIP trunk"]
    assert found.state == "bad"
    assert found.said.startswith("CALLWRIGHT_SIP_TRUNK: ")
    assert "hunter2" not in found.said
