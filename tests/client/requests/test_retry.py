import pytest

from callwright.client import CallwrightError, Client, Conflict, Retries, ServiceFailed, ServiceUnreachable
from callwright.client.errors import RateLimited, ServiceProblem, ServiceTimeout
from callwright.client.retry import RetryState
from callwright.client.transport import Response, httpx
from tests.client.scripted import AGENT, Pauses, ScriptedService, Step, client_of, nested, one, scripted

UNSENT: list[Step] = [httpx.ConnectError("x"), httpx.ConnectTimeout("x"), httpx.PoolTimeout("x")]
BROKEN: list[Step] = [
    httpx.ReadTimeout("x"),
    httpx.WriteTimeout("x"),
    httpx.ReadError("x"),
    httpx.WriteError("x"),
    httpx.CloseError("x"),
    httpx.RemoteProtocolError("x"),
    httpx.ProxyError("x"),
]
UNSERVED: list[Step] = [
    nested(408, "request_timeout"),
    nested(429, "rate_limited"),
    nested(429, "rate_limited", headers={"Retry-After": "1"}),
]
PASSING: list[Step] = [Response(500), Response(502), Response(503), Response(504)]
IN_PROGRESS: list[Step] = [nested(409, "idempotency_in_progress", headers={"Retry-After": "1"})]
FINAL: list[Step] = [
    nested(400, "invalid_field"),
    nested(401, "invalid_api_key"),
    nested(403, "origin_not_allowed"),
    nested(404, "not_found"),
    nested(409, "duplicate_name"),
    nested(409, "api_key_owner_required"),
    nested(416, "range_not_satisfiable"),
    nested(422, "insufficient_credits"),
    nested(429, "daily_quota_exceeded", headers={"Retry-After": "1"}),
    Response(501),
    Response(302, headers={"Location": "http://elsewhere.test/"}),
    Response(200, content=b"<html>"),
    httpx.DecodingError("x"),
]


async def _get(client: Client) -> None:
    await client.agents.get(id="agt_1")


async def _create(client: Client) -> None:
    await client.agents.create(name="Ada", voice_id="v", language="en-US", system_prompt="p")


async def _update(client: Client) -> None:
    await client.agents.update(id="agt_1", name="Eve")


async def _hang_up(client: Client) -> None:
    await client.calls.hang_up(call_uuid="cal_1")


async def _delete(client: Client) -> None:
    await client.agents.delete(id="agt_1")


def _name(step: object) -> str:
    return f"{step.status_code}" if isinstance(step, Response) else type(step).__name__


@pytest.mark.parametrize("failure", [*UNSENT, *BROKEN, *UNSERVED, *PASSING, *IN_PROGRESS], ids=_name)
@pytest.mark.parametrize("creating", [True, False], ids=["post", "get"])
async def test_a_get_and_a_keyed_post_are_sent_again(creating: bool, failure: Step) -> None:
    async with scripted(failure, one(AGENT)) as (service, client):
        await (_create if creating else _get)(client)
    assert len(service.requests) == 2


@pytest.mark.parametrize("failure", [*BROKEN, *UNSERVED, *PASSING], ids=_name)
async def test_an_action_is_sent_again_under_the_same_key(failure: Step) -> None:
    async with scripted(failure, nested(404, "not_found")) as (service, client):
        with pytest.raises(CallwrightError):
            await _hang_up(client)
    assert service.keys == ["key-1", "key-1"]


@pytest.mark.parametrize("failure", [*UNSENT, *UNSERVED], ids=_name)
async def test_a_patch_that_was_not_served_is_sent_again(failure: Step) -> None:
    async with scripted(failure, one(AGENT)) as (service, client):
        await _update(client)
    assert len(service.requests) == 2


@pytest.mark.parametrize("failure", [*UNSENT, *UNSERVED], ids=_name)
async def test_a_delete_that_was_not_served_is_sent_again(failure: Step) -> None:
    async with scripted(failure, Response(204)) as (service, client):
        await _delete(client)
    assert len(service.requests) == 2


@pytest.mark.parametrize("failure", [*BROKEN, *PASSING, *IN_PROGRESS], ids=_name)
@pytest.mark.parametrize("patch", [True, False], ids=["patch", "delete"])
async def test_a_patch_or_delete_that_may_have_arrived_is_not_sent_again(patch: bool, failure: Step) -> None:
    async with scripted(failure) as (service, client):
        with pytest.raises(CallwrightError):
            await (_update if patch else _delete)(client)
    assert len(service.requests) == 1
    assert service.keys == [None]


@pytest.mark.requirement("ERR-19")
@pytest.mark.parametrize("failure", FINAL, ids=_name)
async def test_what_repeating_cannot_change_is_not_sent_again(failure: Step) -> None:
    async with scripted(failure) as (service, client):
        with pytest.raises(CallwrightError) as caught:
            await _create(client)
    assert len(service.requests) == 1
    assert not caught.value.retryable


@pytest.mark.requirement("ERR-18")
async def test_the_waits_double_and_the_fourth_failure_is_raised() -> None:
    service, pauses = ScriptedService(Response(503)), Pauses()
    async with client_of(service, pauses=pauses) as client:
        with pytest.raises(ServiceFailed):
            await _get(client)
    assert len(service.requests) == 4
    assert pauses.taken == [0.25, 0.5, 1.0]


