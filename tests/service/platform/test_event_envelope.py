"""The bytes of an event."""

import json

from callwright.contract.events import EventEnvelope
from callwright.service.platform.event_envelope import envelope


def test_the_bytes_that_are_sent_are_compact_and_hold_the_data_as_it_was_stored() -> None:
    data = '{"b": 1.50, "a":"Zoë \\u00e9"}'
    made = envelope("evt_1", "call.started", 1_795_262_400_007, "org_1", data)
    head = '{"id":"evt_1","type":"call.started","created_at":"2026-11-21T12:00:00.007Z","org_id":"org_1","data":'
    assert made == (head + data + "}").encode()
    assert list(json.loads(made)) == list(EventEnvelope.model_fields)
