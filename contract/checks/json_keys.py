"""Keys that stand twice in one object of some JSON: two readers would disagree about what was said.

Readers keep the last one and say nothing. Reading again with a look at every object takes as long as ten readings by
orjson, so the keys that were read are counted first, and those that stand in the text.
"""

import json
import re
from typing import Any, NamedTuple, cast

_STRING = rb'"(?:[^"\\]++|\\.)*+"'
_KEYS = re.compile(rb'(?s:(?:[^"]*+' + _STRING + rb'(?!\s*+:))*+[^"]*+(?:' + _STRING + rb"\s*+:|\Z))")
"""Each key with what comes before it, and at last what is behind the last one. Nothing is looked at twice."""
_ENDS = 2
"""Matches behind the last key: what is there, and nothing."""
_NESTED = frozenset[type]({list, dict})
_LONGEST = 40
"""Characters of a key that are shown."""


class _Twice(Exception):
    pass


class Keys(NamedTuple):
    """How many keys the objects in a value have: in all, and the one that has the most."""

    in_all: int
    in_one: int


def keys_in(value: object, *, deepest: int, containers: int | None = None) -> Keys | None:
    """How many keys the objects in a value have; None where they lie more than so many levels below it.

    Args:
        value: what was read.
        deepest: levels of lists and objects below it.
        containers: how many lists and objects it has at most, where that is known. With all of them found, their
            entries are not looked at.
    """
    level: list[object] = [value] if type(value) in _NESTED else []
    keys = most = found = 0
    for _ in range(deepest + 1):
        sizes = [len(cast("dict[str, object]", one)) for one in level if isinstance(one, dict)]
        keys += sum(sizes)
        most = max(most, *sizes, 0)
        found += len(level)
        if found == containers:
            return Keys(keys, most)
        inner: list[object] = []
        for one in level:
            entries = cast("list[object]", one.values() if isinstance(one, dict) else one)
            if not _NESTED.isdisjoint(map(type, entries)):  # looked at in C: most have none
                inner += [entry for entry in entries if type(entry) in _NESTED]
        if not inner:
            return Keys(keys, most)
        level = inner
    return None


def key_twice(body: bytes, keys: Keys | None) -> str | None:
    """The beginning of a key that stands twice in one object of sound JSON; None where each stands once.

    Args:
        body: the text.
        keys: how many were read (`keys_in`), where that is known.

    Raises:
        RecursionError: it is nested too deep.
        ValueError: it is no JSON.
    """
    if keys is not None and (body.count(b":") == keys.in_all or len(_KEYS.findall(body)) - _ENDS == keys.in_all):
        return None
    try:
        json.loads(body, object_pairs_hook=_each_once)
    except _Twice as twice:
        return str(twice)
    return None


def _each_once(pairs: list[tuple[str, Any]]) -> None:
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        seen: set[str] = set()
        raise _Twice(next(name for name in names if name in seen or seen.add(name))[:_LONGEST])
