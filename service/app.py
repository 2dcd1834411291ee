"""The whole service: how its parts are put together, its ASGI application, its start and its shutdown."""

import logging
import secrets
from collections.abc import AsyncGenerator, MutableMapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from anyio import to_thread
from sqlalchemy import Connection, select
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from callwright.contract.problems import METHOD_NOT_ALLOWED, NOT_FOUND
from callwright.contract.surface import OPERATIONS
from callwright.service.campaigns.pausing import pause_all
from callwright.service.dashboard.routes import absent_page, dashboard_routes
from callwright.service.handlers import registry
from callwright.service.inbound.routing.asking import routing_endpoints
from callwright.service.platform.clock.clock import SystemClock
from callwright.service.platform.data_folder import DataFolder
from callwright.service.platform.database.database import Database
from callwright.service.platform.database.engines import Limits, file_of
from callwright.service.platform.database.inserts import insert_ignoring_conflicts
from callwright.service.platform.database.listing import Cursors
from callwright.service.platform.database.sqlite.disk_space import LEAST_FREE
from callwright.service.platform.database.unavailable import StorageUnavailable
from callwright.service.platform.ids import Ids
from callwright.service.platform.own_address import OwnAddress
from callwright.service.platform.refusals import Refusal
from callwright.service.platform.wake_signal import WakeNotifier
from callwright.service.platform.worker_loop import repeat
from callwright.service.platform.written_folders import unwritable
from callwright.service.rest.documentation.openapi import document
from callwright.service.rest.lines.twilio_media import TwilioMedia
from callwright.service.rest.lines.twilio_routes import twilio_routes
from callwright.service.rest.pages.routes import page_routes
from callwright.service.rest.payments.routes import payment_routes
from callwright.service.rest.pipeline import RequestPipeline
from callwright.service.rest.problems import problem_body
from callwright.service.rest.routes import PREFIXES, RouteTable
from callwright.service.rest.talks.routes import talk_routes
from callwright.service.rest.talks.websocket import TalkWebsocket
from callwright.service.rest.uploads.routes import upload_routes
from callwright.service.rules.plan_id import StartPlanSeal
from callwright.service.rules.prices.installation_prices import prices_in
from callwright.service.rules.regions.rule_file import RuleFileError, rules_in
from callwright.service.services import Services
from callwright.service.settings import ServiceSettings
from callwright.service.speech.recordings import Recordings
from callwright.service.speech.synthesiser import Synthesiser, find_libraries
from callwright.service.tables import clock_record, line_hashes
from callwright.service.tables.migrations import upgrade
from callwright.service.tables.price_lists import take_list
from callwright.service.tables.request_limits import RequestLimits
from callwright.service.tables.rules_files import current_version, is_kept, keep_shipped, load_rules, order_of
from callwright.service.tables.schema import service_state
from callwright.service.telephony.carriers.browser_calls import BrowserCalls
from callwright.service.telephony.carriers.twilio.account import MEDIA_PATH, account_of
from callwright.service.telephony.carriers.twilio.media_places import MediaPlaces
from callwright.service.telephony.lines.availability import why_no_lines
from callwright.service.webhooks.dispatcher import Dispatcher
from callwright.service.webhooks.predial_check import HttpPredialCheck, predial_endpoints
from callwright.service.webhooks.transport.endpoints import Endpoints
from callwright.service.workers import sweeps
from callwright.service.workers.storage_watch import StorageWatch
from callwright.service.workers.supervisor import MOST_DRIVEN, Supervisor

if TYPE_CHECKING:
    from callwright.service.workers.own_lines import OwnLines

