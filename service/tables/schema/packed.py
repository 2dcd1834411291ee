"""The types of columns whose texts are alike in every call: events, evidence and what was said.

Their dictionaries belong to what is stored: another one is added, none is changed. See `PackedText`.
"""

from callwright.service.platform.database.packed_text import PackedText

_EVENTS = (
    '"reason":null,"status_reason":null,"contact_id":"ctc_","phone_number_id":"num_","webhook_id":"whk_",'
    '"message":"transfer":{"answered_by":"voicemail","machine_start","machine_end_silence","machine_end_beep","fax",'
    '"unknown","human","hangup_cause":"no_answer","busy","rejected","unreachable","invalid_number","carrier_error",'
    '"contact_hangup","agent_hangup","disposition":"goal_met","not_interested","callback_requested","do_not_call",'
    '"wrong_number","undetermined","hung_up","status":"failed","in_progress","outcome":"transferred","failed","busy",'
    '"no_answer","voicemail","answered","duration_seconds":0,"outcome":"no_answer","recording_url":null,'
    '"transcript_url":null,"status":"completed","disposition":null,"hangup_cause":"no_answer","answered_by":null,'
    '"transfer":null}{"call_id":"cal_0V","deployment_id":"dep_0V","agent_id":"agt_0V","call_type":"inbound",'
    '"attempt_number":1,"simulated":false}{"call_id":"cal_0V","deployment_id":"dep_0V","agent_id":"agt_0V",'
    '"call_type":"outbound","attempt_number":1,"simulated":true,"duration_seconds":30,"outcome":"answered",'
    '"recording_url":"/v1/calls/cal_0V/recording","transcript_url":"/v1/calls/cal_0V/transcript","status":"completed",'
    '"disposition":"goal_met","hangup_cause":"agent_hangup","answered_by":"human","transfer":null}'
)
EVENT_DATA = PackedText(_EVENTS)
"""The data of an event, as JSON."""

_EVIDENCE = (
    '"consent_basis":"column","attested","consent_column":"consent","consent_answer":"yes","consent_date":"2026-11-"'
    '{"rules_version":"2026.11.1","regions":["US","US-NY"],"time_zones":["America/New_York"],'
    '"local_time":"Mon Tue Wed Thu Fri 2026-11-27 15:53:51 -0500","rules":["*.hours","*.caps-day","*.caps-week"],'
    '"consent_rules":[],"consent_basis":"not_needed","consent_column":null,"consent_answer":null,"consent_date":null,'
    '"consent_reference":null,"calls_in_24_hours":0,"calls_in_7_days":0,"do_not_call_checked_ms":17'
)
EVIDENCE = PackedText(_EVIDENCE)
"""The record of why a call was allowed, as JSON."""

_TURNS = (
    '"source":"recognised","language":"fr-FR","es-ES","de-DE","interrupted":true},"latency_ms":{"total":},'
    '"tool_call":{"name":"","arguments":{},"result":[{"index":0,"role":"contact","text":" the to you is and that thank '
    'you","start_seconds":0.5,"end_seconds":12.4,"language":"en-US","source":"policy","interrupted":false},'
    '{"index":1,"role":"agent","text":"Hello, this is an automated call. May I","start_seconds":4.8,"end_seconds":10.2,'
    '"language":"en-US","source":"policy","interrupted":false}]'
)
TURNS = PackedText(_TURNS)
"""The turns of a transcript, as JSON."""
