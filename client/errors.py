"""The client's exceptions, as one tree. Catch the narrowest class that you can handle.

    CallwrightError
    ├── InvalidArguments          the arguments do not fit; nothing was sent
    ├── ServiceProblem            the service answered with a problem: code, status, message, field, request_id
    │   ├── InvalidRequest        400 and every other 4xx that is not named below
    │   │   └── RangeNotSatisfiable   416: there are only `total_bytes` bytes
    │   ├── AuthenticationFailed  401: no key, or not a valid one
    │   ├── PermissionRefused     403
    │   ├── NotFound              404: no such resource in the key's organization
    │   ├── NotOffered            404, 405, 501 for the route itself: the service has no such operation
    │   ├── Conflict              409: a name is taken, a state does not allow it
    │   │   └── KeyOwnerRequired      the key's creator has left; `action_url` leads to the keys
    │   ├── RuleRejected          422: a business rule (credits, plan, compliance)
    │   ├── RateLimited           429: wait `retry_after_s`
    │   │   └── QuotaExceeded         the quota of the day is used up; it resets at `resets_at`
    │   └── ServiceFailed         5xx
    ├── ServiceUnreachable        no connection, or it broke
    ├── ServiceTimeout            no answer in time
    ├── InvalidSignature          a received event is not from the service, or is too old: answer 401
    ├── AddressUnreadable         an address inside an answer was not opened, or gave nothing that can be used
    └── UnexpectedAnswer          an answer that the contract does not describe
        ├── DoesNotFit            JSON of another shape, which is in `data`
        └── AnswerTooLarge        more bytes than the caller or the client allows

Errors are raised after the retries that `retry.py` allows. No message holds the API key, or more of a URL than its
origin, except an `action_url` of the service. `envelopes.py` reads problems from answers.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from re import fullmatch
from typing import Any, Literal

from pydantic import JsonValue, ValidationError

from callwright.contract.problems import PROBLEMS

UNSERVED_STATUSES = frozenset({408, 429})
"""The service refused the request before it did anything."""
RETRYABLE_STATUSES = UNSERVED_STATUSES | {500, 502, 503, 504}
IN_PROGRESS = "idempotency_in_progress"
"""The code of a temporary 409: another request with the same Idempotency-Key is still being served."""


class CallwrightError(Exception):
    """Base class of the client's exceptions. `retryable`: sending the same again is safe and may succeed."""

    retryable: bool = False


class InvalidArguments(CallwrightError, ValueError):
    """The arguments do not fit the operation or the client; nothing was sent. Messages do not repeat their values."""


class ServiceProblem(CallwrightError):
    """A problem the service answered with.

    `code` is the service's code for it (`contract.problems` lists them), or `http_<status>` when the answer had none.
    `details` keeps further fields of the envelope, for example `current_status` or `action_url`; `errors` lists every
    refused field where the service names several. `retry_after_s` is the wait that the service asks for, in seconds.
    `headers` are those of the answer, by name in lower case. `str()` includes the remedy, where the code is known.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: int,
        type: str,
        field: str | None = None,
        request_id: str | None = None,
        errors: Sequence[JsonValue] = (),
        details: Mapping[str, JsonValue] | None = None,
        retry_after_s: float | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.status = status
        self.type = type
        self.field = field
        self.request_id = request_id
        self.errors = tuple(errors)
        self.details = dict(details or {})
        self.retry_after_s = retry_after_s
        self.headers = dict(headers or {})
        self.retryable = status in RETRYABLE_STATUSES or code == IN_PROGRESS

    @property
    def remedy(self) -> str | None:
        """What to do about it, in a sentence; None where the code is not part of the contract."""
        known = PROBLEMS.get(self.code)
        return known.remedy if known else None

    @property
    def action_url(self) -> str | None:
        """A page where a person can fix the problem, where the service gives one."""
        url = self.details.get("action_url")
        return url if isinstance(url, str) else None

    def __str__(self) -> str:
        where = f" (field {self.field})" if self.field else ""
        others = "".join(f"; {said}" for said in map(_other, self.errors[1:_MOST_SHOWN]) if said)
        known = [f"{name} {said}" for name in _SHOWN if (said := _shown(self.details.get(name)))]
        found = [*known, *self._facts()]
        facts = f" ({'; '.join(found)})" if found else ""
        end = "." if self.remedy or self.message.endswith(".") else ""
        happened = f"{self.message.removesuffix('.')}{where}{others}{end}"
        remedy = f" {self.remedy}" if self.remedy else ""
        quote = f" [request {self.request_id}]" if self.request_id else ""
        return f"{self.status} {self.code}: {happened}{remedy}{facts}{quote}"

    def _facts(self) -> list[str]:
        return [] if self.retry_after_s is None else [f"wait {self.retry_after_s:g} s"]


_MOST_SHOWN = 6
_SHOWN = ("current_status", "allowed", "changed", "required", "available", "limit", "current", "action_url")
"""Details that are of use in a message."""


def _shown(value: JsonValue) -> str:
    if isinstance(value, dict):
        return " ".join(filter(None, (_shown(part) for part in value.values())))
    if isinstance(value, list):
        return ", ".join(filter(None, (_shown(part) for part in value)))
    return "" if value is None else str(value)


def _other(entry: JsonValue) -> str:
    if not isinstance(entry, dict):
        return ""
    field, message = entry.get("field"), entry.get("message")
    return f"{field}: {message}" if isinstance(field, str) and isinstance(message, str) else ""


class InvalidRequest(ServiceProblem):
    """The service does not accept the request as it is: 400, 405, 408, 413, 415, 416 and other 4xx."""


class RangeNotSatisfiable(InvalidRequest):
    """The range lies outside the bytes. `total_bytes` is their number, None where the service does not state it."""

    @property
    def total_bytes(self) -> int | None:
        """Bytes in all."""
        match = fullmatch(r"bytes \*/([0-9]{1,15})", self.headers.get("content-range", ""))
        return int(match[1]) if match else None


class AuthenticationFailed(ServiceProblem):
    """No API key was sent, or it is unknown or revoked."""


class PermissionRefused(ServiceProblem):
    """The key may not do this."""


class NotFound(ServiceProblem):
    """There is no such resource in the key's organization."""


