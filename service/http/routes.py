"""Which operation a path means. The spellings `phone-numbers` and `phone_numbers` are the same."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from callwright.contract.operation import AnyOperation

PREFIX = "/v1"
"""The canonical prefix of every path."""
PREFIXES = (PREFIX, "/api/v1")
_ALIASES = {"phone-numbers": "phone_numbers"}


@dataclass(frozen=True)
class Found:
    """What a path leads to: an operation with its path values, or the methods the path would allow."""

    operation: AnyOperation | None
    path: Mapping[str, str] = field(default_factory=dict[str, str])
    canonical: str = ""
    allowed: tuple[str, ...] = ()


class RouteTable:
    """Every operation by method and path. A literal segment wins over a value."""

    def __init__(self, operations: Iterable[AnyOperation]) -> None:
        self._by_length: dict[int, list[tuple[tuple[str, ...], AnyOperation]]] = {}
        for operation in operations:
            segments = tuple(operation.path.strip("/").split("/"))
            self._by_length.setdefault(len(segments), []).append((segments, operation))
        for entries in self._by_length.values():
            entries.sort(key=lambda entry: sum(segment.startswith("{") for segment in entry[0]))

    def find(self, method: str, path: str) -> Found:
        """The operation that answers. HEAD is answered like GET."""
        parts = path.strip("/").split("/")
        parts[0] = _ALIASES.get(parts[0], parts[0])
        wanted = "GET" if method == "HEAD" else method
        allowed: list[str] = []
        literal: tuple[str, ...] | None = None
        for segments, operation in self._by_length.get(len(parts), ()):
            if not all(a == b or (a.startswith("{") and b) for a, b in zip(segments, parts, strict=True)):
                continue
            if literal is not None and segments != literal:
                continue  # a more literal path took this one, only with other methods
            if operation.method == wanted:
                values = {a[1:-1]: b for a, b in zip(segments, parts, strict=True) if a.startswith("{")}
                return Found(operation, values, "/" + "/".join(parts))
            literal = literal or (segments if not any(s.startswith("{") for s in segments) else None)
            allowed.append(operation.method)
        return Found(None, allowed=tuple(dict.fromkeys(allowed)))
