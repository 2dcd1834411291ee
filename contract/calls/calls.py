"""Calls: the record of each call, its transcript and its recording."""

from typing import Annotated, Literal, get_args

from pydantic import Field

from callwright.contract.calls.costs import CallCost
from callwright.contract.declaration.field_types import CallId, Timestamp
from callwright.contract.declaration.filters import Choices, Filter, FilterText, MadeBetween, OneOrMore, PersonalFilter
from callwright.contract.declaration.marks import (
    DERIVED,
    PERSONAL,
    CallType,
    Cell,
    OwnText,
    QuotedText,
    Speech,
    Untrusted,
    UntrustedText,
)
from callwright.contract.declaration.model import Input, Resource
from callwright.contract.declaration.operation import listing, media, operation
from callwright.contract.declaration.pagination import MOST_COUNTED, PageQuery
from callwright.contract.problems import INVALID_CURSOR, INVALID_STATE_TRANSITION, SERVICE_UNAVAILABLE
from callwright.contract.transfers import Transfer

CallStatus = Literal["queued", "initiated", "ringing", "in_progress", "completed", "failed", "cancelled"]
Outcome = Literal[
    "answered",
    "transferred",
    "voicemail",
    "voicemail_left",
    "no_answer",
    "busy",
    "rejected",
    "invalid_number",
    "unreachable",
    "abandoned",
    "fax_or_ivr",
    "blocked",
    "expired",
    "cancelled",
    "failed",
]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
Disposition = Literal[
    "goal_met",
    "interested",
    "not_interested",
    "callback_requested",
    "wrong_number",
    "wrong_person",
    "not_available",
    "do_not_call",
    "language_barrier",
    "already_done",
    "escalated",
    "incomplete",
]
CallUuid = CallId


class RecordingState(Resource):
    """What there is of a recording."""

    status: Literal["processing", "available", "deleted", "absent", "not_recorded"]
    channels: Annotated[int, Field(description="2: agent left, contact right.")] = 2
    format: Literal["mp3", "wav"] = "mp3"
    duration_seconds: int = 0
    kept_until: Annotated[
        Timestamp | None, Field(description="When it is deleted, by the plan of now; null where there is none.")
    ] = None


class Resolution(Resource):
    """What a person has said about a call of which nobody knew whether the telephone rang."""

    placed: Annotated[bool, Field(description="true: it rang. false: it did not, so the contact may be called again.")]
    resolved_at: Timestamp
    actor_id: Annotated[OwnText, Field(description="The key that said it, as in the audit log.")]
    user_id: Annotated[str | None, Field(description="The person for whom a personal key acted.")] = None


class DispositionCorrection(Resource):
    """What a person has judged the result of a conversation to be, in place of what the agent said."""

    agent_disposition: Annotated[
        OwnText | None, Field(description="What the agent itself made of the conversation; null: nothing.")
    ] = None
    note: Annotated[QuotedText, PERSONAL, Field(description="Why, as the person wrote it.")]
    corrected_at: Timestamp
    actor_id: Annotated[OwnText, Field(description="The key that said it, as in the audit log.")]
    user_id: Annotated[str | None, Field(description="The person who said it, or for whom a personal key acted.")] = (
        None
    )


class InboundRouting(Resource):
    """How a call that came in was answered, and who decided it."""

    routed_by: Annotated[
        Literal["deployment", "webhook", "fallback"],
        Field(description="The number's deployment, its routing webhook, or what the number falls back to."),
    ]
    action: Literal["agent", "voicemail", "forward", "reject"]
    reason: Annotated[
        OwnText | None, Field(description="Why it was not the agent at once, for example after_hours or overflow.")
    ] = None
    waited_seconds: Annotated[int, Field(description="How long the caller waited for a line.")] = 0
    metadata: Annotated[dict[str, OwnText], Field(description="What the routing webhook gave for the call.")] = {}