log = logging.getLogger(__name__)
_CURSOR_SECRET = "cursor_secret"
_PLAN_SECRET = "plan_secret"
STARTED_PAUSED = "started_paused"
"""The pause reason of campaigns that were active or scheduled in the copy from which the service was started."""
ANSWER_LIMIT_S = 5.0
"""How long the health check waits for the database."""
LEAST_IDLE_MS = 1_000
"""A transaction may always be silent for this long, even with shorter leases, because a busy machine is slow."""
LOCK_LIMIT_MS = 5_000
"""How long a write waits for locks that others hold; after that the client is told to retry."""
LAST_CALLS_S = 2.0
"""How long a shutdown waits for calls under way to be recorded. The next start resumes calls that last longer."""
LAST_UNITS_S = 2.0
"""How long a unit of work may wait for Postgres after the shutdown has begun."""
LAST_WRITES_S = 3.0
"""How long a shutdown may take to store what is only in memory."""


class Application:
    """The ASGI application: the API below each of its path prefixes, its description, pages, a health check."""

    def __init__(
        self,
        services: Services,
        pipeline: RequestPipeline,
        browser: BrowserCalls | None = None,
        places: MediaPlaces | None = None,
    ) -> None:
        self._services, self._pipeline = services, pipeline
        self._talks, self.media = TalkWebsocket(services, browser), TwilioMedia(services, places)
        lines = services.settings.lines
        account = account_of(lines, services.settings.public_url)
        self._absent_page = absent_page(services, pipeline)
        self._other_routes = Starlette(
            exception_handlers={404: self._no_such_path, 405: self._no_such_method},
            routes=[
                Route("/openapi.json", self._openapi),
                Route("/healthz", self._health),
                *page_routes(
                    services.own_address,
                    partial(problems_of, services),
                    rings=lines.rings,
                ),
                *dashboard_routes(services, pipeline),
                *payment_routes(services, pipeline.refusal_of),
                *talk_routes(),
                *upload_routes(services, pipeline.refusal_of),
                *([] if account is None else twilio_routes(services, account, pipeline.refusal_of)),
            ],
        )

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            root = scope.get("root_path", "")
            own: str = scope["path"].removeprefix(root)
            for prefix in PREFIXES:
                if own.startswith(prefix) and own[len(prefix) : len(prefix) + 1] in ("", "/"):
                    await self._pipeline({**scope, "root_path": root + prefix}, receive, send)
                    return
        elif scope["type"] == "websocket":
            own = scope["path"].removeprefix(scope.get("root_path", ""))
            await (self.media if own.startswith(MEDIA_PATH) else self._talks)(scope, receive, send)
            return
        await self._other_routes(scope, receive, send)

    async def _openapi(self, _: Request) -> Response:
        return Response(document(), media_type="application/json")

    async def _health(self, _: Request) -> Response:
        problems = await problems_of(self._services)
        if not problems:
            return JSONResponse({"status": "ok"})
        return JSONResponse({"status": "unavailable", "problems": problems}, 503)

    async def _no_such_path(self, request: Request, _: Exception) -> Response:
        try:
            page = await self._absent_page(request)
        except Exception as error:
            return self._refused(self._pipeline.refusal_of(error, self._services.ids.new("req")))
        if page is not None:
            return page
        return self._refused(Refusal(NOT_FOUND, f"There is no such path; the API is below {PREFIXES[0]}."))

    async def _no_such_method(self, _: Request, error: Exception) -> Response:
        allow = error.headers or {} if isinstance(error, HTTPException) else {}
        return self._refused(Refusal(METHOD_NOT_ALLOWED, headers=allow))

    def _refused(self, refusal: Refusal) -> Response:
        request_id = self._services.ids.new("req")
        headers = {"X-Request-Id": request_id, **refusal.headers}
        body = problem_body(refusal, request_id)
        return Response(body, refusal.problem.status, headers, media_type="application/json")


@dataclass(frozen=True)
class Service:
    """A running service."""

    services: Services
    asgi: Application
    pipeline: RequestPipeline
    """Answers requests that come from inside this process, without HTTP."""
    lines: "OwnLines | None" = None
    """What carries calls in this process."""
    _supervisor: Supervisor | None = None

    @property
    def calls_under_way(self) -> int:
        """How many calls are on the lines of this process."""
        return 0 if self.lines is None else self.lines.host.calls_under_way

    async def drain(self, within_s: float) -> None:
        """Begins no more calls, and returns when those on the lines of this process have ended. Those that go on after
        `within_s` are hung up.
        """
        self.services.ending.is_begun = True
        if self._supervisor is not None:
            self._supervisor.dial_no_more()
        if self.lines is not None:
            await self.lines.host.drain(within_s)


