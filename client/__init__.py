"""The typed async client of the REST service. It depends only on `callwright.contract`, httpx2 and anyio."""

from callwright.client.client import Client, Surface, client_methods
from callwright.client.compat.lenient_response import LenientResponse
from callwright.client.download import ContentRange, Download, DownloadRequest
from callwright.client.errors import (
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
from callwright.client.listing import Listing
from callwright.client.receiving import typed_data, verify
from callwright.client.retry import Retries

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
