"""Every problem code the service answers with: its status, its type, what it means and what the caller does next."""

from dataclasses import dataclass
from functools import partial
from typing import Literal

ProblemType = Literal[
    "validation_error",
    "authentication_error",
    "permission_error",
    "not_found_error",
    "conflict_error",
    "business_rule_error",
    "rate_limit_error",
    "api_error",
]

PROBLEMS: dict[str, "ProblemCode"] = {}


@dataclass(frozen=True)
class ProblemCode:
    """A declared problem. `flat` ones use the envelope `{error, message}`, all others the nested one."""

    code: str
    meaning: str
    remedy: str
    status: int = 400
    type: ProblemType = "validation_error"
    flat: bool = False

    def __post_init__(self) -> None:
        PROBLEMS[self.code] = self


_conflict = partial(ProblemCode, status=409, type="conflict_error")
_business_rule = partial(ProblemCode, status=422, type="business_rule_error")
_rate_limit = partial(ProblemCode, status=429, type="rate_limit_error")
_failure = partial(ProblemCode, status=503, type="api_error")

MALFORMED_REQUEST = ProblemCode(
    "malformed_request",
    "What was sent is not an HTTP request.",
    "Send HTTP/1.1, a line at most 65,535 bytes long, without control characters or bytes beyond ASCII in the address, "
    "and without asking for another protocol (Upgrade) where there is a body.",
)
INVALID_JSON = ProblemCode(
    "invalid_json",
    "The body is not a JSON object.",
    "Send one JSON object in UTF-8 with Content-Type: application/json.",
)
MISSING_FIELD = ProblemCode("missing_field", "A required field is absent.", "Add the field named in `field`.")
INVALID_FIELD = ProblemCode(
    "invalid_field",
    "A field is unknown, or its value is not allowed.",
    "Correct the field named in `field`; the message says what is allowed.",
)
INVALID_CURSOR = ProblemCode(
    "invalid_cursor",
    "The cursor is not one this list gave out, or the sort or filters changed since.",
    "Start again without a cursor.",
)
PAYLOAD_TOO_LARGE = ProblemCode(
    "payload_too_large", "The body is larger than 1 MB.", "Send it in smaller parts.", status=413
)
UNSUPPORTED_MEDIA_TYPE = ProblemCode(
    "unsupported_media_type", "The body is not declared as JSON.", "Send Content-Type: application/json.", status=415
)
REQUEST_TIMEOUT = ProblemCode(
    "request_timeout",
    "The request did not arrive in time.",
    "Send the request again, without long pauses in its headers or its body.",
    status=408,
)
METHOD_NOT_ALLOWED = ProblemCode(
    "method_not_allowed",
    "The path exists, but not for this method.",
    "Use a method named in the Allow header.",
    status=405,
)
RANGE_NOT_SATISFIABLE = ProblemCode(
    "range_not_satisfiable",
    "The range lies behind the end of the file.",
    "`Content-Range` says how many bytes there are.",
    status=416,
)
HEADERS_TOO_LARGE = ProblemCode(
    "headers_too_large",
    "The address and the headers together are larger than 65,536 bytes.",
    "Send fewer or shorter headers, and large values in the body.",
    status=431,
)
API_KEY_REQUIRED = ProblemCode(
    "api_key_required",
    "No API key was sent, or the token is not one.",
    "Send Authorization: Bearer with a key that begins with svc_live_.",
    status=401,
    type="authentication_error",
    flat=True,
)
INVALID_API_KEY = ProblemCode(
    "invalid_api_key",
    "The API key is unknown or revoked.",
    "Use an active key of your organization.",
    status=401,
    type="authentication_error",
    flat=True,
)
ORIGIN_NOT_ALLOWED = ProblemCode(
    "origin_not_allowed",
    "Browsers may not call the API from this origin.",
    "Call the API from a server.",
    status=403,
    type="permission_error",
    flat=True,
)
NOT_AUTHENTICATED = ProblemCode(
    "not_authenticated",
    "The session of the dashboard has ended.",
    "Log in again; `callwright open` makes a link.",
    status=401,
    type="authentication_error",
)
FORBIDDEN = ProblemCode(
    "forbidden",
    "The role of the user does not allow this.",
    "Ask an owner of the organization to do it, or to change the role.",
    status=403,
    type="permission_error",
)
API_KEY_OWNER_REQUIRED = _conflict(
    "api_key_owner_required",
    "The user who made this API key has left the organization, or lacks what this needs.",
    "Use a key made by a present member; `action_url` leads to the keys.",
    flat=True,
)
NOT_FOUND = ProblemCode(
    "not_found",
    "There is no such thing in your organization.",
    "Check the id; list the resource to see what exists.",
    status=404,
    type="not_found_error",
)
DUPLICATE_NAME = _conflict("duplicate_name", "The name is already taken.", "Choose another name.")
PHONE_NUMBER_ALREADY_BOUND = _conflict(
    "phone_number_already_bound",
    "Another inbound deployment answers this number.",
    "Cancel that deployment first, or bind another number.",
)
PHONE_NUMBER_IN_USE = _conflict(
    "phone_number_in_use",
    "A deployment that is not finished calls from this number or answers it.",
    "Cancel or finish that deployment first.",
)
NUMBER_UNAVAILABLE = _conflict(
    "number_unavailable", "No such number is free to rent.", "Search the available numbers again and take one of those."
)
AUDIENCE_IN_USE = _conflict(
    "audience_in_use",
    "A deployment that is not finished uses this audience.",
    "Cancel or finish that deployment first.",
)
AGENT_IN_USE = _conflict(
    "agent_in_use", "A deployment that is not finished uses this agent.", "Cancel or finish that deployment first."
)
PROVIDER_IN_USE = _conflict(
    "provider_in_use",
    "Agents, or campaigns that are not finished, use this provider; nothing was removed.",
    "`used_by` names them: give those agents another provider, or none, and finish or cancel those campaigns.",
)
INVALID_STATE_TRANSITION = _conflict(
    "invalid_state_transition",
    "The resource is in a state that does not allow this.",
    "Look at `current_status` and `allowed`.",
)
REVIEW_ALREADY_DECIDED = _conflict(
    "review_already_decided",
    "The review was decided the other way; nothing was changed.",
    "`current_status` and `decided_by` say how and by whom. A decision stands; clone the campaign to change it.",
)
SECRETS_STILL_SIGN = _conflict(
    "secrets_still_sign",
    "Three earlier signing secrets of the subscription still sign; nothing was changed.",
    "Rotate again from `possible_from` on. Sooner only with overlap_seconds 0: the present secret then ends at once.",
)
PLAN_REQUIRED = _conflict(
    "plan_required",
    "Telephones would really ring, and nothing says what exactly was agreed to; nobody was called.",
    "Preview the deployment, have a person agree to its summary, then start or resume it with the preview's plan_id.",
)
PLAN_EXPIRED = _conflict(
    "plan_expired",
    "The plan is older than 15 minutes; nobody was called.",
    "Preview the deployment again and use the new plan_id.",
)
PLAN_STALE = _conflict(
    "plan_stale",
    "Something has changed since the preview; nobody was called.",
    "`changed` names what; preview the deployment again and have a person agree to the new plan.",
)
REVISION_MISMATCH = _conflict(
    "revision_mismatch",
    "Something is not as the request expects it: it has changed since its revision was read. Nothing was done.",
    "`changed` names what, by id: read it again, and send the new revision if it is still right to do this.",
)
PRICE_CHANGED = _conflict(
    "price_changed",
    "The number costs another amount a month than the request expects; nothing was rented.",
    "`monthly_cost` is the price now; have a person agree to it, then send it as `expected_monthly_cost`.",
)
CALL_UNDER_WAY = _conflict(
    "call_under_way",
    "The person is on a call at this moment; nothing was deleted.",
    "Wait until the call that `call_id` names has ended, or hang it up, then delete again.",
)
IDEMPOTENCY_IN_PROGRESS = _conflict(
    "idempotency_in_progress",
    "A request with this Idempotency-Key is still being served.",
    "Send it again after `Retry-After` seconds; it is then answered with the first answer.",
)
IDEMPOTENCY_KEY_REUSED = _business_rule(
    "idempotency_key_reused",
    "This Idempotency-Key was used for a different request.",
    "Use a fresh key for a new request.",
)
INSUFFICIENT_CREDITS = _business_rule(
    "insufficient_credits",
    "The wallet does not cover this. `callwright orgs fund NAME --amount N` on the machine of the service adds play "
    "money; for real money `callwright orgs topup NAME --amount N` makes a link to pay on.",
    "Have the wallet topped up; `required` and `available` say how much is missing.",
)
SPENDING_CAP_REACHED = _business_rule(
    "spending_cap_reached",
    "The personal key may not commit this much money.",
    "Commit less, or use a key with a higher cap; `limit`, `current` and `required` give the amounts.",
)
PLAN_LIMIT_REACHED = _business_rule(
    "plan_limit_reached",
    "The organization's plan does not allow more of these.",
    "Finish some first, or move to a larger plan; `limit` and `current` give the numbers.",
)
AUDIENCE_FULL = _business_rule(
    "audience_full",
    "The audience would have more than 5,000,000 rows.",
    "Put the further rows into another audience; `limit` and `current` give the numbers.",
)
BUDGET_REACHED = _business_rule(
    "budget_reached",
    "A budget cap leaves less than one call holds back; nobody was called.",
    "Raise the cap that `field` names, preview the deployment, then start or resume it; `required` and `available` "
    "give the amounts.",
)
WALLET_FROZEN = _business_rule(
    "wallet_frozen",
    "The wallet is frozen: nothing new is paid from it. `callwright orgs unfreeze NAME` on the machine of the service "
    "lets it pay again.",
    "Ask who froze it to unfreeze it; until then nobody is called and no number is rented.",
)
COMPLIANCE_REJECTED = _business_rule(
    "compliance_rejected",
    "A rule of compliance forbids the start; nobody was called.",
    "`reasons` says why. If `review_id` is there, a person decides that review; after a rejection clone the campaign.",
)
AUDIENCE_NOT_READY = _business_rule(
    "audience_not_ready",
    "The audience has no valid row yet, or lacks a column that the agent's words or the consent_column use.",
    "Add rows that have what the message names.",
)
AUDIENCE_IMPORTING = _conflict(
    "audience_importing",
    "A file is being imported into the audience, and nobody knows yet how many people it adds; nobody was called.",
    "Wait until the imports that `imports` names have ended, or end those that wait for their file with DELETE at "
    "their upload_url; preview the deployment, then start or resume it.",
)
LINES_UNAVAILABLE = _business_rule(
    "lines_unavailable",
    "No lines carry such calls here.",
    "The message says what whoever runs the service has to install or set.",
)
NUMBER_NOT_AT_CARRIER = _business_rule(
    "number_not_at_carrier",
    "The carrier is not set up with this number.",
    "The message says what whoever runs the service has to set.",
)
NUMBER_NOT_CAPABLE = _business_rule(
    "number_not_capable",
    "The number is not active, or cannot be called.",
    "Bind an active number whose capabilities include voice_inbound.",
)
RATE_LIMITED = _rate_limit(
    "rate_limited", "Too many requests at once.", "Wait for `Retry-After` seconds, then go on more slowly."
)
DAILY_QUOTA_EXCEEDED = _rate_limit(
    "daily_quota_exceeded",
    "The key has made as many requests today as the plan allows.",
    "Go on after midnight UTC, or move to a larger plan.",
)
INTERNAL_ERROR = _failure(
    "internal_error",
    "The service failed; nothing was changed.",
    "Try again later; quote request_id when it happens again.",
    status=500,
)
SERVICE_UNAVAILABLE = _failure(
    "service_unavailable",
    "A part of the service that this needs is not there right now.",
    "The message says what is missing; try again later.",
)
STORAGE_FULL = _failure(
    "storage_full",
    "The disk of the service is full; nothing was changed, and nothing is dialled.",
    "Reading still works. Whoever runs the service makes room on its disk; then try again.",
)

EVERYWHERE: tuple[ProblemCode, ...] = (
    INVALID_JSON,
    MISSING_FIELD,
    INVALID_FIELD,
    API_KEY_REQUIRED,
    INVALID_API_KEY,
    ORIGIN_NOT_ALLOWED,
    PAYLOAD_TOO_LARGE,
    RATE_LIMITED,
    DAILY_QUOTA_EXCEEDED,
    INTERNAL_ERROR,
    SERVICE_UNAVAILABLE,
    STORAGE_FULL,
)
"""Problems that any operation may answer with, beside its own."""
BEFORE_THE_PATH = (MALFORMED_REQUEST, HEADERS_TOO_LARGE)
"""Problems of what is no complete request yet: no operation is known that could answer with them."""
