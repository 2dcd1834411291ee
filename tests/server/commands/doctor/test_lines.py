"""What `callwright doctor` says about real calls, before the first one."""

from collections.abc import Mapping
from pathlib import Path

import anyio
import anyio.abc
import pytest

from callwright.client.transport import MockTransport, Request, Response
from callwright.server.commands.doctor.checkup import CheckResult
from callwright.server.commands.doctor.lines import line_checks
from callwright.server.embedded.embedded import listener_on
from callwright.server.settings import read_settings
from callwright.service.app import take_prices
from callwright.service.rules.prices.price_list import BadPriceList
from tests.support.priced_calls import LIST
from tests.support.service import Tenant
from tests.support.twilio.account import NUMBER, SID, TOKEN
from tests.support.twilio.imitation import imitated_twilio
from tests.support.twilio.service import calling_through

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
        assert (without.state, "CALLWRIGHT_SIP_NUMBERS" in without.help) == ("bad", True)
    gone = (await checks(tmp_path, trunk | numbers))["SIP trunk"]
    assert (gone.state, "no connection" in gone.said) == ("bad", True)


async def test_a_trunk_over_udp_is_asked_what_it_can_do_and_silence_is_no_tick(tmp_path: Path) -> None:
    numbers = {"CALLWRIGHT_SIP_NUMBERS": "+12125550191"}
    async with await anyio.create_udp_socket(local_host="127.0.0.1") as there:
        port = there.extra(anyio.abc.SocketAttribute.local_port)
        given = {"CALLWRIGHT_SIP_TRUNK": f"sip:127.0.0.1:{port};transport=udp"} | numbers

        async def answer() -> None:
            asked, (host, asker) = await there.receive()
            assert asked.startswith(f"OPTIONS sip:127.0.0.1:{port} SIP/2.0\r\n".encode())
            await there.sendto(b"SIP/2.0 404 Not Found\r\n\r\n", host, asker)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(answer)
            spoke = (await checks(tmp_path, given))["SIP trunk"]
            assert (spoke.state, "something answers there (SIP OPTIONS: 404)" in spoke.said) == ("good", True)
        silent = (await checks(tmp_path, given))["SIP trunk"]
    gone = (await checks(tmp_path, given))["SIP trunk"]
    assert (silent.state, "nothing answered SIP OPTIONS" in silent.said) == ("note", True)
    assert (gone.state, "nothing listens there" in gone.said) == ("bad", True)


async def test_how_callers_come_in_is_said_and_a_port_that_is_taken_is_found(tmp_path: Path) -> None:
    given = {
        "CALLWRIGHT_SIP_TRUNK": "sip:127.0.0.1:9;transport=tcp",
        "CALLWRIGHT_SIP_NUMBERS": "+12125550191",
        "CALLWRIGHT_SIP_USER": "bob",
        "CALLWRIGHT_SIP_PASSWORD": "hunter2",
    }
    assert "SIP callers" not in await checks(tmp_path, given)
    by_login = (await checks(tmp_path, given | {"CALLWRIGHT_SIP_INBOUND": "register"}))["SIP callers"]
    assert (by_login.state, by_login.said) == (
        "good",
        "They come by registration as bob, from the addresses of 127.0.0.1.",
    )
    with listener_on() as listener:
        at = f"127.0.0.1:{listener.getsockname()[1]}"
        port = {"CALLWRIGHT_SIP_INBOUND": at, "CALLWRIGHT_SIP_INBOUND_FROM": "192.0.2.0/24, 198.51.100.7"}
        taken = (await checks(tmp_path, given | port))["SIP callers"]
    assert (taken.state, f"They come to {at}, from 192.0.2.0/24, 198.51.100.7" in taken.said) == ("note", True)
    free = (await checks(tmp_path, given | port))["SIP callers"]
    assert (free.state, "cannot be opened" in free.said) == ("good", False)


@pytest.mark.parametrize(
    ("status", "state", "said"),
    [(200, "good", "no sound was sent"), (401, "bad", "refuses the key"), (404, "note", "status 404")],
)
async def test_what_hears_is_asked_for_its_models_and_the_answer_is_said(
    status: int, state: str, said: str, tmp_path: Path
) -> None:
    def answered(request: Request) -> Response:
        assert (request.method, str(request.url)) == ("GET", "https://ear.example/v1/models")
        assert request.headers["Authorization"] == "Bearer hunter2"
        return Response(status, json={"data": []})

    given = {"CALLWRIGHT_STT_URL": "https://ear.example/v1", "CALLWRIGHT_STT_KEY": "hunter2"}
    found = await line_checks(read_settings(given, data=tmp_path), transport=MockTransport(answered))
    hearing = next(finding for finding in found if finding.what == "Hearing")
    assert (hearing.state, said in hearing.said) == (state, True)
    assert "hunter2" not in str(found)


async def test_what_hears_and_is_not_there_is_named_and_a_cloud_without_address_is_said_not_to_be_tried(
    tmp_path: Path,
) -> None:
    with listener_on() as listener:
        port = listener.getsockname()[1]
    absent = await line_checks(read_settings({"CALLWRIGHT_STT_URL": f"http://127.0.0.1:{port}/v1"}, data=tmp_path))
    assert [(one.state, "does not answer" in one.said) for one in absent if one.what == "Hearing"] == [("bad", True)]
    untried = (await checks(tmp_path, {"DEEPGRAM_API_KEY": "hunter2"}))["Hearing"]
    assert (untried.state, untried.said) == ("note", "deepgram, not tried")