class Call(Resource):
    """One call."""

    id: Annotated[str, DERIVED]
    call_id: Annotated[str, Field(description="The same as id."), DERIVED]
    call_type: CallType
    simulated: Annotated[bool, Field(description="True when no telephone rang.")]
    deployment_id: str | None
    agent_id: str
    agent_version: Annotated[
        int | None, Field(description="The agent's version that spoke; null for calls before versions were kept.")
    ] = None
    audience_id: str | None = None
    contact_id: str | None = None
    contact_name: Annotated[
        Cell | None, Field(description="What the list calls the person; null where it has no column of names.")
    ] = None
    external_id: Annotated[Cell | None, Field(description="The list's own id of the person, as at the call.")] = None
    phone_number_id: str | None = None
    attempt_number: int
    from_number: Annotated[
        str,
        Field(serialization_alias="from", validation_alias="from", description="E.164."),
        PERSONAL,
        Untrusted("number", "inbound"),
    ]
    to: Annotated[str, Field(description="E.164."), PERSONAL, Untrusted("number", "outbound")]
    status: CallStatus
    outcome: Annotated[Outcome | None, Field(description="How the call ended; null until then.")] = None
    disposition: Annotated[
        OwnText | None, Field(description="The result of the conversation: a person's, where one has corrected it.")
    ] = None
    disposition_source: Annotated[
        OwnText | None, Field(description="policy: the agent's own; person: corrected with correct_disposition.")
    ] = None
    correction: Annotated[
        DispositionCorrection | None,
        Field(description="What the agent's own disposition was, and who corrected it; null: nobody."),
    ] = None
    callback_at: Timestamp | None = None
    answered_by: OwnText | None = None
    answered_by_carrier: Annotated[OwnText | None, Field(description="What the carrier says of that.")] = None
    answered_by_words: Annotated[
        OwnText | None, Field(description="What the words and the beep say of that, on a carrier's line.")
    ] = None
    ended_by: OwnText | None = None
    hangup_cause: OwnText | None = None
    resolved: Annotated[
        Resolution | None,
        Field(description="Of a call with the cause unconfirmed: what resolve_call has said; null until then."),
    ] = None
    provider: Annotated[
        OwnText | None, Field(description="The carrier of the line; null on the simulated network.")
    ] = None
    sip_code: Annotated[int | None, Field(description="The last status of SIP, as 486; null where there is none.")] = (
        None
    )
    transfer: Annotated[Transfer | None, Field(description="Null where none was tried.")] = None
    inbound: Annotated[InboundRouting | None, Field(description="Of a call that came in; else null.")] = None
    created_at: Timestamp
    started_at: Annotated[Timestamp | None, Field(description="When the carrier accepted it.")] = None
    ringing_at: Timestamp | None = None
    answered_at: Timestamp | None = None
    ended_at: Timestamp | None = None
    ring_seconds: int = 0
    duration_seconds: Annotated[int, Field(description="From answer to end; 0 if nobody answered.")] = 0
    billed_seconds: Annotated[int, Field(description="Seconds that are charged: from answer to end, rounded up.")] = 0
    cost: CallCost | None = None
    recording_url: OwnText | None = None
    recording: Annotated[RecordingState, DERIVED]
    transcript_url: OwnText | None = None
    turn_count: int = 0
    latency_p50_ms: Annotated[
        int | None,
        Field(
            description=(
                "The median of the times from the end of the contact's words to the agent's answer; "
                "null on the simulated network."
            )
        ),
    ] = None
    latency_p95_ms: Annotated[int | None, Field(description="The 95th percentile of those.")] = None
    unanswered_questions: Annotated[
        list[Speech], Field(description="What the contact asked and the agent's prompt could not answer.")
    ] = []
    variables: dict[str, Cell] = {}
    warnings: Annotated[list[UntrustedText], DERIVED] = []


class AnswerLatency(Resource):
    """How long an answer took, from the end of the contact's words to its first sound, in milliseconds."""

    total: int
    endpointing: Annotated[int, Field(description="Until it was clear that the contact had finished.")] = 0
    hearing: Annotated[int, Field(description="Until the words were recognised.")] = 0
    thinking: Annotated[int, Field(description="Until the first words of the answer.")] = 0
    speaking: Annotated[int, Field(description="Until their sound.")] = 0


class CalledTool(Resource):
    """The call of a tool by the agent: what it asked and what it was told."""

    name: OwnText
    arguments: Annotated[Speech, Field(description="JSON of the arguments, which come from what was said.")]
    result: Annotated[Speech, Field(description="What the agent was told, as text, cut at 4,000 characters.")]
    ok: Annotated[bool, Field(description="False: it failed, and result says why.")]
    latency_ms: Annotated[int, Field(description="How long it took; 0 on the simulated network.")]


class TranscriptTurn(Resource):
    """One thing said or done. Times are seconds after the answer."""

    index: int
    role: Annotated[
        Literal["agent", "contact", "system"],
        Field(description="system: nobody speaks, and the agent calls a tool (tool_call)."),
    ]
    text: Annotated[Speech, Field(description="Empty where a tool is called.")]
    start_seconds: float
    end_seconds: float
    language: OwnText
    source: Annotated[
        OwnText, Field(description="Where the words come from, for example policy on the simulated network.")
    ]
    interrupted: bool = False
    latency_ms: Annotated[
        AnswerLatency | None, Field(description="Of an answer of the agent on a carrier's line; else null.")
    ] = None
    tool_call: Annotated[CalledTool | None, Field(description="Of role system; else null.")] = None


