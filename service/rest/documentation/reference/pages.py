"""All the pages, with the names of their files."""

from collections.abc import Iterator

from callwright.contract.surface import OPERATIONS
from callwright.service.rest.documentation.openapi.schemas import contract_schemas
from callwright.service.rest.documentation.reference.events import events_page
from callwright.service.rest.documentation.reference.fields import fields_page
from callwright.service.rest.documentation.reference.limits import limits_page
from callwright.service.rest.documentation.reference.operations import index_page, noun_page
from callwright.service.rest.documentation.reference.problems import problems_page


def pages() -> Iterator[tuple[str, str]]:
    """Every page: its path below the folder of the reference, and its text."""
    schemas, operations = contract_schemas(), list(OPERATIONS.values())
    yield "operations.md", index_page(operations)
    for noun in dict.fromkeys(operation.noun for operation in operations):
        found = [operation for operation in operations if operation.noun == noun]
        yield f"operations/{noun}.md", noun_page(noun, found, schemas)
    yield "fields.md", fields_page(schemas)
    yield "errors.md", problems_page(operations)
    yield "events.md", events_page(schemas)
    yield "limits.md", limits_page()
