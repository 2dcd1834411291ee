"""The typed async client of the REST service. It stands on `callwright.contract`, httpx2 and anyio alone."""

from .client import Client, Surface, client_methods
from .download import ContentRange, Download, DownloadRequest
from .errors import (
    AnswerTooLarge,
    AuthenticationFailed,
    CallwrightError,
    Conflict,
    InvalidArguments,
    InvalidRequest,
    NotFound,
    PermissionRefused,
    RateLimited,
    RuleRejected,
    ServiceFailed,
    ServiceProblem,
    ServiceTimeout,
    ServiceUnreachable,
    UnexpectedAnswer,
)
from .listing import Listing
from .retry import Retries

__all__ = [
    "AnswerTooLarge",
    "AuthenticationFailed",
    "CallwrightError",
    "Client",
    "Conflict",
    "ContentRange",
    "Download",
    "DownloadRequest",
    "InvalidArguments",
    "InvalidRequest",
    "Listing",
    "NotFound",
    "PermissionRefused",
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
]
