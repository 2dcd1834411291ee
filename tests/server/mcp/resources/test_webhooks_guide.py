"""The verifier in the guide about events, run as it stands there."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from callwright.server.mcp.topics import TOPICS
from callwright.service.webhooks.signing import signature

SECRET, OLD, AT_S = "whsec_new", "whsec_old", 1_764_000_000
BODY = b'{"id":"evt_1","type":"call.completed"}'


@pytest.fixture(scope="module")
def is_genuine() -> Callable[..., bool]:
    (guide,) = (topic for topic in TOPICS if topic.name == "webhooks")
    (code,) = re.findall(r"```python\n(.+?)```", guide.file.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)  # the guide's own text
    return names["is_genuine"]


@pytest.mark.parametrize("secrets", [[SECRET], [SECRET, OLD], [OLD, SECRET]])
def test_it_takes_what_the_service_signs(is_genuine: Callable[..., bool], secrets: list[str]) -> None:
    assert is_genuine(BODY, signature(BODY, AT_S, secrets), SECRET, now=AT_S + 300)


@pytest.mark.parametrize(
    ("body", "header", "now"),
    [
        (BODY + b" ", signature(BODY, AT_S, [SECRET]), AT_S),
        (BODY, signature(BODY, AT_S, [OLD]), AT_S),
        (BODY, signature(BODY, AT_S, [SECRET]), AT_S + 301),
        (BODY, signature(BODY, AT_S, [SECRET]).replace(f"t={AT_S}", f"t={AT_S + 1}"), AT_S),
        (BODY, "", AT_S),
    ],
    ids=["another body", "another secret", "too old", "another time", "no signature"],
)
def test_it_refuses_what_the_service_did_not_sign(
    is_genuine: Callable[..., bool], body: bytes, header: str, now: int
) -> None:
    assert not is_genuine(body, header, SECRET, now=now)
