"""What answers at `/`: a page for browsers, a few facts as JSON for programs, and the same as `llms.txt` for models."""

from collections.abc import Mapping
from html import escape
from importlib.metadata import version
from string import Template

import orjson

from callwright.contract.surface import OPERATIONS
from callwright.service.rest.documentation.openapi.descriptions import about_nouns
from callwright.service.rest.documentation.reference.operations import title
from callwright.service.rest.pages.page import NETWORK, Page, html_page, part
from callwright.service.rest.routes import PREFIX
from callwright.service.rest.transaction import ACTION_PATH

_CALLS = {
    False: "No telephone rings here. Calls are imitated and labelled as simulated, and the money is play money.",
    True: "Calls from numbers that are owned at the SIP trunk really ring. Calls from rented numbers are imitated and "
    "labelled as simulated.",
}
"""What calls are, by whether telephones may ring."""
_VARY = {"Vary": "Accept"}


def front_page(root: str, problems: Mapping[str, str], *, rings: bool = False) -> Page:
    """The page for browsers. Its links are relative, so that they hold behind a proxy that removes a path.

    `root` is the beginning of the addresses that people copy, such as `http://127.0.0.1:8080`; empty if it is not
    known. `problems` are what keeps the service from working, by the part that has each. `rings`: telephones may ring.
    """
    state = (
        "Running" if not problems else f"Not well: {'; '.join(f'{part}: {said}' for part, said in problems.items())}"
    )
    body = Template(part("front.html")).substitute(
        state=escape(state),
        tone="good" if not problems else "bad",
        version=escape(version("callwright")),
        root=escape(root),
        network=NETWORK[rings],
        calls=_CALLS[rings],
        keys=ACTION_PATH.lstrip("/"),
        operations=len(OPERATIONS),
    )
    page = html_page("Callwright", body, styles=("front.css",))
    return Page(page.content, page.media_type, {**page.headers, **_VARY})


def front_facts(root: str, problems: Mapping[str, str], *, rings: bool = False) -> Page:
    """The same for programs: addresses as URLs, or as paths where the service does not know its own."""
    facts = {
        "name": "Callwright",
        "version": version("callwright"),
        "status": "ok" if not problems else "unavailable",
        "network": "real" if rings else "simulated",
        "rest": f"{root}{PREFIX}",
        "openapi": f"{root}/openapi.json",
        "reference": f"{root}/docs",
        "mcp": f"{root}/mcp",
        "mcp_sse": f"{root}/sse",
        "keys": f"{root}{ACTION_PATH}",
        "health": f"{root}/healthz",
        "llms": f"{root}/llms.txt",
    }
    return Page(orjson.dumps(facts, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE), "application/json", _VARY)


def llms_text(root: str, *, rings: bool = False) -> Page:
    """What a model should read first about this service. Form: llmstxt.org."""
    nouns = "\n".join(
        f"- [{title(noun)}]({root}/docs#about-{noun}): {said.partition(': ')[2] or said}"
        for noun, said in about_nouns().items()
    )
    text = Template(part("llms.txt")).substitute(
        root=root, prefix=PREFIX, keys=ACTION_PATH, nouns=nouns, calls=_CALLS[rings]
    )
    return Page(text.encode(), "text/plain")