async def test_the_number_of_attempts_is_a_setting() -> None:
    service, pauses = ScriptedService(httpx.ConnectError("x")), Pauses()
    async with client_of(service, pauses=pauses, retries=Retries(attempts=1)) as client:
        with pytest.raises(ServiceUnreachable):
            await _get(client)
    assert len(service.requests) == 1
    assert pauses.taken == []


@pytest.mark.requirement("RATE-19")
async def test_retry_after_decides_the_wait() -> None:
    pauses = Pauses()
    service = ScriptedService(
        nested(429, "rate_limited", headers={"Retry-After": "7"}),
        nested(503, "service_unavailable", headers={"Retry-After": "2"}),
        nested(409, "idempotency_in_progress", headers={"Retry-After": "1"}),
        one(AGENT, 201),
    )
    async with client_of(service, pauses=pauses) as client:
        await _create(client)
    assert pauses.taken == [7.0, 2.0, 1.0]
    assert service.keys == ["key-1"] * 4


async def test_a_retry_after_beyond_the_bound_is_raised_at_once_with_the_wait() -> None:
    async with scripted(nested(429, "rate_limited", headers={"Retry-After": "3600"})) as (service, client):
        with pytest.raises(RateLimited) as caught:
            await _get(client)
    assert caught.value.retry_after_s == 3600.0
    assert len(service.requests) == 1


@pytest.mark.parametrize(
    ("headers", "requests"), [({}, 2), ({"Retry-After": "1"}, 4)], ids=["without a wait", "with a wait"]
)
async def test_a_recording_that_cannot_be_rendered_is_asked_for_once_more_only(
    headers: dict[str, str], requests: int
) -> None:
    async with scripted(nested(503, "service_unavailable", headers=headers)) as (service, client):
        with pytest.raises(ServiceFailed):
            async with client.calls.get_recording(call_uuid="cal_1"):
                raise AssertionError("the recording must not open")
    assert len(service.requests) == requests


def test_jitter_takes_up_to_half_of_a_wait_and_no_wait_passes_the_longest() -> None:
    error = ServiceProblem("m", code="c", status=500, type="api_error")

    def waits(drawn: float) -> list[float | None]:
        attempts = RetryState(Retries(attempts=3_000), repeatable=True, media=False, draw=lambda: drawn)
        return [attempts.wait_s(error) for _ in range(3_000)]

    found = waits(0.0)
    assert found[:7] == [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 8.0]
    assert found[-2:] == [8.0, None]
    assert waits(1.0)[:2] == [0.125, 0.25]


def limited(retry_after_s: float | None) -> RateLimited:
    """A rate limit that asks for a wait."""
    return RateLimited("m", code="rate_limited", status=429, type="rate_limit_error", retry_after_s=retry_after_s)


def waits_for(retry_after_s: float, *, rules: Retries | None = None, drawn: float = 0.0) -> list[float]:
    """Every wait that one request takes for a rate limit that asks for the same each time."""
    attempts = RetryState(rules or Retries(), repeatable=False, media=False, draw=lambda: drawn)
    return list(iter(lambda: attempts.wait_s(limited(retry_after_s)), None))


@pytest.mark.requirement("RATE-19")
def test_waits_for_a_rate_limit_are_bounded_by_their_sum_and_not_by_the_attempts() -> None:
    assert waits_for(1.0) == [1.0] * 30
    assert waits_for(7.0) == [7.0] * 4
    assert waits_for(31.0) == []
    assert waits_for(1.0, rules=Retries(longest_wait_s=2.5)) == [1.0, 1.0]
    assert waits_for(1.0, rules=Retries(attempts=1)) == []


def test_a_rate_limit_that_asks_for_no_wait_is_not_answered_with_a_storm() -> None:
    assert waits_for(0.0) == [0.25] * 120
    assert len(waits_for(0.0, rules=Retries(first_wait_s=0.0))) <= 300


def test_requests_that_were_refused_together_do_not_return_together() -> None:
    assert waits_for(2.0, drawn=0.5)[0] == 2.25
    assert waits_for(30.0, drawn=1.0) == [37.5]


def test_a_rate_limit_without_a_wait_counts_as_a_failed_attempt() -> None:
    attempts = RetryState(Retries(), repeatable=False, media=False, draw=lambda: 0.0)
    assert [attempts.wait_s(limited(None)) for _ in range(4)] == [0.25, 0.5, 1.0, None]


def test_waits_for_a_rate_limit_leave_the_attempts_for_failures() -> None:
    attempts = RetryState(Retries(), repeatable=True, media=False, draw=lambda: 0.0)
    failed = ServiceProblem("m", code="c", status=503, type="api_error")
    found = [attempts.wait_s(error) for _ in range(3) for error in (limited(1.0), limited(1.0), failed)]
    assert found == [1.0, 1.0, 0.25, 1.0, 1.0, 0.5, 1.0, 1.0, 1.0]
    assert attempts.wait_s(failed) is None


async def test_a_conflict_with_a_request_under_way_is_raised_after_the_last_attempt() -> None:
    async with scripted(*IN_PROGRESS) as (service, client):
        with pytest.raises(Conflict) as caught:
            await _create(client)
    assert len(service.requests) == 4
    assert caught.value.code == "idempotency_in_progress"


async def test_a_time_out_of_a_patch_says_that_it_may_have_arrived() -> None:
    async with client_of(ScriptedService(httpx.ReadTimeout("x"))) as client:
        with pytest.raises(ServiceTimeout) as caught:
            await _update(client)
    assert caught.value.request_sent
    assert not caught.value.retryable
