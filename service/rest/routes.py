"""Finds the operation of a path. The spellings `phone-numbers` and `phone_numbers` are the same."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from callwright.contract.declaration.operation import AnyOperation

PREFIX = "/v1"
"""The canonical prefix of every path."""
PREFIXES = (PREFIX, "/api/v1")
_ALIASES = {"phone-numbers": "phone_numbers"}


@dataclass(frozen=True)
class RouteMatch:
    """The result of routing: an operation with its path values, or the methods that the path allows."""

    operation: AnyOperation | None
    path: Mapping[str, str] = field(default_factory=dict[str, str])
    canonical: str = ""
    allowed: tuple[str, ...] = ()


class RouteTable:
    """Every operation by method and path. A literal segment has precedence over a parameter."""

    def __init__(self, operations: Iterable[AnyOperation]) -> None:
        self._routes: dict[tuple[int, str], list[_Route]] = {}
        for operation in operations:
            route = _route(operation)
            self._routes.setdefault((len(route.segments), route.segments[0]), []).append(route)
        for found in self._routes.values():
            found.sort(key=lambda route: len(route.values))

    def find(self, method: str, path: str) -> RouteMatch:
        """The operation that answers. HEAD is answered like GET."""
        parts = path.strip("/").split("/")
        parts[0] = _ALIASES.get(parts[0], parts[0])
        wanted = "GET" if method == "HEAD" else method
        allowed: list[str] = []
        literal: tuple[str, ...] | None = None
        for route in self._routes.get((len(parts), parts[0]), ()) if "" not in parts else ():
            if any(parts[place] != segment for place, segment in route.literals):
                continue
            if literal is not None and route.segments != literal:
                continue  # a more literal route has this path, but not this method
            if route.operation.method == wanted:
                values = {name: parts[place] for place, name in route.values}
                return RouteMatch(route.operation, values, "/" + "/".join(parts))
            literal = literal or (None if route.values else route.segments)
            allowed.append(route.operation.method)
        return RouteMatch(None, allowed=tuple(dict.fromkeys(allowed)))


@dataclass(frozen=True)
class _Route:
    """An operation with the positions of its literal segments, except the first, and of its parameters."""

    operation: AnyOperation
    segments: tuple[str, ...]
    literals: tuple[tuple[int, str], ...]
    values: tuple[tuple[int, str], ...]


def _route(operation: AnyOperation) -> _Route:
    segments = tuple(operation.path.strip("/").split("/"))
    places = list(enumerate(segments))
    literals = tuple((place, text) for place, text in places[1:] if not text.startswith("{"))
    values = tuple((place, text[1:-1]) for place, text in places if text.startswith("{"))
    return _Route(operation, segments, literals, values)
