"""What differs between two runs of the same program is taken out of what they say: ids, secrets, moments of the run."""

import re
from typing import Any, cast

_ID = re.compile(r"\bpln_[0-9A-Za-z_-]{40,}|\brev_[0-9A-Za-z_-]{20}|\b[a-z]{3}_[0-9A-Za-z]{24}\b")
"""Sealed plans; revisions, which are made of the moments of what they are about; ids."""
_SEALED = ("pln", "rev")
"""What is made of its moment: within a millisecond the same text is given twice. Each time counts as a new one."""
_CURSOR = re.compile(r'(?<="next_cursor": ")[^"]+')
_DIFFERS = (
    (re.compile(r"\b(?:svc|whsec)_[0-9A-Za-z_+/=-]{4,}"), "<secret>"),
    (re.compile(r"\bt=\d{10},v1=[0-9a-f]{64}(?:,v1=[0-9a-f]{64})*"), "<signature>"),
    (re.compile(r'(?<="last_failure_at": )(?:"[^"]+"|null)'), "<once it has failed>"),  # an endpoint that is not there
    (re.compile(r'(?<="duration_ms": )\d{1,2}(?=[,\s}])'), "<some ms>"),  # of an attempt to deliver
    (re.compile(r"http://127\.0\.0\.1:\d+"), "<address>"),
)
_MOMENT = re.compile(r"\b20[23]\d-\d\d-\d\d(?:T(?:09:\d|10:0)\d:\d\d(?:\.\d+)?(?:Z|\+00:00)| 09:\d\dZ)")
"""The clocks of both services begin at nine. What happens in minutes, or an hour after, is of the run."""
_BEGIN_MS = 1_803_891_600_000
_HOUR_MS = 3_600_000
_OF_RUN_MS = _HOUR_MS + 600_000
_DAY_MS = 24 * _HOUR_MS
_MILLISECONDS = re.compile(r"\b1[78]\d{11}\b")


def is_of_run(value_ms: int) -> bool:
    """Whether a number is a moment of the run, or whole days before or behind it, in milliseconds since the epoch."""
    return 10**12 < value_ms < 10**13 and (value_ms - _BEGIN_MS) % _DAY_MS < _OF_RUN_MS


def without_differences(text: str) -> str:
    """The text without secrets, addresses, signatures and moments of the run."""
    for pattern, word in _DIFFERS:
        text = pattern.sub(word, text)
    text = _MILLISECONDS.sub(lambda found: "<now>" if is_of_run(int(found[0])) else found[0], text)
    return _MOMENT.sub("<now>", text)


class Names:
    """Numbers the ids and cursors of one side in the order in which they are met: `agt#1`, `agt#2`, `cursor#1`."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._values: dict[str, str] = {}
        self._cursors: list[str] = []
        self._counts: dict[str, int] = {}

    def name(self, text: str) -> str:
        """The text without what differs between two runs. Ids that were not met before are numbered."""
        for cursor in _CURSOR.findall(text):
            if cursor not in self._names:
                self._cursors.append(cursor)
                self._number(cursor, "cursor")
        return _ID.sub(lambda found: self._number(found[0], found[0][:3]), without_differences(self._without(text)))

    def shown(self, text: str) -> str:
        """The text with the ids that are known. Others are not numbered."""
        return _ID.sub(lambda found: self._names.get(found[0], found[0][:4]), without_differences(self._without(text)))

    def in_order(self, value: Any) -> Any:
        """Lists of things in an order that does not hang on ids, of which the time alone is certain."""
        if isinstance(value, dict):
            return {name: self.in_order(part) for name, part in cast("dict[str, Any]", value).items()}
        if isinstance(value, list):
            parts = [self.in_order(part) for part in cast("list[Any]", value)]
            return sorted(parts, key=self._place) if all(isinstance(part, dict) for part in parts) else parts
        return value

    def _place(self, part: Any) -> str:
        return self.shown(str(part))

    def _without(self, text: str) -> str:
        for cursor in self._cursors:
            text = text.replace(cursor, self._names[cursor])
        return text

    def _number(self, value: str, kind: str) -> str:
        known = self._names.get(value)
        if known is None or kind in _SEALED:
            number = self._counts[kind] = self._counts.get(kind, 0) + 1
            known = self._names[value] = f"{kind}#{number}"
            self._values[known] = value
        return known

    def translate(self, text: str, other: "Names") -> str:
        """The text with the ids and cursors of the other side that have the same names. What it never met stays."""

        def translated(value: str) -> str:
            return other._values.get(self._names.get(value, ""), value)

        for cursor in self._cursors:
            text = text.replace(cursor, translated(cursor))
        return _ID.sub(lambda found: translated(found[0]), text)


def kinds(text: str) -> str:
    """The text with each id as its kind alone."""
    return _ID.sub(lambda found: found[0][:4], text)


def ids_in(text: str) -> list[str]:
    """The ids in a text."""
    return [found[0] for found in _ID.finditer(text)]
