"""The service of a data folder, run in this process, or used where another process runs it.

Several hosts may each start an MCP server on one data folder. The first serves it and listens on the loopback for the
others; when it ends, one of them takes over and continues the campaigns.
"""

import importlib
import logging
import socket
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import anyio
from anyio import to_thread

from callwright.client import Client
from callwright.client.errors import CallwrightError, ServiceTimeout
from callwright.client.transport import Answer, DirectTransport, httpx
from callwright.server.embedded.company_login import company_login_settings
from callwright.server.embedded.failures import first_cause, start_failure
from callwright.server.embedded.in_process import InProcessTransport
from callwright.server.embedded.mail import mail_settings
from callwright.server.embedded.payments import payment_settings
from callwright.server.embedded.speech import speech_settings
from callwright.server.log_lines import is_no_upgrade_advice
from callwright.server.settings import ProgramSettings
from callwright.server.transport.key_sessions import IdentifiedKey, KeyLookUpFailed
from callwright.service.platform.data_folder import DataFolder, DataFolderInUse

if TYPE_CHECKING:
    from callwright.contract.problems import ProblemCode
    from callwright.service.app import Service

log = logging.getLogger(__name__)
LOOK_AGAIN_S = 0.25
"""Seconds between two checks whether the folder is free, while another process has it."""
IDLE_CONNECTION_S = 75
"""How long a connection may be idle. Clients and proxies with connection pools usually close theirs after a minute. If
this side closed one earlier, the next request on it would be lost.
"""
TAKEOVER_S = 20.0
"""How long a request waits for a process that serves the folder."""
_NOT_SENT = (httpx.ConnectError, AttributeError)
"""Raised when the other process is gone before anything was sent. Expected: a connect error. Actual: where uvloop has
closed an idle connection, the pool asks its missing socket for an address and gets an AttributeError.
"""
MOST_IN_A_MESSAGE = 65_536
"""Bytes of a message of a websocket; half a second of sound is a quarter of that."""
IN_PROCESS = "http://callwright/v1"
_SEALING_SECRET = "request_state_secret"


@asynccontextmanager
async def remote(
    settings: ProgramSettings, beside: Callable[[Client], Coroutine[Any, Any, None]] | None = None
) -> AsyncGenerator[Client]:
    """A client of a remote service. `beside` runs concurrently and is not waited for."""
    assert settings.base_url is not None
    assert settings.api_key is not None
    async with Client(settings.base_url, settings.api_key) as client, anyio.create_task_group() as tasks:
        if beside is not None:
            tasks.start_soon(beside, client)
        yield client
        tasks.cancel_scope.cancel()


@asynccontextmanager
async def service_of(
    settings: ProgramSettings, *, starts_paused: bool = False, workers: bool = True
) -> AsyncGenerator["tuple[Service, str]"]:
    """The service in this process and the embedded default's key. Without `workers` it only carries calls.

    Raises `DataFolderInUse`.
    """
    await to_thread.run_sync(importlib.import_module, "callwright.service.app")
    from callwright.server.embedded.lines import line_settings
    from callwright.service import accounts
    from callwright.service.app import running
    from callwright.service.platform.database.sqlite.disk_space import StorageFull
    from callwright.service.settings import ServiceSettings

    made = ServiceSettings(
        data=settings.data,
        database_url=settings.database_url,
        sim_seed=settings.sim_seed,
        sim_time_scale=settings.sim_time_scale,
        clock_begins_ms=settings.clock_begins_ms,
        upload_max_bytes=settings.upload_max_bytes,
        rules_file=settings.rules_file,
        prices_file=settings.prices_file,
        webhook_networks=settings.webhook_networks,
        public_url=settings.public_url,
        starts_paused=starts_paused,
        payments=payment_settings(settings),
        lines=line_settings(settings),
        secrets_key=settings.secrets_key,
        mail=mail_settings(settings),
        speech=speech_settings(settings),
        company_login=company_login_settings(settings),
    )
    async with running(made, workers=workers, lines=True) as service:
        folder, services = DataFolder(settings.data), service.services
        kept = folder.key()
        try:
            key = await services.database.write(accounts.embedded_key, services.ids, kept, services.clock.now_ms())
        except StorageFull:  # then the service can be read with the stored key, if there is one
            if kept is None:
                raise
            key = kept
        if key != kept:
            folder.keep_key(key)
        yield service, key


def listener_on(host: str = "127.0.0.1", port: int = 0) -> socket.socket:
    """A listening socket; port 0 takes a free one. Raises OSError.

    Its connections send without delay. The head and the body of an answer are written separately, and the body would
    otherwise wait about 40 ms for the client to acknowledge the head. asyncio sets this only on listeners of its own.
    """
    listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def address_of(listener: socket.socket) -> str:
    """The base address of a service on a socket, with the version prefix."""
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/v1"