class Transcript(Resource):
    """What was said on a call."""

    call_id: str
    simulated: bool
    language: OwnText
    status: Literal["processing", "available", "absent"]
    duration_seconds: float
    turn_count: int
    turns: list[TranscriptTurn]
    next_cursor: Annotated[OwnText | None, Field(description="Send as cursor to get the next turns.")] = None


class CallFilters(MadeBetween):
    """Which calls are meant."""

    deployment_id: Annotated[OneOrMore[FilterText], Field(description="Only calls of these deployments.")] = None
    agent_id: Annotated[OneOrMore[FilterText], Field(description="Only calls of these agents.")] = None
    agent_version: Annotated[
        int | None,
        Field(ge=1, le=2_000_000_000, description="Only calls of this version of the agent; needs one agent_id."),
        Filter(),
    ] = None
    audience_id: Annotated[OneOrMore[FilterText], Field(description="Only calls to these audiences.")] = None
    contact_id: Annotated[OneOrMore[FilterText], Field(description="Only calls to these contacts.")] = None
    call_type: Annotated[OneOrMore[CallType], Field(description="Only this direction.")] = None
    status: Annotated[Choices[CallStatus], Field(description="Only these states, for example in_progress.")] = None
    outcome: Annotated[Choices[Outcome], Field(description="Only these outcomes, for example answered.")] = None
    disposition: Annotated[
        Choices[Disposition], Field(description="Only these dispositions, for example goal_met.")
    ] = None
    to: Annotated[
        PersonalFilter | None, Field(description="Only calls to this number, in E.164."), Filter("to_number")
    ] = None
    language: Annotated[OneOrMore[FilterText], Field(description="Only calls of agents with these language tags.")] = (
        None
    )
    answered_by: Annotated[
        OneOrMore[FilterText], Field(description="Only those answered by one of these, for example human.")
    ] = None


PersonName = Annotated[
    PersonalFilter | None,
    Field(description="Only people whose name has these words, or words that begin so; case and accents do not count."),
]


class OfPerson(Input):
    """Whose calls are meant."""

    contact_name: Annotated[PersonName, Filter("name_words", "words")] = None


class ListCalls(OfPerson, CallFilters, PageQuery):
    """Calls of the organization."""

    ended_from: Annotated[
        Timestamp | None,
        Field(description="Only those that ended at this moment or later, to the second."),
        Filter("ended", "from"),
    ] = None
    ended_before: Annotated[
        Timestamp | None,
        Field(description="Only those that ended before this moment, to the second."),
        Filter("ended", "before"),
    ] = None


class GetCall(Input):
    """One call."""

    call_uuid: CallUuid


class GetTranscript(Input):
    """The call whose transcript to read."""

    call_uuid: CallUuid
    cursor: Annotated[
        OwnText | None, Field(min_length=1, max_length=200, description="next_cursor of the previous answer.")
    ] = None
    per_page: Annotated[int, Field(ge=1, le=200, description="Turns per answer, 1 to 200.")] = 200


class GetRecording(Input):
    """The call whose recording to fetch."""

    call_uuid: CallUuid
    format: Annotated[Literal["mp3", "wav"], Field(description="The audio format.")] = "mp3"


class HangUpCall(Input):
    """The call to end."""

    call_uuid: CallUuid


list_calls = listing(
    "list_calls",
    "/calls",
    takes=ListCalls,
    gives=Call,
    sorts=("created_at", "ended_at", "duration_seconds"),
    counts_to=MOST_COUNTED,
    summary="List calls.",
)
get_call = operation("get_call", "GET /calls/{call_uuid}", takes=GetCall, gives=Call, summary="Get a call.")
get_transcript = operation(
    "get_transcript",
    "GET /calls/{call_uuid}/transcript",
    takes=GetTranscript,
    gives=Transcript,
    problems=(INVALID_CURSOR,),
    summary="Get the transcript of a call.",
)
get_recording = media(
    "get_recording",
    "/calls/{call_uuid}/recording",
    takes=GetRecording,
    media_types=("audio/mpeg", "audio/wav"),
    problems=(SERVICE_UNAVAILABLE,),
    summary="Get the recording of a call, stereo: agent left, contact right.",
)
hang_up_call = operation(
    "hang_up_call",
    "POST /calls/{call_uuid}/hangup",
    takes=HangUpCall,
    gives=Call,
    problems=(INVALID_STATE_TRANSITION,),
    summary="End a call that is under way.",
)
