"""Changes of campaigns are announced, in both eras of the protocol, in scripted time."""

import pytest
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS

from callwright.client.errors import AuthenticationFailed, ServiceUnreachable
from callwright.server.mcp.subscriptions import MOST_WATCHED
from tests.support.mcp.server_at_a_moment import (
    MISSING,
    URI,
    Campaigns,
    campaigns,
    connected,
    refusal,
    scripted_server,
    subscribing,
    watching,
)
from tests.support.tools import samples

REVOKED = AuthenticationFailed("Key.", code="invalid_api_key", status=401, type="authentication_error")
AWAY = ServiceUnreachable("x", request_sent=False, repeatable=True)


async def test_the_server_says_that_it_can_be_subscribed_to(era: str) -> None:
    async with connected(scripted_server().server, era, []) as client:
        resources = client.server_capabilities.resources
        assert resources is not None
        assert resources.subscribe is True


async def test_a_change_of_counters_or_status_is_announced_once(era: str) -> None:
    on = scripted_server()
    async with connected(on.server, era, on.heard) as client, watching(client, era, on.heard, URI):
        await on.pass_time(10)
        assert on.heard == []
        on.campaigns.answer(151)
        await on.pass_time(10)
        assert on.heard == [URI]
        on.campaigns.change(status="completed")
        await on.pass_time(40)
        assert on.heard == [URI, URI]


async def test_a_change_between_subscribing_and_the_first_look_is_announced(era: str) -> None:
    on = scripted_server()
    async with connected(on.server, era, on.heard) as client, watching(client, era, on.heard, URI):
        on.campaigns.answer(151)
        await on.pass_time(1)
        assert on.heard == [URI]


async def test_the_simulated_networks_own_time_is_no_change(era: str) -> None:
    on = scripted_server()
    async with connected(on.server, era, on.heard) as client, watching(client, era, on.heard, URI):
        on.campaigns.change(clock=samples.AT)
        await on.pass_time(60)
        assert on.heard == []


async def test_looks_become_rarer_while_nothing_happens_and_frequent_again_after_a_change(era: str) -> None:
    on = scripted_server()
    async with connected(on.server, era, on.heard) as client, watching(client, era, on.heard, URI):
        await on.pass_time(17)
        assert on.clock.pauses == [1, 2, 4, 5, 5, 5]
        on.campaigns.answer(151)
        await on.pass_time(9)
        assert on.clock.pauses[6:] == [1, 2, 4]


async def test_a_campaign_that_rests_is_looked_at_twice_a_minute(era: str) -> None:
    on = scripted_server(campaigns(status="paused"))
    async with connected(on.server, era, on.heard) as client, watching(client, era, on.heard, URI):
        await on.pass_time(130)
        assert on.clock.pauses == [1, 2, 4, 8, 16, 30, 30, 30, 30]


async def test_nobody_looks_after_the_last_one_has_left(era: str) -> None:
    on = scripted_server()
    async with connected(on.server, era, on.heard) as client:
        async with watching(client, era, on.heard, URI):
            await on.pass_time(3)
        await on.pass_time(1)
        times_read = on.times_read
        on.campaigns.answer(151)
        await on.pass_time(120)
        assert (on.times_read, on.clock.sleepers, on.heard) == (times_read, 0, [])


async def test_one_task_looks_for_all_who_watch_with_one_key(era: str) -> None:
    on = scripted_server()
    async with connected(on.server, era, on.heard) as client, watching(client, era, on.heard, URI):
        async with watching(client, era, on.heard, URI):
            await on.pass_time(0)
            assert on.clock.sleepers == 1
        if era != "legacy":  # there a connection watches an address or it does not
            on.campaigns.answer(151)
            await on.pass_time(5)
            assert on.heard == [URI]


async def test_several_campaigns_are_told_apart(era: str) -> None:
    on = scripted_server(campaigns(3))
    uris = [f"callwright://deployments/dep_{number}" for number in (1, 2, 3)]
    async with connected(on.server, era, on.heard) as client, watching(client, era, on.heard, *uris):
        on.campaigns.answer(151, "dep_2")
        await on.pass_time(5)
        assert on.heard == [uris[1]]