def _protocol() -> Any:
    """The HTTP protocol class: with limits, unless the system has only the parser that has some of its own."""
    if find_spec("httptools") is None:
        return "auto"
    from callwright.service.platform.clock.clock import SystemClock
    from callwright.service.platform.ids import Ids
    from callwright.service.platform.refusals import Refusal
    from callwright.service.rest.problems import problem_body

    ids = Ids(SystemClock().now_ms)

    def refused(problem: "ProblemCode") -> tuple[str, bytes]:
        request_id = ids.new("req")
        return request_id, problem_body(Refusal(problem, f"{problem.meaning} {problem.remedy}"), request_id)

    return partial(
        importlib.import_module("callwright.server.transport.request_heads").BoundedProtocol, refused=refused
    )


@asynccontextmanager
async def listening(application: Any, listener: socket.socket, *, proxies: Sequence[str] = ()) -> AsyncGenerator[str]:
    """Serves an ASGI application over HTTP inside the context. Yields the base URL with the version prefix.

    Only from these addresses and networks it believes what the headers `X-Forwarded-For` and `X-Forwarded-Proto` say of
    the client.
    """
    uvicorn = await to_thread.run_sync(importlib.import_module, "uvicorn")

    @contextmanager
    def leave_signals_alone() -> Generator[None]:
        yield

    config = uvicorn.Config(
        application,
        http=await to_thread.run_sync(_protocol),
        log_config=None,
        access_log=False,
        lifespan="off",
        proxy_headers=bool(proxies),
        forwarded_allow_ips=list(proxies),
        ws="none" if find_spec("websockets") is None else "websockets-sansio",  # for talks in the browser
        ws_max_size=MOST_IN_A_MESSAGE,
        timeout_keep_alive=IDLE_CONNECTION_S,
        timeout_graceful_shutdown=3,
    )
    logging.getLogger("uvicorn.error").addFilter(is_no_upgrade_advice)
    server = uvicorn.Server(config)
    server.capture_signals = leave_signals_alone  # the program handles signals

    async def serve() -> None:
        # A server that is cancelled leaves its listener with the event loop. The next socket may have the same number,
        # and the loop would never hear of its connections.
        with anyio.CancelScope(shield=True):
            await server.serve([listener])

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve)
        try:
            yield address_of(listener)
        except BaseException:
            server.force_exit = True  # it waits for no connection
            raise
        finally:
            server.should_exit = True


class ServiceKeys:
    """Keys of the service in this process, and a client for each, for the MCP server over HTTP."""

    def __init__(self, service: "Service") -> None:
        from callwright.service.rest.authentication.known_keys import KnownKeys

        self._service = service
        self._known = KnownKeys(service.services.database)

    async def look_up(self, secret: str, /) -> IdentifiedKey | None:
        """The key with this text, looked up now; None where it is unknown or revoked.

        Raises:
            KeyLookUpFailed: for example while the database does not answer.
        """
        from callwright.service.accounts.principals import SESSION_PREFIX, SessionPrincipal, UserPrincipal
        from callwright.service.platform.refusals import Refusal

        services = self._service.services
        if secret.startswith(SESSION_PREFIX):
            return None
        try:
            found = await self._known.find(secret)
        except Refusal:
            return None
        except Exception as error:
            refusal = self._service.pipeline.refusal_of(error, services.ids.new("req"))
            raise KeyLookUpFailed(refusal.problem.status, refusal.message, refusal.headers) from error
        assert not isinstance(found, SessionPrincipal)
        services.record_key_use(found.key_id)
        return IdentifiedKey(found.key_id, found.org_id, isinstance(found, UserPrincipal), found.profile, secret)

    def count_unknown(self, address: str, /) -> Mapping[str, str] | None:
        """Counts an unknown key, together with those that REST refused. Returns a 429's headers, if any."""
        return self._service.pipeline.count_unknown_key(address)

    def limit_headers(self, most: int, wait_s: float, /) -> Mapping[str, str]:
        """The headers of a 429, as in REST, for a key that has reached its limit."""
        from callwright.service.rules.request_rate import all_slots_used

        now_ms = self._service.services.clock.now_ms()
        return all_slots_used(most, now_ms, round(wait_s * 1_000)).refusal_headers(now_ms)

    def client(self, key: IdentifiedKey, /) -> Client:
        """A client with this key, in this process. It holds no resources, so it need not be closed."""
        in_process = InProcessTransport(self._service, personal=key.secret if key.is_personal else None)
        return Client(IN_PROCESS, key.secret, transport=in_process)

    async def sealing_secret(self) -> bytes:
        """32 bytes that every process of this installation knows, to seal state that clients send back."""
        from callwright.service.app import installation_secret

        return await installation_secret(self._service.services.database, _SEALING_SECRET)