async def installation_secret(database: Database, name: str) -> bytes:
    """A secret of this installation, made when it is first asked for and the same for every process."""
    found = await database.read(_secret, name)
    return bytes.fromhex(found or await database.write(_made_secret, name))


def _secret(connection: Connection, name: str) -> str | None:
    return connection.execute(select(service_state.c.value).where(service_state.c.name == name)).scalar()


def _made_secret(connection: Connection, name: str) -> str:
    insert_ignoring_conflicts(connection, service_state, [{"name": name, "value": secrets.token_hex(32)}])
    return connection.execute(select(service_state.c.value).where(service_state.c.name == name)).scalar_one()


@asynccontextmanager
async def _alone(settings: ServiceSettings) -> AsyncGenerator[None]:
    """Holds the data folder for this process; on Postgres many processes may share one."""
    if file_of(settings.database_url) is None:
        yield
        return
    folder = DataFolder(settings.data)
    folder.hold()
    try:
        yield
    finally:
        folder.let_go()


def limits_of(settings: ServiceSettings) -> Limits:
    """Time limits of transactions. One may be silent for as long as the shorter lease, but at least a second."""
    lease_ms = min(settings.deployment_lease_ms, settings.delivery_lease_ms)
    return Limits(idle_ms=max(lease_ms, LEAST_IDLE_MS), lock_ms=LOCK_LIMIT_MS)


async def _carried(services: Services, notifier: WakeNotifier) -> "OwnLines | None":
    """The lines of this process. What carries calls is imported only where there are lines."""
    if why_no_lines(services.settings.lines.count) is not None:
        return None
    lines = await to_thread.run_sync(import_module, "callwright.service.workers.own_lines")
    return lines.own_lines(services, services.ids.new("hst"), notifier.signal())


@asynccontextmanager
async def running(
    settings: ServiceSettings,
    *,
    workers: bool = True,
    lines: bool | None = None,
    clock: SystemClock | None = None,
    limits: Limits | None = None,
) -> AsyncGenerator[Service]:
    """A service that runs until the block ends. The next start resumes work that was under way.

    Without `workers` it drives no campaigns and delivers no events. With `lines` it carries calls, by default if it has
    workers.

    `clock` replaces the machine's clock, `limits` the time limits of transactions on Postgres.

    Raises:
        data_folder.DataFolderInUse: on SQLite, when another process serves the folder.
        RuleFileError: the rules file of the settings is wrong.
        BadPriceList: the price list of the settings is wrong.
    """
    carries = workers if lines is None else lines
    settings.data.mkdir(parents=True, exist_ok=True, mode=0o700)
    async with _alone(settings):
        await to_thread.run_sync(upgrade.upgrade, settings.database_url, settings.data)
        clock = clock or SystemClock(settings.clock_begins_ms)
        ids = Ids(clock.now_ms)
        notifier = WakeNotifier()
        libraries = await to_thread.run_sync(find_libraries, settings.espeak_library)
        async with (
            Database.opened(settings.database_url, limits or limits_of(settings), checkpoints=True) as database,
            Synthesiser(libraries) as synthesiser,
            routing_endpoints(settings) as routing,
        ):
            cursors = Cursors(await installation_secret(database, _CURSOR_SECRET))
            await installation_secret(database, line_hashes.SECRET)
            start_plan_seal = StartPlanSeal(await installation_secret(database, _PLAN_SECRET))
            recordings = Recordings(
                settings.data / "recordings", max_bytes=settings.recordings_max_bytes, synthesiser=synthesiser
            )
            services = Services(
                settings,
                database,
                clock,
                ids,
                cursors,
                start_plan_seal,
                recordings,
                RequestLimits(database),
                notifier.notify,
                OwnAddress(settings.public_url),
                routing,
            )
            await take_rules(database, settings.rules_file, clock.now_ms())
            await take_prices(database, settings.prices_file, clock.now_ms())
            if settings.starts_paused:
                await pause_all(services, STARTED_PAUSED, only_due=False)
            async with (
                Endpoints(opened=settings.webhook_networks) as endpoints,
                predial_endpoints(settings, MOST_DRIVEN) as asked,
            ):
                supervisor = Supervisor(services, notifier, HttpPredialCheck(services, asked))
                carried = await _carried(services, notifier) if carries else None
                async with anyio.create_task_group() as tasks:
                    if workers:
                        tasks.start_soon(StorageWatch(services, notifier).run)
                        look = partial(clock_record.look, database, clock)
                        name = "comparing the clock with what it showed before"
                        tasks.start_soon(partial(repeat, look, name, every_s=clock_record.LOOK_S))
                        tasks.start_soon(supervisor.run)
                        tasks.start_soon(Dispatcher(services, notifier, endpoints).run)
                    if carried is not None:
                        tasks.start_soon(carried.run)
                    try:
                        pipeline = pipeline_of(services)
                        try:
                            browser, places = (carried.browser, carried.places) if carried else (None, None)
                            asgi = Application(services, pipeline, browser, places)
                            yield Service(services, asgi, pipeline, carried, supervisor)
                        finally:
                            database.shorten(LAST_UNITS_S)
                        with anyio.move_on_after(LAST_CALLS_S):
                            await supervisor.finish()
                    finally:
                        tasks.cancel_scope.cancel()
            with anyio.move_on_after(LAST_WRITES_S, shield=True):
                with suppress(StorageUnavailable):
                    await sweeps.record_key_uses(services)


