"""`callwright listen`: every new event once, what became of it, and how it begins and ends."""

import json
import re
import signal
from pathlib import Path

import anyio
import httpx2 as httpx
import pytest
from rich.text import Text

from callwright.client import CallwrightError, Client
from callwright.client.transport import ASGITransport, MockTransport, Request, Response
from callwright.contract.events import DEPLOYMENT_PAUSED, DEPLOYMENT_RESUMED
from callwright.server.commands.events.lines import plain
from callwright.service.platform.clock.clock import DAY, SECOND
from callwright.service.tables import outbox
from tests.client.scripted import Pauses, ScriptedService, client_of, many
from tests.support.commands.listening import SECRET, terminal
from tests.support.processes.programs import STOP_S, run, serving, spawned, until
from tests.support.service import BASE_URL
from tests.support.webhooks.delivering import Delivering, answer, delivering, paused, url_of


async def happen_at(at: Delivering, at_ms: int, count: int = 1) -> list[str]:
    """Events of a simulated campaign, whose clock shows another moment; their ids."""
    rows = [
        outbox.event_row(
            at.services.ids, at.tenant.org_id, DEPLOYMENT_PAUSED, paused(f"dep_{number}"), at_ms=at_ms, simulated=True
        )
        for number in range(count)
    ]
    await at.services.database.write(outbox.add_events, rows)
    return [row["id"] for row in rows]


async def test_an_event_is_a_line_with_its_time_type_subject_and_network(database_url: str, tmp_path: Path) -> None:
    async with delivering(database_url, tmp_path) as at:
        shown = terminal(at.tenant.client)
        await at.happen()
        await shown.listener.begin()
        assert await shown.lines() == []  # what was there before is not new
        await at.happen(simulated=True)
        await at.happen(type_=DEPLOYMENT_RESUMED)
        one, other = sorted(await shown.lines())
        assert re.fullmatch(r"\d\d-\d\d \d\d:\d\d:\d\d deployment.paused dep_0 simulated", one)
        assert re.fullmatch(r"\d\d-\d\d \d\d:\d\d:\d\d deployment.resumed dep_0", other)
        assert await shown.lines() == []
        assert shown.listener.count == 2


async def test_none_of_many_events_is_lost_or_shown_twice_wherever_their_clock_stands(
    database_url: str, tmp_path: Path
) -> None:
    async with delivering(database_url, tmp_path) as at:
        now_ms = at.clock.now_ms()
        shown = terminal(at.tenant.client)
        await happen_at(at, now_ms + DAY, 230)
        await shown.listener.begin()
        assert len(await happen_at(at, now_ms + 2 * DAY, 450)) == len(await shown.lines())
        await happen_at(at, now_ms)  # behind 680 others in the list
        assert len(await shown.lines()) == 1
        await happen_at(at, now_ms + DAY, 3)
        await happen_at(at, now_ms - 60 * SECOND, 2)
        assert len(await shown.lines()) == 5
        assert await shown.lines() == []


async def test_a_log_without_events_is_listened_to(database_url: str, tmp_path: Path) -> None:
    async with delivering(database_url, tmp_path) as at, at.tenant.another_organization() as other:
        shown = terminal(other.client)
        await shown.listener.begin()
        await at.happen()  # another organization's
        assert await shown.lines() == []
        webhook = await other.client.webhooks.create(url=url_of("b"), events=["*"])
        await other.client.webhooks.test(id=webhook.id)
        (line,) = await shown.lines()
        assert f"webhook.test {webhook.id}" in line


async def test_of_a_subscription_its_events_are_shown_and_what_became_of_them(
    database_url: str, tmp_path: Path
) -> None:
    async with delivering(database_url, tmp_path) as at:
        webhook = await at.subscribe("a", "deployment.paused", secret=SECRET)
        other = await at.subscribe("b")
        shown = terminal(at.tenant.client, webhook)
        await shown.listener.begin()
        await at.happen()
        await at.happen(type_=DEPLOYMENT_RESUMED)
        await at.tenant.client.webhooks.test(id=other.id)
        (line,) = await shown.lines()
        assert "deployment.paused dep_0" in line
        at.endpoints.answers[url_of("a")] = lambda _: answer("server_error")
        await at.deliver()
        (line,) = await shown.lines()
        assert re.fullmatch(r"-> deployment.paused dep_0 server error 500, attempt 1, again at \d\d:\d\d:\d\d", line)
        assert await shown.lines() == []
        del at.endpoints.answers[url_of("a")]
        await at.deliver(after_ms=15 * SECOND)
        assert await shown.lines() == ["-> deployment.paused dep_0 arrived 204, attempt 2"]
        assert await shown.lines() == []
        await at.tenant.client.webhooks.test(id=webhook.id)
        at.endpoints.answers[url_of("a")] = lambda _: answer("rejected")
        await at.deliver()
        event, delivery = await shown.lines()
        assert f"webhook.test {webhook.id}" in event
        assert delivery == f"-> webhook.test {webhook.id} rejected 400, attempt 1, not tried again"


