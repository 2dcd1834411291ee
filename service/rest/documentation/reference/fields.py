"""The page of fields: every object that is sent or answered."""

from callwright.contract.events import EVENT_TYPES
from callwright.service.rest.documentation.openapi.schemas import Schemas
from callwright.service.rest.documentation.reference.tables import Tables

_ELSEWHERE = {"Problem", "FlatProblem"}


def fields_page(schemas: Schemas) -> str:
    """A table for each schema, by name. The data of events is on the page of events."""
    tables = Tables(schemas.components, "")
    of_events = {event.data.__name__ for event in EVENT_TYPES.values()}
    lines = [
        "# Fields",
        "",
        "The objects that operations take and give, by name. Readers ignore fields they do not know.",
        "",
    ]
    for name, shape in schemas.components.items():
        if shape.get("properties") and name not in of_events | _ELSEWHERE:
            lines += [f"## {name}", ""]
            if "description" in shape:
                lines += [" ".join(shape["description"].split()), ""]
            lines += [*tables.of(shape), ""]
    return "\n".join(lines).rstrip() + "\n"
