"""Where answers hold what came from outside: what callees said, cells of files, answers of endpoints."""

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel

from callwright.contract.audiences import Audience, AudienceRow, Column, RowError, RowsAdded
from callwright.contract.calls import Call, Transcript, TranscriptTurn
from callwright.contract.deployments.contacts import Contact
from callwright.contract.deployments.dialling import Compliance
from callwright.contract.deployments.previews import Preview
from callwright.contract.event_log import EventExplanation, WebhookArrival
from callwright.contract.transcripts import Snippet, TranscriptMatch
from callwright.contract.webhooks import DeliveryAttempt, DeliveryWithAttempts

Kind = Literal["speech", "words", "number", "spelt", "column"]

FOREIGN: Mapping[type[BaseModel], Mapping[str, Kind | type[BaseModel]]] = {
    Call: {"to": "number", "unanswered_questions": "speech", "variables": "words", "warnings": "words"},
    Transcript: {"turns": TranscriptTurn},
    TranscriptTurn: {"text": "speech"},
    TranscriptMatch: {"snippets": Snippet},
    Snippet: {"text": "speech"},
    Contact: {"phone_number": "number", "values": "words"},
    AudienceRow: {"phone_number": "number", "values": "words", "external_id": "words"},
    Audience: {
        "columns": Column,
        "phone_column": "column",
        "timezone_column": "column",
        "external_id_column": "column",
    },
    Column: {"name": "column", "sample": "column"},
    RowsAdded: {"errors": RowError},
    RowError: {"column": "column", "message": "spelt", "value_redacted": "spelt"},
    Compliance: {"consent_column": "column"},
    Preview: {"greeting": "spelt"},
    DeliveryWithAttempts: {"attempts": DeliveryAttempt},
    DeliveryAttempt: {"response_excerpt": "words", "detail": "words"},
    EventExplanation: {"webhooks": WebhookArrival},
    WebhookArrival: {"response_excerpt": "words"},
}
"""Where answers hold what came from outside. `speech` is said on a call: it is cleaned, and numbers in it stay. `words`
stood in a file, are made of its cells, or are what an endpoint answered: numbers in them are masked. `number` is a
contact's own. `spelt` has somebody's cells in it without the columns they come from: whatever may be a number is
masked. `column` is the name of a column, in a file without a header row somebody's cell, or one cell of it: digits
behind a word count as well. A model is a part that has more inside, or a list of such parts.
"""
WITH_CELLS = frozenset({Call, Contact, AudienceRow})
"""What has the cells of one person, beside a number of theirs."""
SPEECH = frozenset({Transcript, TranscriptTurn, TranscriptMatch, Snippet})
"""What was said on a call."""
CONVERSATIONS = frozenset({"transcript", "turns", "messages", "segments", "utterances"})
"""Names of fields that other services give to what was said on a call."""
_NOTHING: Mapping[str, Kind | type[BaseModel]] = {}
INBOUND: Mapping[str, Kind | type[BaseModel]] = {
    "from_number": "number",
    **{name: kind for name, kind in FOREIGN[Call].items() if name != "to"},
}
INBOUND_JSON: Mapping[str, Kind | type[BaseModel]] = {**INBOUND, "from": "number"}
"""A call that a contact made: the number it came from is theirs, the one it went to is the organization's."""


def foreign_fields(model: type[BaseModel]) -> Mapping[str, Kind | type[BaseModel]]:
    """The fields of a model that hold what came from outside."""
    return next((FOREIGN[base] for base in model.__mro__ if base in FOREIGN), _NOTHING)
