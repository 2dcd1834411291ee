"""Values that exist in the service, found in its answers, so that made-up requests meet real things too."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, cast

from callwright.contract.surface import OPERATIONS
from callwright.service.rest.routes import PREFIX
from tests.journeys.scenario import CSV

MOST = 60
"""Values of one kind that are kept: the first half stays, of the others the newest."""
_ID = re.compile(r"([a-z]{3})_[0-9A-Za-z]{20,}")
_NUMBER = re.compile(r"\+[1-9][0-9]{6,14}")
_USUAL = {
    "key": [f"key-{number}" for number in range(200)],
    "language": ["en-US", "en-GB"],
    "country": ["US", "GB"],
    "zone": ["America/New_York", "Europe/Berlin"],
    "moment": ["2020-01-01T00:00:00Z", "2026-11-21T09:30:00+02:00", "2090-01-01T09:00:00Z"],
    "words": ["Tuesday", '"come on" -no', "appointment"],
    "csv": [CSV],
    "opening": ["00:00", "08:00"],
    "closing": ["17:30", "24:00"],
    "url": ["https://events.invalid/callwright"],
    "range": ["bytes=0-99", "bytes=-5", "bytes=0-0,5-9", "bytes=999999999-"],
}
"""Values that are right whatever there is."""
_KIND_OF = {
    "agent_id": "agt",
    "audience_id": "aud",
    "call_uuid": "cal",
    "contact_id": "ctc",
    "delivery_id": "dlv",
    "deployment_id": "dep",
    "event_id": "evt",
    "import_id": "imp",
    "reference_id": "cal",
    "phone_number_id": "num",
    "phone_number_ids": "num",
    "plan_id": "pln",
    "subject_id": "cal",
    "voice_id": "voice",
    "webhook_id": "whk",
    "forward_to": "number",
    "number": "number",
    "phone_number": "number",
    "to": "number",
    "idempotency_key": "key",
    "Idempotency-Key": "key",
    "If-None-Match": "etag",
    "If-Range": "etag",
    "Range": "range",
    "country": "country",
    "default_country": "country",
    "created_before": "moment",
    "created_from": "moment",
    "csv": "csv",
    "end": "closing",
    "end_at": "moment",
    "language": "language",
    "query": "words",
    "start": "opening",
    "start_at": "moment",
    "timezone": "zone",
    "url": "url",
}
_OF_NOUN = {
    "agents": "agt",
    "audiences": "aud",
    "deployments": "dep",
    "events": "evt",
    "phone_numbers": "num",
    "voices": "voice",
    "webhooks": "whk",
}
_IDS = {"agt", "aud", "cal", "ctc", "dep", "dlv", "evt", "imp", "num", "voice", "whk"}
_SORTS = {
    PREFIX + operation.path: [*operation.sorts, *(f"-{name}" for name in operation.sorts), ",".join(operation.sorts)]
    for operation in OPERATIONS.values()
    if operation.sorts
}
_PLACES = frozenset({"page", "per_page", "cursor"})


class KnownValues:
    """Values by kind: ids by their prefix, voices, numbers, cursors by path, ETags, idempotency keys."""

    def __init__(self) -> None:
        self._kinds: dict[str, list[str]] = {}
        self._pairs: dict[str, list[tuple[str, str]]] = {"delivery_id": [], "import_id": [], "plan_id": []}

    def learn(
        self, path: str, answer: object, headers: Mapping[str, Iterable[str]], asked: Collection[str] = ()
    ) -> None:
        """Keeps what an answer names. `path` is the operation's, with its places; `asked` the parameters it was given.

        Cursors are kept of lists that were not filtered or sorted: they fit no other.
        """
        for tag in headers.get("etag", ()):
            self._add("etag", tag)
        if not isinstance(answer, dict):
            return
        found = cast("dict[str, Any]", answer)
        self._learn(path, found)
        cursor = found.get("pagination", {}).get("next_cursor")
        if cursor is not None and _PLACES.issuperset(asked):
            self._add(f"cursor {path}", cursor)

    def forget(self, value: str) -> None:
        """Drops an id that is no more."""
        for kept in self._kinds.values():
            if value in kept:
                kept.remove(value)

    def fitting(self, path: str, name: str, *, ids_only: bool = False) -> list[str]:
        """Values that a field of an operation may well have."""
        plain = name.removeprefix("filter[").removesuffix("]")
        kind = _OF_NOUN.get(path.split("/")[2], "") if plain == "id" else _KIND_OF.get(plain, "")
        if ids_only:
            return self._kinds.get(kind, []) if kind in _IDS else []
        if plain == "sort":
            return _SORTS.get(path, [])
        if plain == "cursor":
            return self._kinds.get(f"cursor {path}", [])
        return _USUAL.get(kind) or self._kinds.get(kind, [])

    def pairs(self, name: str) -> list[tuple[str, str]]:
        """Imports with their audiences, plans with their deployments, deliveries with their subscriptions."""
        return self._pairs[name]

    def _learn(self, path: str, found: dict[str, Any]) -> None:
        if "audience_id" in found and str(found.get("id")).startswith("imp_"):
            self._pairs["import_id"].append((found["audience_id"], found["id"]))
        if "webhook_id" in found and str(found.get("id")).startswith("dlv_"):
            self._pairs["delivery_id"] = [*self._pairs["delivery_id"][-5:], (found["webhook_id"], found["id"])]
        if "deployment_id" in found and "plan_id" in found:
            self._pairs["plan_id"] = [*self._pairs["plan_id"][-5:], (found["deployment_id"], found["plan_id"])]
        for name, value in found.items():
            if name == "id" and path == f"{PREFIX}/voices":
                self._add("voice", value)
            for part in cast("list[object]", value) if isinstance(value, list) else [value]:
                if isinstance(part, dict):
                    self._learn(path, cast("dict[str, Any]", part))
                elif isinstance(part, str):
                    self._learn_text(part)

    def _learn_text(self, text: str) -> None:
        found = _ID.fullmatch(text)
        if found is not None:
            self._add(found[1], text)
        elif _NUMBER.fullmatch(text):
            self._add("number", text)

    def _add(self, kind: str, value: str) -> None:
        kept = self._kinds.setdefault(kind, [])
        if value not in kept:
            del kept[MOST // 2 : len(kept) - MOST // 2 + 1]
            kept.append(value)
