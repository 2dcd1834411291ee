"""Several keys, several connections: who hears of what, and when nobody is left to tell."""

import anyio
from mcp.types import INVALID_PARAMS

from tests.support.mcp.server_at_a_moment import (
    URI,
    connected,
    refusal,
    sleeping,
    subscribing,
    two_organizations,
    watching,
)


async def test_a_key_watches_only_what_it_can_read(era: str) -> None:
    async with two_organizations() as (keys, on, of), connected(on.server, era, on.heard) as client:
        async with watching(client, era, on.heard, URI):
            keys.now = "two"
            code, _ = await refusal(client, era, URI)
            assert code == INVALID_PARAMS
            heard_by_two: list[str] = []
            async with watching(client, era, heard_by_two, "callwright://deployments/dep_2"):
                of("one").answer(151)
                await on.pass_time(2)
            keys.now = "one"
        assert on.heard == [URI]
        assert heard_by_two == []


async def test_two_connections_hear_of_one_campaign_and_the_one_that_stays_goes_on(era: str) -> None:
    async with two_organizations() as (_, on, of), connected(on.server, era, on.heard) as first:
        others: list[str] = []
        async with connected(on.server, era, others) as second, watching(second, era, others, URI):
            async with watching(first, era, on.heard, URI):
                assert await sleeping(on) == 1
                of("one").answer(151)
                await on.pass_time(2)
                assert (on.heard, others) == ([URI], [URI])
        async with watching(first, era, on.heard, URI):
            of("one").answer(152)
            await on.pass_time(2)
        assert on.heard == [URI, URI]


async def test_what_is_watched_moves_on_when_the_lifespan_it_began_in_ends() -> None:
    async with two_organizations() as (_, on, of), connected(on.server, "legacy", on.heard) as first:
        async with connected(on.server, "legacy", []):
            await first.session.send_request(*subscribing("resources/subscribe", URI))
        of("one").answer(151)
        await on.pass_time(5)
        assert on.heard == [URI]


async def test_a_connection_that_closes_without_a_word_is_watched_for_no_longer() -> None:
    async with two_organizations() as (_, on, _of), connected(on.server, "legacy", []):
        async with connected(on.server, "legacy", []) as client:
            await client.session.send_request(*subscribing("resources/subscribe", URI))
            assert await sleeping(on) == 1
        assert await sleeping(on) == 0


async def test_a_stream_that_is_given_up_is_watched_for_no_longer() -> None:
    async with two_organizations() as (_, on, _of), connected(on.server, "auto", []) as client:
        with anyio.CancelScope() as scope:
            async with client.listen(resource_subscriptions=[URI]):
                assert await sleeping(on) == 1
                scope.cancel()
                await anyio.lowlevel.checkpoint()
        assert await sleeping(on) == 0
