"""The typed async client of the REST service. It stands on `callwright.contract`, httpx2 and anyio alone."""

from .client import Client, Surface, client_methods
from .compat.lenient_response import LenientResponse
from .download import ContentRange, Download, DownloadRequest
from .errors import (
    AddressUnreadable,
    AnswerTooLarge,
    AuthenticationFailed,
    CallwrightError,
    Conflict,
    DoesNotFit,
    InvalidArguments,
    InvalidRequest,
    InvalidSignature,
    KeyOwnerRequired,
    NotFound,
    NotOffered,
    PermissionRefused,
    QuotaExceeded,
    RangeNotSatisfiable,
    RateLimited,
    RuleRejected,
    ServiceFailed,
    ServiceProblem,
    ServiceTimeout,
    ServiceUnreachable,
    UnexpectedAnswer,
)
from .listing import Listing
from .receiving import typed_data, verify
from .retry import Retries

__all__ = [
    "AddressUnreadable",
    "AnswerTooLarge",
    "AuthenticationFailed",
    "CallwrightError",
    "Client",
    "Conflict",
    "ContentRange",
    "DoesNotFit",
    "Download",
    "DownloadRequest",
    "InvalidArguments",
    "InvalidRequest",
    "InvalidSignature",
    "KeyOwnerRequired",
    "LenientResponse",
    "Listing",
    "NotFound",
    "NotOffered",
    "PermissionRefused",
    "QuotaExceeded",
    "RangeNotSatisfiable",
    "RateLimited",
    "Retries",
    "RuleRejected",
    "ServiceFailed",
    "ServiceProblem",
    "ServiceTimeout",
    "ServiceUnreachable",
    "Surface",
    "UnexpectedAnswer",
    "client_methods",
    "typed_data",
    "verify",
]