class NotOffered(ServiceProblem):
    """The service has no such operation, and nothing was done.

    `tried` are the requested methods and paths, below the base URL. `nothing_found` says that no operation has worked
    at this base URL yet, so the URL itself may be wrong.
    """

    def __init__(
        self, operation: str, *, status: int, base_url: str, tried: Sequence[str], nothing_found: bool = False
    ) -> None:
        super().__init__(
            f"the service does not offer {operation}", code="not_offered", status=status, type="not_found_error"
        )
        self.operation = operation
        self.base_url = base_url
        self.tried = tuple(tried)
        self.nothing_found = nothing_found
        self.retryable = False


class Conflict(ServiceProblem):
    """The request conflicts with the present state: a name is taken, a status forbids it, a resource is in use."""


class KeyOwnerRequired(Conflict):
    """The user who made the key has left the organization, or lacks what this needs; other operations still work.

    Use a key made by a present member. `action_url` is where a person makes one.
    """


class RuleRejected(ServiceProblem):
    """A business rule forbids it: credits, plan, compliance, an audience that is not ready."""


class RateLimited(ServiceProblem):
    """Too many requests, and retries did not help or would take too long. `retry_after_s` is the wait in seconds."""

    @property
    def limit(self) -> int | None:
        """How many requests the limit allows, where the service says so."""
        return self._number("x-ratelimit-limit")

    @property
    def resets_at(self) -> datetime | None:
        """When the limit resets, where the service says so."""
        reset_s = self._number("x-ratelimit-reset")
        return None if reset_s is None else datetime.fromtimestamp(reset_s, UTC)

    def _number(self, name: str) -> int | None:
        value = self.headers.get(name, "").strip()
        return int(value) if fullmatch("[0-9]{1,10}", value) else None


class QuotaExceeded(RateLimited):
    """The key has made as many requests today as its plan allows. The client does not retry before `resets_at`."""

    def __init__(self, message: str, **fields: Any) -> None:
        super().__init__(message, **fields)
        self.retryable = False

    def _facts(self) -> list[str]:
        return super()._facts() if self.resets_at is None else [f"goes on at {self.resets_at:%Y-%m-%dT%H:%M:%SZ}"]


class ServiceFailed(ServiceProblem):
    """The service failed or is not available."""


class _NoAnswer(CallwrightError):
    def __init__(self, message: str, *, request_sent: bool, repeatable: bool) -> None:
        super().__init__(message)
        self.request_sent = request_sent
        self.retryable = repeatable or not request_sent


class ServiceUnreachable(_NoAnswer):
    """There was no connection, or it broke. If `request_sent` is true, the service may have done what was asked."""


class ServiceTimeout(_NoAnswer):
    """The service did not answer in time. If `request_sent` is true, it may have done what was asked."""


class InvalidSignature(CallwrightError):
    """A received event was not signed with the secret, or not recently. Answer it with 401.

    `reason`: the header is `missing` or `malformed`, no signature matches (`no_match`), or its time is too far from now
    (`too_old`, `too_new`). The message says what to do, and holds neither a secret nor anything of the request.
    """

    def __init__(self, reason: Literal["missing", "malformed", "no_match", "too_old", "too_new"], message: str) -> None:
        super().__init__(message)
        self.reason = reason


class AddressUnreadable(CallwrightError):
    """An address in an answer cannot be read: the rules do not allow it, or its content is not usable.

    The message names only the host of the address. The API key was sent to no host but the service.
    """


class UnexpectedAnswer(CallwrightError):
    """The answer is not what the contract describes, for example a page of a proxy, or a list without an end."""

    def __init__(self, message: str, *, status: int | None = None, request_id: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.request_id = request_id


class DoesNotFit(UnexpectedAnswer):
    """The answer is JSON that does not fit the operation's model. `data` holds it, as `ask_lenient` returns it."""

    def __init__(
        self, message: str, *, operation: str, data: Mapping[str, Any], status: int | None, request_id: str | None
    ) -> None:
        super().__init__(message, status=status, request_id=request_id)
        self.operation = operation
        self.data = dict(data)


class AnswerTooLarge(UnexpectedAnswer):
    """The answer has more than `limit_bytes` bytes; the rest was not read."""

    def __init__(self, *, limit_bytes: int, status: int | None = None, request_id: str | None = None) -> None:
        super().__init__(f"the answer is larger than {limit_bytes} bytes", status=status, request_id=request_id)
        self.limit_bytes = limit_bytes


def reasons(error: ValidationError) -> str:
    """Which fields do not fit and why, in one line, without the values, which may be phone numbers or spoken words."""
    found = error.errors(include_input=False, include_url=False, include_context=False)
    return "; ".join(f"{'.'.join(str(part) for part in one['loc']) or 'value'}: {one['msg']}" for one in found[:10])
