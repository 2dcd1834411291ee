"""The few marks that texts of the description use (paragraphs, lists, code, bold, links), as HTML."""

import re
from html import escape

_CODE = re.compile(r"`([^`]+)`")
_BOLD = re.compile(r"\*\*([^*]+)\*\*")
_LINK = re.compile(r"\[([^\]]+)\]\((#[\w.-]+)\)")


def inline(text: str) -> str:
    """A sentence or two. Only links within the page are links."""
    found = _BOLD.sub(r"<b>\1</b>", _LINK.sub(r'<a href="\2">\1</a>', escape(text, quote=False).replace("\\|", "|")))
    return _CODE.sub(r"<code>\1</code>", found)


def blocks(text: str) -> str:
    """Paragraphs and lists. A line that begins with blanks goes on with the entry before it."""
    parts: list[str] = []
    for block in text.strip().split("\n\n"):
        before, *entries = re.split(r"^- ", block, flags=re.MULTILINE)
        if before.strip():
            parts.append(f"<p>{inline(' '.join(before.split()))}</p>")
        if entries:
            items = "".join(f"<li>{inline(' '.join(entry.split()))}</li>" for entry in entries)
            parts.append(f"<ul>{items}</ul>")
    return "\n".join(parts)
