"""The reference at `/docs`, held against the served description."""

import html
import re

from callwright.contract.events import EVENT_TYPES
from callwright.contract.surface import OPERATIONS
from callwright.service.rest.documentation.openapi.problems import problems_of
from callwright.service.rest.pages.reference.marked import blocks, inline
from tests.service.rest.documentation.description import DESCRIPTION, entry_of, parameters_of
from tests.support.http.raw_requests import raw_client
from tests.support.service import Tenant

_TAG = re.compile(r"<[^>]+>")


async def served(tenant: Tenant) -> str:
    async with raw_client(tenant, key=None) as http:
        answer = await http.get("/docs")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    return answer.text


def sections_of(page: str) -> dict[str, str]:
    """Each operation's section of the page, by its name."""
    found = re.findall(r'<section class="op" id="(\w+)".*?</section>', page, re.DOTALL)
    whole = re.findall(r'<section class="op" id="\w+".*?</section>', page, re.DOTALL)
    return dict(zip(found, whole, strict=True))


async def test_every_operation_is_there_with_all_that_it_takes_answers_and_refuses(tenant: Tenant) -> None:
    page = await served(tenant)
    sections = sections_of(page)
    assert set(sections) == set(OPERATIONS)
    refused = [frozenset(problem.code for problem in problems_of(operation)) for operation in OPERATIONS.values()]
    common = refused[0].intersection(*refused[1:])
    for name, operation in OPERATIONS.items():
        section, entry = sections[name], entry_of(operation)
        assert f'<span class="method" data-method="{operation.method}">' in section
        assert f"<code>/v1{operation.path}</code>" in section.replace("<wbr>", "")
        text = html.unescape(_TAG.sub("", section))
        assert entry["summary"].rstrip(".") in text
        for parameter in parameters_of(operation):
            assert f"<code>{html.escape(parameter['name'])}</code>" in section
        body = entry.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
        for field in body.get("properties", {}):
            assert f"<dt><code>{field}</code>" in section
        assert section.count('<span class="must">') >= len(body.get("required", ()))
        assert f"<b>{operation.status}</b>" in section
        own = {problem.code for problem in problems_of(operation)} - common
        assert set(re.findall(r'<a href="#(\w+)"><code>\1</code></a>', section)) == own
        assert f"HTTP/1.1 {operation.status}" in section


async def test_links_within_the_page_lead_somewhere_and_no_two_places_have_the_same_name(tenant: Tenant) -> None:
    page = (await served(tenant)).partition("<script>")[0]
    places = re.findall(r'\bid="([^"]+)"', page)
    assert sorted(places) == sorted(set(places))
    assert set(re.findall(r'href="#([^"]+)"', page)) - set(places) == set()


async def test_events_problems_and_objects_are_there(tenant: Tenant) -> None:
    page = await served(tenant)
    for name in EVENT_TYPES:
        assert f'id="event-{name}"' in page
    for code in {problem.code for operation in OPERATIONS.values() for problem in problems_of(operation)}:
        assert f'<details class="entry" id="{code}">' in page
    for name, shape in DESCRIPTION["components"]["schemas"].items():
        assert (f'id="{name.lower()}"' in page) == bool(shape.get("properties"))


def test_marks_become_html_and_everything_else_is_text() -> None:
    assert inline("`<b>` is **bold**, see [Agent](#agent)") == (
        '<code>&lt;b&gt;</code> is <b>bold</b>, see <a href="#agent">Agent</a>'
    )
    assert inline("[x](javascript:alert)") == "[x](javascript:alert)"
    assert blocks("One\nline.\n\n- a\n  b\n- c") == "<p>One line.</p>\n<ul><li>a b</li><li>c</li></ul>"
