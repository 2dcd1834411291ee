"""A service in the same process takes a request without HTTP."""

from collections.abc import Mapping

import pytest

from callwright.client import Client
from callwright.client.errors import AnswerTooLarge, NotFound, UnexpectedAnswer
from callwright.client.transport import Answer, DirectTransport, Request, Response


class _Near(DirectTransport):
    """Gives one answer, directly or over HTTP, and keeps what was asked."""

    def __init__(self, answer: Answer | None) -> None:
        self._answer = answer
        self.asked: list[tuple[str, str, str, bytes | None]] = []
        self.travelled: list[str] = []

    async def answered(
        self, method: str, target: str, headers: Mapping[str, str], content: bytes | None
    ) -> Answer | None:
        self.asked.append((method, target, headers["Authorization"], content))
        return self._answer

    async def handle_async_request(self, request: Request) -> Response:
        self.travelled.append(str(request.url))
        return Response(200, content=b'{"data":{"balance":"1.00"}}')


def _client(near: _Near, *, max_answer_bytes: int = 10_000) -> Client:
    return Client("http://near/v1", "svc_live_key", transport=near, max_answer_bytes=max_answer_bytes)


async def test_an_answer_of_the_same_process_never_travels() -> None:
    near = _Near(Answer(200, {}, b'{"data":[],"pagination":{"page":1,"per_page":20,"total":0,"has_more":false}}'))
    async with _client(near) as client:
        assert (await client.calls.list(per_page=20, status=["completed"])).data == []
    assert near.asked == [("GET", "/calls?per_page=20&filter%5Bstatus%5D=completed", "Bearer svc_live_key", None)]
    assert near.travelled == []


async def test_a_problem_of_the_same_process_is_raised_as_itself() -> None:
    body = b'{"error":{"type":"not_found_error","code":"not_found","message":"There is none.","request_id":"req_1"}}'
    async with _client(_Near(Answer(404, {"x-request-id": "req_1"}, body))) as client:
        with pytest.raises(NotFound) as caught:
            await client.agents.get(id="agt_1")
    assert caught.value.request_id == "req_1"


async def test_an_answer_of_the_same_process_keeps_to_the_bound() -> None:
    async with _client(_Near(Answer(200, {}, b" " * 101)), max_answer_bytes=100) as client:
        with pytest.raises(AnswerTooLarge):
            await client.agents.get(id="agt_1")


async def test_what_the_same_process_does_not_take_travels_over_http() -> None:
    near = _Near(None)
    async with _client(near) as client:
        with pytest.raises(UnexpectedAnswer, match="does not fit"):
            await client.agents.get(id="agt_1")
    assert near.travelled == ["http://near/v1/agents/agt_1"]
