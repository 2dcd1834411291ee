"""The whole page of the reference, made once from the description."""

from collections.abc import Iterator, Mapping
from functools import cache
from html import escape
from typing import Any, cast

from callwright.service.rest.documentation.openapi import describe
from callwright.service.rest.documentation.reference.exchanges import json_text
from callwright.service.rest.documentation.reference.operations import title
from callwright.service.rest.documentation.reference.tables import Tables
from callwright.service.rest.pages.page import NETWORK, Page, html_page
from callwright.service.rest.pages.reference.fields import field_list, object_fields, wire
from callwright.service.rest.pages.reference.marked import blocks, inline
from callwright.service.rest.pages.reference.operations import OperationSections, method_tag, operations_of, short

Json = Mapping[str, Any]


@cache
def reference_page(*, rings: bool = False) -> Page:
    """The page: making it takes a third of a second, so it is kept. `rings`: telephones may ring."""
    document = describe()
    sections = OperationSections(document)
    info: Json = document["info"]
    chapters, links = _chapters(document, sections)
    count = len(list(operations_of(document)))
    body = f"""<div class="reference">
<nav aria-label="Operations">
<p class="brand"><a href="./">Callwright</a> <span class="tag">{NETWORK[rings]}</span></p>
<label class="search" hidden><span class="unseen">Search the operations</span>
<input type="search" placeholder="Search {count} operations" autocomplete="off" spellcheck="false"><kbd>/</kbd></label>
<details open><summary>Contents</summary>
{links}
<p class="noun"><a href="#events">Events</a></p>
<p class="noun"><a href="#problems">Problems</a></p>
<p class="noun"><a href="#headers">Headers</a></p>
<p class="noun"><a href="#objects">Objects</a></p>
</details>
</nav>
<main>
<header>
<h1>REST reference</h1>
<p class="marks quiet"><span>version {escape(info["version"])}</span>
<a href="openapi.json">OpenAPI 3.1</a> <a href="./">About this service</a></p>
{blocks(info["description"])}
</header>
<p class="found" role="status" hidden></p>
{chapters}
{_events(document)}
{_problems(document, sections)}
{_headers(document, sections)}
{_objects(document)}
</main>
</div>"""
    return html_page(
        "REST reference · Callwright", body, styles=("reference/reference.css",), script="reference/reference.js"
    )


def _chapters(document: Json, sections: OperationSections) -> tuple[str, str]:
    """The operations by noun, and the links to them."""
    said: dict[str, str] = {tag["name"]: tag["description"] for tag in document["tags"]}
    nouns: dict[str, list[tuple[str, str, Json]]] = {}
    for method, path, entry in operations_of(document):
        nouns.setdefault(entry["tags"][0], []).append((method, path, entry))
    chapters: list[str] = []
    links: list[str] = []
    for noun, found in nouns.items():
        about = said[noun].partition(": ")[2] or said[noun]
        inside = "\n".join(sections.section(*one) for one in found)
        chapters.append(
            f'<div class="chapter"><h2 id="about-{noun}">{title(noun)}</h2>\n'
            f"<p>{inline(about[:1].upper() + about[1:])}</p>\n{inside}</div>"
        )
        listed = "".join(
            f'<li data-for="{entry["operationId"]}"><a href="#{entry["operationId"]}">{method_tag(method)}'
            f"<span>{inline(short(entry['summary']))}</span></a></li>"
            for method, _, entry in found
        )
        links.append(f'<p class="noun"><a href="#about-{noun}">{title(noun)}</a></p>\n<ul>{listed}</ul>')
    return "\n".join(chapters), "\n".join(links)