async def take_rules(database: Database, file: Path | None, now_ms: int) -> None:
    """Takes the shipped rules into the database, and those of a file unless as new ones are known already.

    Raises:
        RuleFileError: the file is wrong.
    """
    rules = None if file is None else await to_thread.run_sync(rules_in, file)
    if not await database.read(is_kept):
        with suppress(StorageUnavailable):  # on a full disk the next start stores them
            await database.write(keep_shipped, now_ms)
    if rules is None:
        return
    newest = await database.read(current_version)
    if order_of(rules.version) > order_of(newest):
        with suppress(RuleFileError):  # another process has just taken it
            await database.write(load_rules, rules, now_ms)
            log.info("rules version %s is in force from now on, loaded from %s", rules.version, file)
    elif rules.version != newest:
        log.warning("the rules file %s is version %s; the newer %s is in force", file, rules.version, newest)


async def take_prices(database: Database, file: Path | None, now_ms: int) -> None:
    """Takes the price list of a file into the database. Campaigns that start from then on are charged by it.

    Raises:
        BadPriceList: the file is wrong, or another list has its version.
    """
    if file is None:
        return
    prices = await to_thread.run_sync(prices_in, file)
    if not await database.write(take_list, prices, now_ms):
        log.warning("the price list %s is version %s; a newer one is in force", file, prices.version)


def pipeline_of(services: Services) -> RequestPipeline:
    """The request pipeline, with the routes of every operation."""
    registry.load()
    return RequestPipeline(services, RouteTable(OPERATIONS.values()))


async def problems_of(services: Services) -> dict[str, str]:
    """The problems that keep the service from working, by the part that has each; empty if there are none."""
    found: dict[str, str] = {}
    database = services.database
    free = database.disk_space.free_bytes()
    if database.disk_space.is_full or (free is not None and free < LEAST_FREE):
        found["storage"] = "disk full"
    if (folder := unwritable(services.settings.data)) is not None:
        found["files"] = folder
    if not database.file_guard.look() and (loss := database.file_guard.loss):
        found["database"] = f"{loss.value}; stop the service, and see docs/backups.md"
    elif problem := await database.problem(ANSWER_LIMIT_S):
        found["database"] = problem
    return found
