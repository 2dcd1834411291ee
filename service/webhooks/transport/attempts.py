"""What the status of an answer means, and its beginning as text."""

from callwright.contract.attempts import AttemptOutcome

MOST_EXCERPT_BYTES = 4_096
_ESCAPED = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n\r"}


def of_status(status: int, location: str | None) -> tuple[AttemptOutcome, str]:
    """The outcome of a status, and its description."""
    if 200 <= status <= 299:
        return "succeeded", ""
    if 300 <= status <= 399:
        where = f" to {shown(location.encode('utf-8', 'surrogateescape'))[:200]}" if location else ""
        return "redirected", f"The endpoint answered {status} and redirects{where}. Redirects are not followed."
    if 400 <= status <= 499:
        return "rejected", f"The endpoint answered {status}: it does not want the event."
    if 500 <= status <= 599:
        return "server_error", f"The endpoint answered {status}: it has failed."
    return "bad_answer", f"The endpoint answered with the status {status}, which does not end a request."


def shown(body: bytes) -> str:
    """Bytes as text of at most 4 KB; what is not UTF-8 or not printable is escaped."""
    if not body:
        return ""
    text = body[:MOST_EXCERPT_BYTES].decode("utf-8", "backslashreplace").translate(_ESCAPED)
    return text.encode("utf-8")[:MOST_EXCERPT_BYTES].decode("utf-8", "ignore")
