"""Formats log records as lines of limited length, whatever a request has put into them."""

import logging

LONGEST = 1_000
"""The most characters of a message. Longer ones are cut, since any client may send a long path or header."""
LONGEST_TRACEBACK = 8_000
"""The most characters of a traceback. The end is kept, which says most."""


class ShortLines(logging.Formatter):
    """Writes a record's message on one line of limited length. Control characters are escaped."""

    def __init__(self) -> None:
        super().__init__("%(levelname)s %(name)s: %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # the name that logging calls
        """The line of a record."""
        record.message = _escaped(_cut(record.message))
        return super().formatMessage(record)

    def formatException(self, ei: object) -> str:  # the name that logging calls
        """The end of a traceback."""
        text = super().formatException(ei)  # pyright: ignore[reportArgumentType]  # as logging gives it
        kept = text if len(text) <= LONGEST_TRACEBACK else "…" + text[-LONGEST_TRACEBACK:]
        return "\n".join(map(_escaped, kept.split("\n")))


def is_no_upgrade_advice(record: logging.LogRecord) -> bool:
    """A filter that drops uvicorn's advice on packages, which it logs for each request to upgrade the protocol."""
    return not str(record.msg).startswith(("Unsupported upgrade request", "No supported WebSocket library"))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text)} characters)"


def _escaped(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)
