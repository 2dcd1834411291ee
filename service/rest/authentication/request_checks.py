"""Authentication and rate limits: the checks of a request before anything is done for it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection

from callwright.contract.declaration.operation import AnyOperation
from callwright.contract.problems import DAILY_QUOTA_EXCEEDED, RATE_LIMITED
from callwright.service.accounts.principals import RequestPrincipal
from callwright.service.platform.database.sqlite.disk_space import StorageFull
from callwright.service.platform.database.units import brief
from callwright.service.platform.refusals import Refusal
from callwright.service.rest.answers import Answer
from callwright.service.rest.authentication.api_key_check import identify
from callwright.service.rest.authentication.auth_throttle import FailedAttempts
from callwright.service.rest.authentication.known_keys import KnownKeys, RecentKeys
from callwright.service.rules.request_rate import RateLimitState
from callwright.service.services import Services
from callwright.service.tables.request_limits import Allowance, take_on_postgres

_NO_ROUTE = "other"


@dataclass(frozen=True, slots=True)
class Authenticated:
    """A valid key and the state of its limits; `limit_state` is None if nothing is limited."""

    principal: RequestPrincipal
    limit_state: RateLimitState | None
    answer: Answer | Refusal | None = None
    """The answer of the look-up, if it ran together with the check of the key."""


LookUp = Callable[[Connection, RequestPrincipal], Answer | Refusal | None]


class Authentication:
    """Looks up keys and counts requests. One for each request pipeline."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.known = KnownKeys(services.database)
        self._recent = RecentKeys()
        self._failed = FailedAttempts()

    def count_unknown_key(self, address: str) -> Mapping[str, str] | None:
        """Counts an unknown key of an address. Returns the headers of a 429 if there were too many, else None."""
        now_ms = self._services.clock.now_ms()
        limit_state = self._failed.note(address, now_ms)
        if limit_state is None:
            return None
        return limit_state.refusal_headers(now_ms)

    async def authenticate(
        self, secret: str, operation: AnyOperation | None, address: str | None, look_up: LookUp
    ) -> Authenticated:
        """Identifies a key and counts the request. `refuse_if_too_many` then checks the limit.

        A write with a recent key is counted without asking for the key: its transaction does. On Postgres, `look_up`
        runs on the same connection unless the limit is exceeded.

        Raises:
            Refusal: invalid_api_key when the key is unknown or revoked; rate_limited when too many such came from the
                address.
        """
        services, now_ms = self._services, self._services.clock.now_ms()
        writes = operation is not None and operation.writes
        recent = self._recent.find(secret, now_ms) if writes else None
        try:
            if recent is not None:
                authenticated = Authenticated(recent, await self._count(_allowance(recent, operation), now_ms))
            elif services.database.is_shared:
                authenticated = await self._from_database(secret, operation, now_ms, look_up)
            else:
                principal = await self.known.find(secret)
                authenticated = Authenticated(principal, await self._count(_allowance(principal, operation), now_ms))
        except Refusal:
            headers = None if address is None else self.count_unknown_key(address)
            if headers is None:
                raise
            said = "Too many unknown keys came from this address."
            raise Refusal(RATE_LIMITED, said, headers=headers) from None
        if recent is None:
            self._recent.keep(secret, authenticated.principal, now_ms)
        if authenticated.principal.key_id is not None:
            services.record_key_use(authenticated.principal.key_id)
        return authenticated

    async def _count(self, allowance: Allowance, now_ms: int) -> RateLimitState | None:
        services = self._services
        if not allowance.is_limited:
            return None
        if not services.database.is_shared:
            return await services.limits.take(allowance, now_ms)
        try:
            return await services.database.read(_take, allowance, now_ms)
        except StorageFull:  # the write itself says so
            return None

    async def _from_database(
        self, secret: str, operation: AnyOperation | None, now_ms: int, look_up: LookUp
    ) -> Authenticated:
        database = self._services.database
        try:
            return await database.read(_authenticated, secret, operation, now_ms, look_up)
        except StorageFull:  # requests that only read are answered although they cannot be counted
            return Authenticated(await database.read(identify, secret), None)


@brief
def _authenticated(
    connection: Connection, secret: str, operation: AnyOperation | None, now_ms: int, look_up: LookUp
) -> Authenticated:
    principal = identify(connection, secret)
    limit_state = take_on_postgres(connection, _allowance(principal, operation), now_ms)
    if limit_state is not None and limit_state.refused is not None:
        return Authenticated(principal, limit_state)
    return Authenticated(principal, limit_state, look_up(connection, principal))


@brief
def _take(connection: Connection, allowance: Allowance, now_ms: int) -> RateLimitState | None:
    return take_on_postgres(connection, allowance, now_ms)


def _allowance(principal: RequestPrincipal, operation: AnyOperation | None) -> Allowance:
    plan, share = principal.plan, 1.0 if operation is None else operation.rate_share
    return Allowance(
        key_id=principal.counted_as,
        group=_NO_ROUTE if operation is None else operation.group,
        per_second=None if plan.requests_per_second is None else plan.requests_per_second * share,
        per_day=plan.requests_per_day,
    )


def refuse_if_too_many(limit_state: RateLimitState, now_ms: int) -> None:
    """Raises `Refusal`: rate_limited or daily_quota_exceeded, with the time to wait."""
    if limit_state.refused is not None:
        problem = RATE_LIMITED if limit_state.refused == "second" else DAILY_QUOTA_EXCEEDED
        raise Refusal(problem, headers=limit_state.refusal_headers(now_ms))
