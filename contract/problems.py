"""Every problem code the service answers with: its status, its type, what it means and what the caller does next."""

from dataclasses import dataclass
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
    status: int
    type: ProblemType
    meaning: str
    remedy: str
    flat: bool = False

    def __post_init__(self) -> None:
        PROBLEMS[self.code] = self


MALFORMED_REQUEST = ProblemCode(
    "malformed_request",
    400,
    "validation_error",
    "What was sent is not an HTTP request.",
    "Send HTTP/1.1, a line at most 65,535 bytes long, without control characters or bytes beyond ASCII in the address, "
    "and without asking for another protocol (Upgrade) where there is a body.",
)
INVALID_JSON = ProblemCode(
    "invalid_json",
    400,
    "validation_error",
    "The body is not a JSON object.",
    "Send one JSON object in UTF-8 with Content-Type: application/json.",
)
MISSING_FIELD = ProblemCode(
    "missing_field", 400, "validation_error", "A required field is absent.", "Add the field named in `field`."
)
INVALID_FIELD = ProblemCode(
    "invalid_field",
    400,
    "validation_error",
    "A field is unknown, or its value is not allowed.",
    "Correct the field named in `field`; the message says what is allowed.",
)
INVALID_CURSOR = ProblemCode(
    "invalid_cursor",
    400,
    "validation_error",
    "The cursor is not one this list gave out, or the sort or filters changed since.",
    "Start again without a cursor.",
)
PAYLOAD_TOO_LARGE = ProblemCode(
    "payload_too_large", 413, "validation_error", "The body is larger than 1 MB.", "Send it in smaller parts."
)
UNSUPPORTED_MEDIA_TYPE = ProblemCode(
    "unsupported_media_type",
    415,
    "validation_error",
    "The body is not declared as JSON.",
    "Send Content-Type: application/json.",
)
REQUEST_TIMEOUT = ProblemCode(
    "request_timeout",
    408,
    "validation_error",
    "The request did not arrive in time.",
    "Send the request again, without long pauses in its headers or its body.",
)
METHOD_NOT_ALLOWED = ProblemCode(
    "method_not_allowed",
    405,
    "validation_error",
    "The path exists, but not for this method.",
    "Use a method named in the Allow header.",
)
RANGE_NOT_SATISFIABLE = ProblemCode(
    "range_not_satisfiable",
    416,
    "validation_error",
    "The range lies behind the end of the file.",
    "`Content-Range` says how many bytes there are.",
)
HEADERS_TOO_LARGE = ProblemCode(
    "headers_too_large",
    431,
    "validation_error",
    "The address and the headers together are larger than 65,536 bytes.",
    "Send fewer or shorter headers, and large values in the body.",
)
API_KEY_REQUIRED = ProblemCode(
    "api_key_required",
    401,
    "authentication_error",
    "No API key was sent, or the token is not one.",
    "Send Authorization: Bearer with a key that begins with svc_live_.",
    flat=True,
)
INVALID_API_KEY = ProblemCode(
    "invalid_api_key",
    401,
    "authentication_error",
    "The API key is unknown or revoked.",
    "Use an active key of your organization.",
    flat=True,
)
ORIGIN_NOT_ALLOWED = ProblemCode(
    "origin_not_allowed",
    403,
    "permission_error",
    "Browsers may not call the API from this origin.",
    "Call the API from a server.",
    flat=True,
)
API_KEY_OWNER_REQUIRED = ProblemCode(
    "api_key_owner_required",
    409,
    "conflict_error",
    "The user who made this API key has left the organization, or lacks what this needs.",
    "Use a key made by a present member; `action_url` leads to the keys.",
    flat=True,
)
NOT_FOUND = ProblemCode(
    "not_found",
    404,
    "not_found_error",
    "There is no such thing in your organization.",
    "Check the id; list the resource to see what exists.",
)
DUPLICATE_NAME = ProblemCode(
    "duplicate_name", 409, "conflict_error", "The name is already taken.", "Choose another name."
)
PHONE_NUMBER_ALREADY_BOUND = ProblemCode(
    "phone_number_already_bound",
    409,
    "conflict_error",
    "Another inbound deployment answers this number.",
    "Cancel that deployment first, or bind another number.",
)
PHONE_NUMBER_IN_USE = ProblemCode(
    "phone_number_in_use",
    409,
    "conflict_error",
    "A deployment that is not finished calls from this number or answers it.",
    "Cancel or finish that deployment first.",
)
NUMBER_UNAVAILABLE = ProblemCode(
    "number_unavailable",
    409,
    "conflict_error",
    "No such number is free to rent.",
    "Search the available numbers again and take one of those.",
)
AUDIENCE_IN_USE = ProblemCode(
    "audience_in_use",
    409,
    "conflict_error",
    "A deployment that is not finished uses this audience.",
    "Cancel or finish that deployment first.",
)
AGENT_IN_USE = ProblemCode(
    "agent_in_use",
    409,
    "conflict_error",
    "A deployment that is not finished uses this agent.",
    "Cancel or finish that deployment first.",
)
INVALID_STATE_TRANSITION = ProblemCode(
    "invalid_state_transition",
    409,
    "conflict_error",
    "The resource is in a state that does not allow this.",
    "Look at `current_status` and `allowed`.",
)
SECRETS_STILL_SIGN = ProblemCode(
    "secrets_still_sign",
    409,
    "conflict_error",
    "Three earlier signing secrets of the subscription still sign; nothing was changed.",
    "Rotate again from `possible_from` on. Sooner only with overlap_seconds 0: the present secret then ends at once.",
)
PLAN_REQUIRED = ProblemCode(
    "plan_required",
    409,
    "conflict_error",
    "Telephones would really ring, and nothing says what exactly was agreed to; nobody was called.",
    "Preview the deployment, have a person agree to its summary, then start or resume it with the preview's plan_id.",
)
PLAN_EXPIRED = ProblemCode(
    "plan_expired",
    409,
    "conflict_error",
    "The plan is older than 15 minutes; nobody was called.",
    "Preview the deployment again and use the new plan_id.",
)
PLAN_STALE = ProblemCode(
    "plan_stale",
    409,
    "conflict_error",
    "Something has changed since the preview; nobody was called.",
    "`changed` names what; preview the deployment again and have a person agree to the new plan.",
)
REVISION_MISMATCH = ProblemCode(
    "revision_mismatch",
    409,
    "conflict_error",
    "Something is not as the request expects it: it has changed since its revision was read. Nothing was done.",
    "`changed` names what, by id: read it again, and send the new revision if it is still right to do this.",
)
PRICE_CHANGED = ProblemCode(
    "price_changed",
    409,
    "conflict_error",
    "The number costs another amount a month than the request expects; nothing was rented.",
    "`monthly_cost` is the price now; have a person agree to it, then send it as `expected_monthly_cost`.",
)
IDEMPOTENCY_IN_PROGRESS = ProblemCode(
    "idempotency_in_progress",
    409,
    "conflict_error",
    "A request with this Idempotency-Key is still being served.",
    "Send it again after `Retry-After` seconds; it is then answered with the first answer.",
)
IDEMPOTENCY_KEY_REUSED = ProblemCode(
    "idempotency_key_reused",
    422,
    "business_rule_error",
    "This Idempotency-Key was used for a different request.",
    "Use a fresh key for a new request.",
)
INSUFFICIENT_CREDITS = ProblemCode(
    "insufficient_credits",
    422,
    "business_rule_error",
    "The wallet does not cover this. `callwright orgs fund NAME --amount N` on the machine of the service tops it up.",
    "Have the wallet topped up; `required` and `available` say how much is missing.",
)
SPENDING_CAP_REACHED = ProblemCode(
    "spending_cap_reached",
    422,
    "business_rule_error",
    "The personal key may not commit this much money.",
    "Commit less, or use a key with a higher cap; `limit`, `current` and `required` give the amounts.",
)
PLAN_LIMIT_REACHED = ProblemCode(
    "plan_limit_reached",
    422,
    "business_rule_error",
    "The organization's plan does not allow more of these.",
    "Finish some first, or move to a larger plan; `limit` and `current` give the numbers.",
)
AUDIENCE_FULL = ProblemCode(
    "audience_full",
    422,
    "business_rule_error",
    "The audience would have more than 5,000,000 rows.",
    "Put the further rows into another audience; `limit` and `current` give the numbers.",
)
BUDGET_REACHED = ProblemCode(
    "budget_reached",
    422,
    "business_rule_error",
    "The budget cap leaves less than one call holds back; nobody was called.",
    "Raise budget_cap, preview the deployment, then start or resume it; `required` and `available` give the amounts.",
)
AUDIENCE_NOT_READY = ProblemCode(
    "audience_not_ready",
    422,
    "business_rule_error",
    "The audience has no valid row yet, or lacks a column that the agent's words or the consent_column use.",
    "Add rows that have what the message names.",
)
AUDIENCE_IMPORTING = ProblemCode(
    "audience_importing",
    409,
    "conflict_error",
    "A file is being imported into the audience, and nobody knows yet how many people it adds; nobody was called.",
    "Wait until the imports that `imports` names have ended, preview the deployment, then start or resume it.",
)
NUMBER_NOT_CAPABLE = ProblemCode(
    "number_not_capable",
    422,
    "business_rule_error",
    "The number is not active, or cannot be called.",
    "Bind an active number whose capabilities include voice_inbound.",
)
RATE_LIMITED = ProblemCode(
    "rate_limited",
    429,
    "rate_limit_error",
    "Too many requests at once.",
    "Wait for `Retry-After` seconds, then go on more slowly.",
)
DAILY_QUOTA_EXCEEDED = ProblemCode(
    "daily_quota_exceeded",
    429,
    "rate_limit_error",
    "The key has made as many requests today as the plan allows.",
    "Go on after midnight UTC, or move to a larger plan.",
)
INTERNAL_ERROR = ProblemCode(
    "internal_error",
    500,
    "api_error",
    "The service failed; nothing was changed.",
    "Try again later; quote request_id when it happens again.",
)
SERVICE_UNAVAILABLE = ProblemCode(
    "service_unavailable",
    503,
    "api_error",
    "A part of the service that this needs is not there right now.",
    "The message says what is missing; try again later.",
)
STORAGE_FULL = ProblemCode(
    "storage_full",
    503,
    "api_error",
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
