"""Routes outside the API, which who calls them has no key for: their errors are answered as in the API."""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response

from callwright.service.platform.refusals import Refusal
from callwright.service.rest.problems import problem_body
from callwright.service.services import Services

RefusalOf = Callable[[Exception, str], Refusal]
"""Makes a refusal of an error of the request with this id."""
RouteAnswer = Callable[[Request], Awaitable[Response]]


def refusing(services: Services, refusal_of: RefusalOf, answer: RouteAnswer) -> RouteAnswer:
    """The route, with a problem in place of an error, an id for each request, and a bound for each unit of work."""

    async def answered(request: Request) -> Response:
        request_id = services.ids.new("req")
        try:
            with services.database.limited():
                found = await answer(request)
        except Exception as error:
            refusal = refusal_of(error, request_id)
            body = problem_body(refusal, request_id)
            found = Response(body, refusal.problem.status, refusal.headers, media_type="application/json")
        found.headers["X-Request-Id"] = request_id
        return found

    return answered
