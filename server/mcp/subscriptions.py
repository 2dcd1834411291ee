"""Notifies hosts of changed campaigns: `subscriptions/listen`, and `resources/subscribe` of the older protocol.

The service is polled once for all who watch a campaign with one key, and only while somebody does. A subscriber must be
able to read what it watches, and is notified only of changes that its own key has seen.
"""

import json
import logging
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import anyio
from anyio.abc import TaskGroup
from anyio.lowlevel import checkpoint
from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from mcp.server.session import ServerSession as Peer
from mcp.server.subscriptions import ListenHandler, ResourceUpdated, ServerEvent
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    EmptyResult,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    UnsubscribeRequestParams,
)

from callwright.server.mcp.current import Sessions, current_session
from callwright.server.mcp.resources.resources import Address, address_of, refused, template_named

if TYPE_CHECKING:
    from callwright.contract.deployments.deployments import Deployment
    from callwright.server.mcp.session import ServerSession

log = logging.getLogger(__name__)

MOST_WATCHED = 50
"""Campaigns that one key may watch at a time."""
FIRST_PAUSE_S = 1.0
"""Pause between two polls of a campaign that has just changed."""
LONGEST_PAUSE_S = 5.0
"""Pause between two polls of a running campaign without changes, for example at night."""
REST_PAUSE_S = 30.0
"""Pause between two polls of a campaign that is not active."""

_LEAVES = "callwright_leaves"
"""In the state of a connection: whether its watches are removed when it closes."""

Listener = Callable[[ServerEvent], None]
Context = ServerRequestContext[Sessions, Any]