class SharedServiceTransport(DirectTransport):
    """Sends requests to the process that serves the folder: this one or another.

    A request that could not be sent because the other process ended waits for the next one, which may be this process.
    """

    def __init__(self, settings: ProgramSettings, say_address: Callable[[str], None]) -> None:
        self._settings = settings
        self._say_address = say_address
        self._folder = DataFolder(settings.data)
        self._in_process: InProcessTransport | None = None
        self._over_http = httpx.AsyncHTTPTransport()
        self._address: str | None = None
        self._changed = anyio.Event()
        self.failure: Exception | None = None
        """Why this process could not serve the folder."""

    async def run(self) -> None:
        """Serves the folder as soon as no other process does; until then finds out which does. Runs until cancelled."""
        try:
            await self._run()
        except Exception as error:
            self.failure = start_failure(error)
            log.warning("%s", self.failure)
            raise

    async def _run(self) -> None:
        while True:
            try:
                self._folder.hold()
            except DataFolderInUse:
                self._note(self._folder.address())
                await anyio.sleep(LOOK_AGAIN_S)
                continue
            try:
                with listener_on() as listener:
                    await self._serve(listener)
            finally:
                self._in_process = None
                self._folder.withdraw()
                self._folder.let_go()

    async def _serve(self, listener: socket.socket) -> None:
        async with service_of(self._settings) as (service, _), listening(service.asgi, listener) as base_url:
            service.services.own_address.bound = base_url.removesuffix("/v1")
            self._in_process = InProcessTransport(service)
            self._folder.announce(base_url)
            self._say_address(base_url)
            self._change()
            await anyio.sleep_forever()

    def _note(self, address: object) -> None:
        found: str | None = getattr(address, "base_url", None)
        if found != self._address:
            self._address = found
            if found is not None:
                self._say_address(found)
            self._change()

    def _change(self) -> None:
        event, self._changed = self._changed, anyio.Event()
        event.set()

    async def ready(self) -> str:
        """Waits until a process serves the folder. Returns the embedded default's key. Raises `ServiceTimeout`."""
        with anyio.move_on_after(TAKEOVER_S):
            while True:
                key = self._folder.key()
                if key is not None and (self._in_process is not None or self._address is not None):
                    return key
                await self._wait()
        raise ServiceTimeout("nobody serves the data folder", request_sent=False, repeatable=True)

    async def _wait(self) -> None:
        with anyio.move_on_after(LOOK_AGAIN_S):
            await self._changed.wait()

    async def answered(
        self, method: str, target: str, headers: Mapping[str, str], content: bytes | None
    ) -> Answer | None:
        """The answer of this process while it serves the folder, else None."""
        return None if self._in_process is None else await self._in_process.answered(method, target, headers, content)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Sends a request to the process that serves the folder. Raises `ConnectTimeout` when none does for long."""
        body = await request.aread()
        until = anyio.current_time() + TAKEOVER_S
        while anyio.current_time() < until:
            in_process, address = self._in_process, self._address
            if in_process is not None:
                return await in_process.handle_async_request(request)
            if address is not None:
                try:
                    return await self._over_http.handle_async_request(_again(request, body, address))
                except _NOT_SENT:
                    self._address = None if self._address == address else self._address
            await self._wait()
        raise httpx.ConnectTimeout("nobody serves the data folder", request=request)

    async def aclose(self) -> None:
        """Closes the connections to another process."""
        await self._over_http.aclose()


def _again(request: httpx.Request, body: bytes, address: str) -> httpx.Request:
    """The same request for another process."""
    there = httpx.URL(address)
    url = request.url.copy_with(scheme=there.scheme, host=there.host, port=there.port)
    headers = [(name, value) for name, value in request.headers.multi_items() if name != "host"]
    return httpx.Request(request.method, url, headers=headers, content=body, extensions=request.extensions)


@asynccontextmanager
async def embedded(settings: ProgramSettings, say_address: Callable[[str], None]) -> AsyncGenerator[Client]:
    """A client of the folder's service, which runs in this process unless another one serves the folder.

    Raises:
        ServiceFailed: folder or database cannot be used; the text says why.
        ServiceTimeout: another process holds the folder and does not answer.
    """
    try:
        transport = SharedServiceTransport(settings, say_address)
    except OSError as error:
        raise start_failure(error) from error
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(transport.run)
            key = await transport.ready()
            async with Client(IN_PROCESS, key, transport=transport) as client:
                yield client
            tasks.cancel_scope.cancel()
    except Exception as error:
        found = transport.failure or first_cause(error)
        if isinstance(found, CallwrightError):
            raise found from error
        raise