async def test_what_does_not_exist_cannot_be_watched(era: str) -> None:
    on = scripted_server()
    async with connected(on.server, era, []) as client:
        code, words = await refusal(client, era, "callwright://deployments/dep_9")
    assert (code, words) == (INVALID_PARAMS, "Unknown resource. list_deployments shows what exists.")
    assert on.clock.sleepers == 0


async def test_a_service_that_is_away_refuses_in_words(era: str) -> None:
    on = scripted_server(Campaigns({"dep_1": AWAY}))
    async with connected(on.server, era, []) as client:
        code, words = await refusal(client, era, URI)
    assert code == INTERNAL_ERROR
    assert words.startswith("The service cannot be reached.")


async def test_no_more_than_fifty_can_be_watched(era: str) -> None:
    on = scripted_server(campaigns(MOST_WATCHED + 1))
    uris = [f"callwright://deployments/dep_{number}" for number in range(1, MOST_WATCHED + 2)]
    async with connected(on.server, era, on.heard) as client, watching(client, era, on.heard, *uris[:-1]):
        code, words = await refusal(client, era, uris[-1])
        assert code == INVALID_PARAMS
        assert words.startswith("At most 50 campaigns can be watched at a time with one key, and 50 are:")
        async with watching(client, era, on.heard, uris[0]):
            await on.pass_time(0)


async def test_the_older_protocol_is_told_what_can_be_watched() -> None:
    async with connected(scripted_server().server, "legacy", []) as client:
        code, words = await refusal(client, "legacy", "callwright://calls/cal_1")
    assert code == INVALID_PARAMS
    assert words.startswith("Only callwright://deployments/{deployment_id} announces changes.")


async def test_the_newer_protocol_acknowledges_only_what_can_be_watched() -> None:
    uris = ["callwright://calls/cal_1", URI, "callwright://deployments/dep_1/report.csv", "other://x"]
    async with (
        connected(scripted_server().server, "auto", []) as client,
        client.listen(resource_subscriptions=uris) as stream,
    ):
        assert stream.honored.resource_subscriptions == [URI]


async def test_the_newer_protocol_keeps_a_stream_for_other_events() -> None:
    async with (
        connected(scripted_server().server, "auto", []) as client,
        client.listen(tools_list_changed=True) as stream,
    ):
        assert stream.honored.tools_list_changed is True
        assert stream.honored.resource_subscriptions is None


async def test_unsubscribing_from_what_nobody_watches_is_no_error() -> None:
    async with connected(scripted_server().server, "legacy", []) as client:
        await client.session.send_request(*subscribing("resources/unsubscribe", URI))


async def test_an_absence_of_the_service_is_waited_out(era: str) -> None:
    on = scripted_server()
    async with connected(on.server, era, on.heard) as client, watching(client, era, on.heard, URI):
        before = on.campaigns.now["dep_1"]
        on.campaigns.now["dep_1"] = AWAY
        await on.pass_time(70)
        on.campaigns.now["dep_1"] = before
        on.campaigns.answer(151)
        await on.pass_time(35)
        assert on.heard == [URI]


@pytest.mark.parametrize(("end", "told"), [(MISSING, [URI]), (REVOKED, []), (RuntimeError("closed"), [])])
async def test_a_campaign_that_is_gone_is_told_once_and_a_lost_key_is_not(
    end: Exception, told: list[str], era: str, caplog: pytest.LogCaptureFixture
) -> None:
    on = scripted_server()
    async with connected(on.server, era, on.heard) as client, watching(client, era, on.heard, URI):
        before, on.campaigns.now["dep_1"] = on.campaigns.now["dep_1"], end
        await on.pass_time(5)
        on.campaigns.now["dep_1"] = before
        on.campaigns.answer(151)
        await on.pass_time(60)
        assert (on.heard, on.clock.sleepers) == (told, 0)
    assert bool(caplog.records) is isinstance(end, RuntimeError)