class SessionBus:
    """Events for open `subscriptions/listen` streams: for everybody, or only for the streams of one session."""

    def __init__(self) -> None:
        self._listeners: dict[object, tuple[ServerSession | None, Listener]] = {}

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Adds a stream of the caller. Returns a function that removes it."""
        token = object()
        self._listeners[token] = (current_session(), listener)

        def unsubscribe() -> None:
            self._listeners.pop(token, None)

        return unsubscribe

    async def publish(self, event: ServerEvent) -> None:
        """Notifies all streams."""
        for _, listener in list(self._listeners.values()):
            listener(event)
        await checkpoint()

    async def announce(self, session: "ServerSession", event: ServerEvent) -> None:
        """Notifies the streams of one session."""
        for owner, listener in list(self._listeners.values()):
            if owner is session:
                listener(event)
        await checkpoint()


@dataclass
class _WatchedCampaign:
    """A campaign that is watched with one key."""

    session: "ServerSession"
    address: Address
    seen: str
    active: bool
    streams: int = 0
    peers: dict[int, Peer] = field(default_factory=dict[int, Peer])
    """Connections of the older protocol, by the identity of the connection."""
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    group: TaskGroup | None = None


class Subscriptions:
    """The watched campaigns and the tasks that poll them. One for a server, for all its connections."""

    def __init__(self) -> None:
        self.bus = SessionBus()
        self._listen = ListenHandler(self.bus)
        self._watches: dict[tuple[ServerSession, str], _WatchedCampaign] = {}
        self._groups: list[TaskGroup] = []

    def serve_on(self, server: "MCPServer[Any]") -> None:
        """Registers the three methods. The capability is derived from that, in both eras of the protocol."""
        inner = server._lowlevel_server  # pyright: ignore[reportPrivateUsage]  # MCPServer has no way to serve them
        inner.add_request_handler("subscriptions/listen", SubscriptionsListenRequestParams, self.listen)
        inner.add_request_handler("resources/subscribe", SubscribeRequestParams, self.subscribe)
        inner.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, self.unsubscribe)

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[None]:
        """Runs the polling tasks. Enter it for every lifespan; campaigns still watched move to one that stays open."""
        tasks = anyio.create_task_group()
        try:
            async with tasks:
                self._groups.append(tasks)
                try:
                    yield
                finally:
                    self._groups.remove(tasks)
                    tasks.cancel_scope.cancel()
        finally:
            for watch in [watch for watch in self._watches.values() if watch.group is tasks]:
                self._begin(watch)

    async def listen(self, ctx: Context, params: SubscriptionsListenRequestParams) -> SubscriptionsListenResult:
        """A stream of events. Addresses that never change are not acknowledged.

        Raises:
            MCPError: an address cannot be read with this key, or too many are watched.
        """
        asked = params.notifications
        addresses = {uri: found for uri in asked.resource_subscriptions or () if (found := _watchable(uri))}
        watches = await self._added(ctx.lifespan_context.current(), addresses)
        for watch in watches:
            watch.streams += 1
        honoured = asked.model_copy(update={"resource_subscriptions": list(addresses) or None})
        try:
            return await self._listen(ctx, params.model_copy(update={"notifications": honoured}))
        finally:
            for watch in watches:
                watch.streams -= 1
                self._end_unwanted(watch)

    async def subscribe(self, ctx: Context, params: SubscribeRequestParams) -> EmptyResult:
        """Watches a campaign for a connection of the older protocol, until it unsubscribes or closes."""
        address = _watchable(params.uri)
        if address is None:
            only = template_named("deployment").uri
            raise refused(f"Only {only} announces changes. Read other resources again when you need them.", params.uri)
        connection = ctx.session._connection  # pyright: ignore[reportPrivateUsage]  # the SDK hands it to nobody else
        [watch] = await self._added(ctx.lifespan_context.current(), {params.uri: address})
        watch.peers[id(connection)] = ctx.session
        if not connection.state.setdefault(_LEAVES, False):
            connection.state[_LEAVES] = True
            connection.exit_stack.callback(self._leave_all, id(connection))
        return EmptyResult()

    async def unsubscribe(self, ctx: Context, params: UnsubscribeRequestParams) -> EmptyResult:
        """Stops watching. It is no error if nothing was watched."""
        connection = ctx.session._connection  # pyright: ignore[reportPrivateUsage]  # as in subscribe
        for watch in [watch for watch in self._watches.values() if watch.address.uri == params.uri]:
            self._leave(watch, id(connection))
        return EmptyResult()

    @property
    def watched(self) -> tuple[str, ...]:
        """The watched addresses, once for each key."""
        return tuple(uri for _, uri in self._watches)

    async def _added(self, session: "ServerSession", addresses: Mapping[str, Address]) -> list[_WatchedCampaign]:
        """A watch for each address, with its task, or none. Each is read first: a key watches only what it can read."""
        self._check_room(session, addresses)
        looks = [await _first_look(session, address) for address in addresses.values()]
        self._check_room(session, addresses)
        found: list[_WatchedCampaign] = []
        for look in looks:
            watch = self._watches.setdefault((session, look.address.uri), look)
            if watch is look:
                self._begin(watch)
            found.append(watch)
        return found

    def _check_room(self, session: "ServerSession", uris: Iterable[str]) -> None:
        watched = {uri for owner, uri in self._watches if owner is session}
        if len(watched.union(uris)) > MOST_WATCHED:
            raise MCPError(
                code=INVALID_PARAMS,
                message=f"At most {MOST_WATCHED} campaigns can be watched at a time with one key, and {len(watched)} "
                "are: unsubscribe from some first.",
            )

    def _begin(self, watch: _WatchedCampaign) -> None:
        if not self._groups:
            self._forget(watch)
            return
        watch.group, watch.scope = self._groups[-1], anyio.CancelScope()
        watch.group.start_soon(self._look_on, watch)

    def _leave_all(self, peer: int) -> None:
        for watch in list(self._watches.values()):
            self._leave(watch, peer)

    def _leave(self, watch: _WatchedCampaign, peer: int) -> None:
        watch.peers.pop(peer, None)
        self._end_unwanted(watch)

    def _end_unwanted(self, watch: _WatchedCampaign) -> None:
        if not (watch.streams or watch.peers):
            watch.scope.cancel()
            self._forget(watch)

    def _forget(self, watch: _WatchedCampaign) -> None:
        key = (watch.session, watch.address.uri)
        if self._watches.get(key) is watch:
            del self._watches[key]

    async def _look_on(self, watch: _WatchedCampaign) -> None:
        """Polls until nobody watches, the campaign is gone, or the key may no longer read it."""
        from callwright.client.errors import AuthenticationFailed, CallwrightError, NotFound, PermissionRefused

        pause = FIRST_PAUSE_S
        with watch.scope:
            while True:
                await watch.session.clock.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE_S if watch.active else REST_PAUSE_S)
                try:
                    found = await _found(watch.session, watch.address)
                except (AuthenticationFailed, PermissionRefused):
                    break
                except NotFound:
                    await self._tell(watch)
                    break
                except CallwrightError:
                    pause = REST_PAUSE_S
                    continue
                except Exception:
                    log.exception("a campaign is watched no longer")
                    break
                if (seen := _state(found)) != watch.seen:
                    watch.seen, watch.active, pause = seen, found.status == "active", FIRST_PAUSE_S
                    await self._tell(watch)
            self._forget(watch)

    async def _tell(self, watch: _WatchedCampaign) -> None:
        uri = watch.address.uri
        await self.bus.announce(watch.session, ResourceUpdated(uri))
        for peer in list(watch.peers.values()):
            await peer.send_resource_updated(uri)


def _watchable(uri: str) -> Address | None:
    """The address of a campaign; None for a resource that does not announce changes."""
    try:
        address = address_of(uri)
    except (ResourceNotFoundError, MCPError):
        return None
    return address if address.template.name == "deployment" and address.uri == uri else None


async def _first_look(session: "ServerSession", address: Address) -> _WatchedCampaign:
    """The present state of a campaign. Raises MCPError if this key cannot read it."""
    from callwright.client.errors import CallwrightError, NotFound
    from callwright.tools.catalogue.registry import tool_named
    from callwright.tools.replies.errors import explained_to
    from callwright.tools.wording.mentions import offered_words

    try:
        found = await _found(session, address)
    except NotFound as error:
        said = offered_words("Unknown resource. list_deployments shows what exists.", session.offers)
        raise refused(said, address.uri) from error
    except CallwrightError as error:
        said = explained_to(session, error, tool_named("get_deployment"))
        raise MCPError(code=INTERNAL_ERROR, message=said, data={"uri": address.uri}) from error
    return _WatchedCampaign(session, address, _state(found), found.status == "active")


async def _found(session: "ServerSession", address: Address) -> "Deployment":
    from callwright.contract.deployments.deployments import GetDeployment, get_deployment

    return await (await session.client()).ask(get_deployment, GetDeployment(id=address.values["deployment_id"]))


def _state(found: "Deployment") -> str:
    """Everything of a campaign except its simulated clock, which moves without a change."""
    return json.dumps(found.model_dump(mode="json", exclude={"clock"}), sort_keys=True)
