"""What answers at `/`, at `/llms.txt` and at the page about keys."""

import re
from importlib.metadata import version

import pytest

from callwright.contract.surface import OPERATIONS
from callwright.service.rest.pages.front import front_facts, front_page, llms_text
from callwright.service.rest.pages.reference.reference_page import reference_page
from tests.support.http.raw_requests import raw_client, refused
from tests.support.service import Tenant

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
PAGES = ("/", "/docs")
ROOT = "http://service"


async def test_a_program_is_told_where_everything_is_and_that_the_network_is_simulated(tenant: Tenant) -> None:
    async with raw_client(tenant, key=None) as http:
        answer = await http.get("/")
        facts = answer.json()
        there = {name: (await http.get(facts[name])).status_code for name in ("openapi", "reference", "keys", "llms")}
    assert (facts["name"], facts["version"], facts["status"]) == ("Callwright", version("callwright"), "ok")
    assert (facts["network"], facts["rest"], facts["mcp"]) == ("simulated", f"{ROOT}/v1", f"{ROOT}/mcp")
    assert set(there.values()) == {200}


async def test_a_browser_gets_a_page_that_says_that_it_runs_and_that_no_telephone_rings(tenant: Tenant) -> None:
    async with raw_client(tenant, key=None, accept=BROWSER) as http:
        answer = await http.get("/")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["vary"] == "Accept"
    for words in (
        "Running",
        "Simulated network",
        "No telephone rings here",
        f"{ROOT}/mcp",
        f"{ROOT}/sse",
        "callwright keys create",
        f"all {len(OPERATIONS)} operations",
    ):
        assert words in answer.text


def test_a_service_that_is_not_well_says_why_in_both_forms() -> None:
    problems = {"storage": "disk full <here>"}
    page = front_page(ROOT, problems).content.decode()
    assert "Not well: storage: disk full &lt;here&gt;" in page
    assert "Running" not in page
    assert b'"status": "unavailable"' in front_facts(ROOT, problems).content


def test_where_telephones_ring_no_page_says_that_they_do_not() -> None:
    for page in (front_page(ROOT, {}, rings=True), front_facts(ROOT, {}, rings=True), llms_text(ROOT, rings=True)):
        text = page.content.decode()
        assert "No telephone rings" not in text
        assert "real" in text.lower()
    assert "Real and simulated calls" in reference_page(rings=True).content.decode()
    assert "Simulated network" in reference_page().content.decode()


@pytest.mark.parametrize("path", PAGES)
async def test_a_page_needs_nothing_from_elsewhere_and_its_policy_admits_nothing_else(
    tenant: Tenant, path: str
) -> None:
    async with raw_client(tenant, key=None, accept=BROWSER) as http:
        answer = await http.get(path)
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert re.findall(r'(?:src|href)="(?:https?:)?//', answer.text) == []
    assert " style=" not in answer.text
    assert " onclick=" not in answer.text


@pytest.mark.parametrize("path", PAGES)
async def test_links_of_a_page_lead_somewhere(tenant: Tenant, path: str) -> None:
    async with raw_client(tenant, key=None, accept=BROWSER) as http:
        at = await http.get(path)
        places = {str(at.url.join(link)) for link in re.findall(r'href="([^"#:]+)"', at.text)}
        assert {place: (await http.get(place)).status_code for place in places} == dict.fromkeys(places, 200)


@pytest.mark.parametrize("path", [*PAGES, "/llms.txt"])
async def test_a_page_that_a_client_has_already_is_answered_with_304(tenant: Tenant, path: str) -> None:
    async with raw_client(tenant, key=None, accept=BROWSER) as http:
        first = await http.get(path)
        again = await http.get(path, headers={"If-None-Match": first.headers["etag"]})
        other = await http.get(path, headers={"If-None-Match": '"another"'})
    assert (first.status_code, again.status_code, other.status_code) == (200, 304, 200)
    assert again.content == b""
    assert other.content == first.content


@pytest.mark.parametrize("path", [*PAGES, "/llms.txt"])
async def test_a_page_answers_head_like_get_and_refuses_other_methods(tenant: Tenant, path: str) -> None:
    async with raw_client(tenant, key=None, accept=BROWSER) as http:
        found, head = await http.get(path), await http.head(path)
        assert head.status_code == 200
        assert head.headers["content-length"] == found.headers["content-length"]
        posted = await http.post(path)
    refused(posted, 405, "method_not_allowed")
    assert "GET" in posted.headers["allow"]


async def test_the_text_for_models_has_the_form_of_llmstxt_and_links_that_lead_somewhere(tenant: Tenant) -> None:
    async with raw_client(tenant, key=None) as http:
        answer = await http.get("/llms.txt")
        lines = answer.text.splitlines()
        links = re.findall(r"^- \[[^\]]+\]\(([^)]+)\)", answer.text, re.MULTILINE)
        assert lines[0] == "# Callwright"
        assert lines[2].startswith("> ")
        assert "simulated" in answer.text
        assert len(links) > 10
        beside_mcp = {f"{ROOT}/mcp", f"{ROOT}/sse", f"{ROOT}/v1"}
        for link in set(links) - beside_mcp:
            page, _, anchor = link.partition("#")
            found = await http.get(page)
            assert found.status_code == 200
            assert not anchor or f'id="{anchor}"' in found.text, link
    assert answer.headers["content-type"].startswith("text/plain")
