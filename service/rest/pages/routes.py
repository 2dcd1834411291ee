"""The addresses of the pages, with what each answers."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from callwright.service.platform.own_address import OwnAddress

FindProblems = Callable[[], Awaitable[Mapping[str, str]]]
"""Finds what keeps the service from working, by the part that has it."""
DOCS, LLMS = "/docs", "/llms.txt"


def page_routes(address: OwnAddress, find_problems: FindProblems, *, rings: bool = False) -> list[Route]:
    """The routes of all pages. The modules that make them are imported at the first request.

    `rings`: telephones may ring.
    """

    async def front(request: Request) -> Response:
        from callwright.service.rest.pages.front import front_facts, front_page

        make = front_page if "text/html" in request.headers.get("accept", "") else front_facts
        return make(address.root, await find_problems(), rings=rings).response(request)

    async def docs(request: Request) -> Response:
        from callwright.service.rest.pages.reference.reference_page import reference_page

        return (await to_thread.run_sync(partial(reference_page, rings=rings))).response(request)

    async def llms(request: Request) -> Response:
        from callwright.service.rest.pages.front import llms_text

        return llms_text(address.root, rings=rings).response(request)

    return [Route("/", front), Route(DOCS, docs), Route(LLMS, llms)]
