"""The reference pages: everything stands on them, and every link leads somewhere."""

import posixpath
import re
from collections.abc import Iterator

import pytest

from callwright.contract.deployments.dialling import CONSENT_GIVEN, CONSENT_WORDS
from callwright.contract.events import EVENT_TYPES
from callwright.contract.problems import EVERYWHERE, PROBLEMS
from callwright.contract.surface import OPERATIONS
from callwright.service.rest.documentation.openapi.schemas import contract_schemas
from callwright.service.rest.documentation.reference import pages
from callwright.service.rest.documentation.reference.tables import Tables, cell
from callwright.service.rules.organization_plans import PRICE_PLANS
from tests.house.tree import ROOT

PAGES = dict(pages())
LINK = re.compile(r"\[[^\]]*\]\(([^)]*)\)")


def section(page: str, heading: str) -> str:
    parts = PAGES[page].split(f"\n## {heading}\n")
    assert len(parts) == 2, f"{page}: {heading}"
    return parts[1].split("\n## ")[0]


def row(page: str, name: str) -> list[str]:
    """The cells of the line of a table that begins with this name."""
    (line,) = [line for line in PAGES[page].splitlines() if line.startswith(f"| {name} |")]
    return [text.strip() for text in line.strip("|").split("|")]


def links() -> Iterator[tuple[str, str, str]]:
    """Every link between the pages: where it stands, its page, its heading."""
    for page, text in PAGES.items():
        prose = re.sub(r"```.*?```", "", text, flags=re.S)
        for target in LINK.findall(prose):
            path, _, heading = target.partition("#")
            yield page, posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page, heading


def test_every_link_leads_to_a_heading() -> None:
    headings = {
        page: {line.lstrip("# ").lower().replace(" ", "-") for line in text.splitlines() if line.startswith("#")}
        for page, text in PAGES.items()
    }
    found = list(links())
    assert len(found) > 300
    assert [link for link in found if link[1] not in PAGES or (link[2] and link[2] not in headings[link[1]])] == []


@pytest.mark.parametrize("name", list(OPERATIONS))
def test_an_operation_stands_on_its_page_with_fields_problems_and_an_example(name: str) -> None:
    operation = OPERATIONS[name]
    text = section(f"operations/{operation.noun}.md", name)
    assert f"`{operation.method} /v1{operation.path}`" in text
    assert operation.summary in text
    for field in operation.takes.model_fields:
        assert f"| `{operation.wire_name(field)}` | {operation.place_of(field)} |" in text
    for field in operation.sorts:
        assert f"`{field}`" in text.partition("Sorts by")[2]
    for problem in operation.problems:
        assert problem in EVERYWHERE or f"#{problem.code})" in text, problem.code
    assert f"```http\n{operation.method} /v1/{operation.noun}" in text
    assert f"```http\nHTTP/1.1 {operation.status}\n" in text
    assert f"(operations/{operation.noun}.md#{name}) | `{operation.method} {operation.path}`" in PAGES["operations.md"]


@pytest.mark.parametrize("code", list(PROBLEMS))
def test_a_problem_stands_on_its_page_with_an_example(code: str) -> None:
    text = section("errors.md", code)
    problem = PROBLEMS[code]
    assert f"Status {problem.status}, type `{problem.type}`." in text
    assert problem.remedy in text
    assert f"```http\nHTTP/1.1 {problem.status}\n" in text
    assert (f'"error": "{code}"' if problem.flat else f'"code": "{code}"') in text
    assert "Given by" in text or problem in EVERYWHERE


@pytest.mark.parametrize("name", list(EVENT_TYPES))
def test_an_event_stands_on_its_page_with_an_example(name: str) -> None:
    text = section("events.md", name)
    assert all(f"| `{field}` |" in text for field in EVENT_TYPES[name].data.model_fields)
    assert f'"type": "{name}"' in text


def test_every_object_stands_on_the_page_of_fields() -> None:
    for operation in OPERATIONS.values():
        if operation.item is not None:
            text = section("fields.md", operation.item.__name__)
            wire = [field.serialization_alias or name for name, field in operation.item.model_fields.items()]
            assert [name for name in wire if f"| `{name}` |" not in text] == []


@pytest.mark.parametrize(
    ("limit", "value"),
    [
        ("Active API keys of an organization", "20; they do not expire"),
        ("Entries per page", "1 to 200, 50 if absent"),
        ("An Idempotency-Key is remembered", "24 hours from its first request"),
        ("System prompt", "32,768 characters"),
        ("A body", "1,000,000 bytes"),
    ],
)
def test_the_limits_of_the_specification_stand_on_their_page(limit: str, value: str) -> None:
    assert row("limits.md", limit)[1] == value


def test_every_plan_stands_on_the_page_of_limits() -> None:
    assert row("limits.md", "starter") == ["starter", "5", "5,000", "5", "10", "90 days"]
    assert row("limits.md", "pro")[1:3] == ["25", "50,000"]
    assert row("limits.md", "growth")[1:3] == ["100", "250,000"]
    assert row("limits.md", "enterprise")[1:4] == ["no limit, or as agreed"] * 3
    assert [name for name in PRICE_PLANS if f"| {name} |" not in PAGES["limits.md"]] == []


def test_types_and_bounds_are_said_in_words() -> None:
    tables = Tables(contract_schemas().components, "fields.md")
    assert tables.type_of({"$ref": "#/components/schemas/Money"}) == "[Money](fields.md#money)"
    assert tables.type_of({"type": "array", "items": {"enum": ["a", "b"]}}) == "list of `a`, `b`"
    assert tables.type_of({"anyOf": [{"type": "string"}, {"type": "null"}]}) == "string or null"
    assert tables.type_of({"type": "object", "additionalProperties": {"type": "integer"}}) == "object of integer"
    assert (
        tables.said({"description": "A name.", "minLength": 1, "maxLength": 200}) == "A name. At most 200 characters."
    )
    assert tables.said({"description": "Of 0.1 to 9.", "minimum": 0.1, "maximum": 9}) == "Of 0.1 to 9."
    assert tables.said({"minimum": 15, "maximum": 60, "default": 30}) == "15 to 60. Default: 30."
    assert tables.said({"type": "boolean", "default": True}) == "Default: true."
    assert cell("a | b\nc") == "a \\| b c"


def test_calls_at_a_time_are_those_that_a_deployment_may_ask_for_where_the_plan_has_no_limit() -> None:
    assert row("limits.md", "enterprise")[4] == row("limits.md", "Calls at a time of a deployment")[1] == "1,000"


def test_an_example_with_brackets_in_its_query_says_what_curl_needs() -> None:
    queries = [
        text
        for page in PAGES.values()
        for text in re.split(r"^## ", page, flags=re.M)
        if re.search(r"^GET .*\[", text, re.M)
    ]
    assert queries
    assert not [text.splitlines()[0] for text in queries if "`curl -g`" not in text]


def test_a_file_whose_request_is_too_large_is_said_to_be_refused_as_a_body() -> None:
    assert "413" in row("limits.md", "A CSV file")[1]


def test_the_words_that_count_as_consent_stand_on_the_page_of_fields_and_in_the_guide() -> None:
    guide = (ROOT / "server" / "mcp" / "guides" / "columns.md").read_text(encoding="utf-8")
    lines = [line for line in PAGES["fields.md"].splitlines() if line.startswith("| `consent_column` |")]
    assert any(CONSENT_WORDS in line for line in lines)
    assert ", ".join(f"`{word}`" for word in CONSENT_GIVEN) in guide