async def test_for_programs_each_event_and_each_delivery_is_a_line_of_json(database_url: str, tmp_path: Path) -> None:
    async with delivering(database_url, tmp_path) as at:
        webhook = await at.subscribe("a", "deployment.paused", secret=SECRET)
        shown = terminal(at.tenant.client, webhook, secret=SECRET, as_json=True)
        await shown.listener.begin()
        await at.happen()
        (event,) = map(json.loads, await shown.lines())
        assert (event["type"], event["subject_id"]) == ("deployment.paused", "dep_0")
        assert event["data"]
        await at.deliver()
        (told,) = map(json.loads, await shown.lines())
        assert (told["delivery"]["event_id"], told["delivery"]["status"]) == (event["id"], "succeeded")
        assert told["signature"] == "signature verified"


async def test_a_subscription_does_not_hear_of_itself_and_what_it_misses_is_said(
    database_url: str, tmp_path: Path
) -> None:
    async with delivering(database_url, tmp_path) as at:
        webhook = await at.subscribe()
        shown = terminal(at.tenant.client, webhook)
        await shown.listener.begin()
        await at.tenant.client.webhooks.update(id=webhook.id, status="disabled")
        assert await shown.lines() == []
        await at.deliver_new()
        event, delivery = await shown.lines()
        assert "deployment.paused dep_0" in event
        assert delivery == "-> deployment.paused dep_0 missed: not sent"


async def test_with_all_what_a_subscription_does_not_want_is_shown_too(database_url: str, tmp_path: Path) -> None:
    async with delivering(database_url, tmp_path) as at:
        webhook = await at.subscribe("a", "deployment.paused")
        shown = terminal(at.tenant.client, webhook, everything=True)
        await shown.listener.begin()
        await at.deliver_new(type_=DEPLOYMENT_RESUMED)
        assert len(await shown.lines()) == 1


@pytest.mark.requirement("SIGN-03", "SIGN-08")
async def test_signatures_in_the_log_are_held_against_the_secret(database_url: str, tmp_path: Path) -> None:
    async with delivering(database_url, tmp_path) as at:
        webhook = await at.subscribe(secret=SECRET)
        right, wrong = (terminal(at.tenant.client, webhook, secret=each) for each in (SECRET, SECRET + "x"))
        await right.listener.begin()
        await wrong.listener.begin()
        at.endpoints.answers[url_of("a")] = lambda _: answer("server_error")
        await at.deliver_new(simulated=True)
        await at.deliver(after_ms=15 * SECOND)
        _, line = await right.lines()
        assert re.search(r"attempt 2, again at [0-9:]{8}, signature verified$", line)
        _, line = await wrong.lines()
        assert line.endswith(", signature of attempt 1 does not match")
        rotated = await at.tenant.client.webhooks.rotate_secret(id=webhook.id)  # from here on both sign
        both = [terminal(at.tenant.client, webhook, secret=each) for each in (SECRET, rotated.secret)]
        for one in both:
            await one.listener.begin()
        del at.endpoints.answers[url_of("a")]
        await at.deliver_new()
        for one in both:
            _, line = await one.lines()
            assert line.endswith("arrived 204, attempt 1, signature verified")


