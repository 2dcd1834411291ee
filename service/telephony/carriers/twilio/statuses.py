"""The words in which Twilio says how a call stands, as those of this service."""

from collections.abc import Mapping

from callwright.contract.transfers import TransferCause
from callwright.service.telephony.carriers.sip_status import cause_of, ended_by
from callwright.service.telephony.engine import AnsweredBy, EndedBy, HangupCause
from callwright.service.telephony.legs.carrier_reports import CarrierSaid
from callwright.service.telephony.legs.leg_rows import LegStage
from callwright.service.telephony.legs.person_calls import PersonStage

STAGES: Mapping[str, LegStage] = {
    "queued": "initiated",
    "initiated": "initiated",
    "ringing": "ringing",
    "in-progress": "answered",
    "answered": "answered",
    "completed": "answered",
    "busy": "initiated",
    "no-answer": "initiated",
    "canceled": "initiated",
    "failed": "initiated",
}
"""What a call has reached at least that has this status."""
PERSON_STAGES: Mapping[str, PersonStage] = {"ringing": "ringing"}
"""The same of a call to a person who is to take another one over. Only what Twilio asks when that call is answered says
that it is: what it tells of a status may come before."""
FINAL = ("completed", "busy", "no-answer", "canceled", "failed")
FREE = ("busy", "no-answer", "canceled", "failed")
"""Calls that Twilio makes no price for: nobody answered."""
_ANSWERED_BY: Mapping[str, AnsweredBy] = {
    "human": "human",
    "machine_start": "machine_end_silence",
    "machine_end_beep": "machine_end_beep",
    "machine_end_silence": "machine_end_silence",
    "machine_end_other": "machine_end_silence",
    "fax": "machine_end_silence",
}
"""`machine_start` comes where nothing is left to a machine: what is done then does not wait for its beep."""
_CAUSES: Mapping[str, HangupCause] = {
    "busy": "user_busy",
    "no-answer": "no_answer",
    "canceled": "originator_cancel",
    "failed": "carrier_rejected",
}
_PERSONS: Mapping[str, TransferCause] = {
    "busy": "busy",
    "no-answer": "no_answer",
    "canceled": "hung_up",
    "failed": "unreachable",
    "completed": "hung_up",
}
_REJECTED: Mapping[int, HangupCause] = {21211: "unallocated_number", 21214: "unallocated_number"}
"""Errors that are about the called number. All others are about the account, the caller's number or the country."""


def said_of(status: str, sip_status: str) -> CarrierSaid:
    """What a status tells beyond its stage. `sip_status` is the SIP status of a call that was not answered, if any."""
    if status not in FINAL:
        return CarrierSaid()
    known = int(sip_status) if len(sip_status) == 3 and sip_status.isascii() and sip_status.isdigit() else None
    return CarrierSaid(status, known if known is not None and known >= 300 and status != "completed" else None)


def answered_by(word: str) -> AnsweredBy:
    """Who answered, by Twilio's word."""
    return _ANSWERED_BY.get(word, "unknown")


def cause_of_end(said: CarrierSaid) -> tuple[HangupCause, EndedBy]:
    """Why a call ended without an answer, by its final status."""
    if said.status == "failed" and said.sip_status is not None:
        cause = cause_of(said.sip_status)
    else:
        cause = _CAUSES.get(said.status or "", "carrier_rejected")
    return cause, ended_by(cause)


def cause_of_refusal(code: int | None) -> HangupCause:
    """Why Twilio does not make a call, by the code of its error."""
    return _REJECTED.get(code or 0, "carrier_rejected")


def cause_of_person(status: str, sip_status: int | None) -> TransferCause:
    """Why a person has not taken a call over, by the final status of the call to the person."""
    if status == "failed" and sip_status is not None and cause_of(sip_status) == "call_rejected":
        return "rejected"
    return _PERSONS.get(status, "carrier_error")