@pytest.mark.parametrize("trunk", ["voice.example.com", "sip:voice.example.com;transport=smoke"])
async def test_a_trunk_that_is_written_wrong_is_said_with_its_setting_and_without_the_password(
    trunk: str, tmp_path: Path
) -> None:
    given = {"CALLWRIGHT_SIP_TRUNK": trunk, "CALLWRIGHT_SIP_PASSWORD": "hunter2"}
    found = (await checks(tmp_path, given))["SIP trunk"]
    assert found.state == "bad"
    assert found.said.startswith("CALLWRIGHT_SIP_TRUNK: ")
    assert "hunter2" not in found.said


async def test_the_price_list_is_shown_with_what_it_lacks_and_a_mistake_in_it_is_named(tmp_path: Path) -> None:
    assert "costs.md" in (await checks(tmp_path, {}))["Prices"].said
    file = tmp_path / "prices.toml"
    file.write_text(LIST, encoding="utf-8")
    given = {"CALLWRIGHT_SERVICE_PRICES": str(file)}
    good = (await checks(tmp_path, given))["Prices"]
    assert (good.state, good.said) == ("good", "version 2026.11.27, with prices for scripted, stt, llm, tts")
    with listener_on() as listener:
        trunk = {"CALLWRIGHT_SIP_TRUNK": f"sip:127.0.0.1:{listener.getsockname()[1]};transport=tcp"}
        lacks = (await checks(tmp_path, given | trunk))["Prices"]
    assert (lacks.state, lacks.help) == ("note", "Not counted is what these charge: the carrier ([carriers.sip]).")
    file.write_text(LIST.replace("minute = 6_000", "minute = -1"), encoding="utf-8")
    bad = (await checks(tmp_path, given))["Prices"]
    assert (bad.state, "platform.minute: this has to be a whole number of at least 0" in bad.said) == ("bad", True)


TWILIO = {
    "CALLWRIGHT_TWILIO_ACCOUNT_SID": SID,
    "CALLWRIGHT_TWILIO_AUTH_TOKEN": TOKEN,
    "CALLWRIGHT_PUBLIC_URL": "http://127.0.0.1:1",
}


async def test_a_twilio_account_is_looked_at_without_a_call(database_url: str, tmp_path: Path) -> None:
    async with imitated_twilio() as twilio, calling_through(twilio, database_url, tmp_path, lines=0) as tenant:
        here = {"CALLWRIGHT_PUBLIC_URL": tenant.services.own_address.root, "CALLWRIGHT_TWILIO_API_BASE": twilio.url}

        async def found() -> dict[str, CheckResult]:
            settings = read_settings(TWILIO | here, data=tmp_path)
            return {finding.what: finding for finding in await line_checks(settings)}

        without = await found()
        assert (without["Twilio"].state, "capability Voice" in without["Twilio"].help) == ("bad", True)
        assert without["Sound from Twilio"].state == "good"
        assert "SIP trunk" not in without
        twilio.numbers[NUMBER] = True
        assert (await found())["Twilio"].said == "the account is active, with 1 number to call from"
        twilio.refuses_account = True
        refused = (await found())["Twilio"]
        assert (refused.state, "CALLWRIGHT_TWILIO_AUTH_TOKEN" in refused.help) == ("bad", True)
        assert twilio.calls == []
        assert TOKEN not in str(refused)


async def test_websockets_that_do_not_get_through_are_found_before_the_first_call(tmp_path: Path) -> None:
    def answered(request: Request) -> Response:
        if request.url.path.startswith("/lines/"):
            return Response(404)
        if request.url.path == "/healthz":
            return Response(200, json={"status": "ok"})
        numbers = [{"capabilities": {"voice": True}}]
        return Response(200, json={"status": "active", "type": "Trial", "incoming_phone_numbers": numbers})

    file = tmp_path / "prices.toml"
    file.write_text(LIST, encoding="utf-8")
    given = {"CALLWRIGHT_PUBLIC_URL": PUBLIC, "CALLWRIGHT_SERVICE_PRICES": str(file)}
    settings = read_settings(TWILIO | given, data=tmp_path)
    found = {each.what: each for each in await line_checks(settings, transport=MockTransport(answered))}
    assert (found["Twilio"].state, found["Sound from Twilio"].state) == ("note", "bad")
    assert "trial account" in found["Twilio"].said
    assert (found["Prices"].state, "the carrier ([carriers.twilio])" in found["Prices"].help) == ("note", True)


async def test_prices_that_are_stored_with_other_contents_are_found_before_serve_refuses_them(
    tenant: Tenant, database_url: str, tmp_path: Path
) -> None:
    file = tmp_path / "prices.toml"
    file.write_text(LIST, encoding="utf-8")
    given = {"CALLWRIGHT_SERVICE_PRICES": str(file), "CALLWRIGHT_DATABASE_URL": database_url}
    assert (await checks(tmp_path, given))["Prices"].state == "good"
    await take_prices(tenant.database, file, 1)
    assert (await checks(tmp_path, given))["Prices"].state == "good"
    file.write_text(LIST.replace("minute = 6_000", "minute = 7_000"), encoding="utf-8")
    changed = (await checks(tmp_path, given))["Prices"]
    assert (changed.state, changed.help) == ("bad", "Give this list a newer version.")
    with pytest.raises(BadPriceList, match="newer version"):
        await take_prices(tenant.database, file, 2)