async def test_what_a_failed_look_did_not_show_is_shown_by_the_next(database_url: str, tmp_path: Path) -> None:
    async with delivering(database_url, tmp_path) as at:
        webhook = await at.subscribe(secret=SECRET)
        inner = ASGITransport(app=at.tenant.service.asgi)
        failing = {"/deliveries/": 1, "/events": 0}

        async def flaky(request: Request) -> Response:
            for part in [part for part in failing if part in request.url.path and failing[part]]:
                failing[part] -= 1
                return Response(400, json={"error": "invalid_field", "message": "Not now."})
            return await inner.handle_async_request(request)

        async with Client(BASE_URL, at.tenant.api_key, transport=MockTransport(flaky)) as client:
            shown = terminal(client, webhook, secret=SECRET)
            await shown.listener.begin()
            await at.deliver_new(2)
            failing["/events"] = 1
            for _ in range(2):
                with pytest.raises(CallwrightError, match="Not now"):
                    await shown.listener.look()
            lines = await shown.lines()
            assert sum("->" in line for line in lines) == 2
            assert len(lines) == 4
            assert await shown.lines() == []


async def test_it_waits_for_a_service_that_is_away_and_ends_where_it_is_refused() -> None:
    def page(_: Request) -> Response:
        return many([])

    refused = Response(401, json={"error": "invalid_api_key", "message": "No such key."})
    away = httpx.ConnectError("refused")
    service = ScriptedService(page, page, page, *[away] * 40, page, refused)
    pauses = Pauses()
    async with client_of(service) as client:
        shown = terminal(client)
        await shown.listener.begin()
        with anyio.fail_after(20), pytest.raises(CallwrightError, match="invalid_api_key"):
            await shown.listener.keep_listening(1.0, sleep=pauses)
    assert shown.said.getvalue().count("trying again") == 1
    assert pauses.taken[:6] == [1.0, 2.0, 4.0, 8.0, 10.0, 10.0]
    assert pauses.taken[-1] == 1.0


def test_what_could_steer_a_terminal_is_not_printed() -> None:
    assert plain("a\x1b[31m\x07b", 20) == "a\ufffd[31m\ufffdb"
    assert str(Text(plain("x" * 90, 60))) == "x" * 60


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--forward=https://example.com/x",), "--forward takes a URL on this machine"),
        (("--secret=whsec_0123456789012345678901234567",), "--secret is for --forward"),
        (("--forward=http://localhost/", "--secret=short"), "--secret takes the secret of a subscription"),
        (("--all",), "--all shows what a subscription does not want too"),
        (("whk_none",), "no such"),
    ],
)
def test_what_it_cannot_do_is_said_in_one_sentence(flags: tuple[str, ...], words: str, tmp_path: Path) -> None:
    done = run(tmp_path, "listen", *flags, "--data", tmp_path / "data")
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "Ctrl-C"])
async def test_it_listens_to_a_service_until_it_is_told_to_stop(told: signal.Signals, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(tmp_path, data) as service:
        key = run(tmp_path, "keys", "create", "--data", data, "--quiet").stdout.strip()
        settings = {"CALLWRIGHT_BASE_URL": service.base_url, "CALLWRIGHT_API_KEY": key}
        said = tmp_path / "said"
        with said.open("wb") as errors:
            with spawned(
                tmp_path, "listen", "--forward=http://127.0.0.1:9/", stderr=errors, settings=settings
            ) as process:
                until(lambda: "made for this session" in said.read_text(), "it listens")
                async with Client(service.base_url, key) as client:
                    webhook = await client.webhooks.create(url=url_of("a"), events=["*"])
                    await client.webhooks.update(id=webhook.id, status="disabled")
                assert process.stdout is not None
                line = process.stdout.readline().decode()
                assert f"webhook.disabled              {webhook.id}" in line
                assert "no connection" in line
                process.send_signal(told)
                assert process.wait(STOP_S) == 0
                assert process.stdout.read() == b""
        words = said.read_text(encoding="utf-8")
        assert len(re.findall(r"whsec_\S{43}", words)) == 1
        assert words.splitlines()[-1] == "1 event."
        assert key not in words


async def test_without_a_service_it_runs_the_one_in_the_folder(tmp_path: Path) -> None:
    said = tmp_path / "said"
    with said.open("wb") as errors:
        with spawned(tmp_path, "listen", "--data", tmp_path / "data", stderr=errors) as process:
            until(lambda: "Ctrl-C ends it" in said.read_text(), "it listens")
            process.send_signal(signal.SIGINT)
            assert process.wait(STOP_S) == 0
    assert said.read_text(encoding="utf-8").splitlines()[-1] == "0 events."
