"""What became of a request to an address of a customer: one vocabulary for events, questions and their logs."""

from typing import Literal

AttemptOutcome = Literal[
    "succeeded",
    "rejected",
    "redirected",
    "server_error",
    "timeout",
    "dns_failed",
    "forbidden_address",
    "connection_failed",
    "tls_failed",
    "bad_answer",
    "interrupted",
]
