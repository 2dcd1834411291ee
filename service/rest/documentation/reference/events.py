"""The page of events."""

from callwright.contract.events import EVENT_TYPES, EventEnvelope
from callwright.service.rest.documentation.examples import event_example
from callwright.service.rest.documentation.openapi.schemas import Schemas
from callwright.service.rest.documentation.reference.exchanges import json_text
from callwright.service.rest.documentation.reference.tables import Tables


def events_page(schemas: Schemas) -> str:
    """Every event type with its data and an example."""
    tables = Tables(schemas.components, "fields.md")
    envelope = schemas.components[EventEnvelope.__name__]
    lines = ["# Events", "", "Every event comes in the same envelope:", "", *tables.of(envelope), ""]
    for event in EVENT_TYPES.values():
        lines += [f"## {event.name}", "", f"Fires when {event.fires}. Its `data`:", ""]
        lines += [*tables.of(schemas.components[event.data.__name__]), ""]
        example = event_example(event.name)
        if example is not None:
            lines += ["```json", json_text(example), "```", ""]
    return "\n".join(lines).rstrip() + "\n"