def _events(document: Json) -> str:
    entries: list[str] = []
    tables = Tables(document["components"]["schemas"], "")
    webhooks: Mapping[str, Json] = document["webhooks"]
    for name, methods in webhooks.items():
        post: Json = methods["post"]
        content: Json = post["requestBody"]["content"]["application/json"]
        data = tables.type_of(content["schema"]["allOf"][1]["properties"]["data"])
        example = wire(json_text(content["example"]).splitlines(), "Event") if "example" in content else ""
        entries.append(
            f'<details class="entry" id="event-{name}"><summary><code>{name}</code> <span>{inline(post["summary"])}'
            f"</span></summary><p>Its <code>data</code> is {inline(data)}. {inline(post['description'])}</p>{example}"
            "</details>"
        )
    signature = document["components"]["parameters"]["X-Service-Signature"]
    words = inline(signature["description"])
    return (
        '<div class="chapter"><h2 id="events">Events</h2>\n<p>What the service sends to subscribers, as a POST '
        f"with the header <code>X-Service-Signature</code>: {words}</p>\n{''.join(entries)}</div>"
    )


def _problems(document: Json, sections: OperationSections) -> str:
    """Every problem with its status, what it means, what to do, and an example."""
    found: dict[str, tuple[str, str]] = {}
    responses: Mapping[str, Json] = document["components"]["responses"]
    for name, answer in responses.items():
        for line in str(answer["description"]).splitlines():
            code, _, said = line.removeprefix("- ").partition(": ")
            found.setdefault(code.strip("`"), (name.partition("-")[0], said))
    examples: Mapping[str, Json] = document["components"]["examples"]
    entries = [
        f'<details class="entry" id="{code}"><summary><code>{code}</code> <b>{found[code][0]}</b> '
        f"<span>{inline(found[code][1])}</span></summary>{wire(json_text(example['value']).splitlines(), 'Answer')}"
        "</details>"
        for code, example in sorted(examples.items(), key=lambda one: (found[one[0]][0], one[0]))
    ]
    everywhere = ", ".join(f'<a href="#{code}"><code>{code}</code></a>' for code in sorted(sections.everywhere))
    return (
        '<div class="chapter"><h2 id="problems">Problems</h2>\n<p>A refused request has changed nothing.</p>\n'
        f'<p id="everywhere">Of every operation: {everywhere}.</p>\n{"".join(entries)}</div>'
    )


def _headers(document: Json, sections: OperationSections) -> str:
    """The headers that requests may carry, and those that answers have."""
    taken: dict[str, Json] = {}
    for _, _, entry in operations_of(document):
        for parameter in map(sections.resolved, entry["parameters"]):
            if parameter["in"] == "header":
                taken.setdefault(parameter["name"], parameter)
    requests = "".join(
        f'<div id="header-{name.lower()}"><dt><code>{name}</code></dt><dd>{blocks(parameter["description"])}</dd></div>'
        for name, parameter in taken.items()
    )
    headers: Mapping[str, Json] = document["components"]["headers"]
    answers = "".join(
        f"<div><dt><code>{name}</code></dt><dd>{inline(header['description'])}</dd></div>"
        for name, header in headers.items()
    )
    return (
        '<div class="chapter"><h2 id="headers">Headers</h2>\n<h4>Of requests</h4>'
        f"{field_list([requests])}\n<h4>Of answers</h4>{field_list([answers])}</div>"
    )


def _objects(document: Json) -> str:
    """The objects that fields refer to."""
    tables = Tables(document["components"]["schemas"], "")
    return (
        '<div class="chapter"><h2 id="objects">Objects</h2>\n<p>What answers, events and bodies are made of.</p>\n'
        f"{''.join(_object_entries(document['components']['schemas'], tables))}</div>"
    )


def _object_entries(schemas: Mapping[str, Json], tables: Tables) -> Iterator[str]:
    for name, shape in schemas.items():
        if not shape.get("properties"):
            continue
        said = inline(" ".join(cast("str", shape.get("description", "")).split()))
        yield (
            f'<details class="entry" id="{name.lower()}"><summary><code>{name}</code> <span>{said}</span></summary>'
            f"{object_fields(shape, tables, shows_required=False)}</details>"
        )
