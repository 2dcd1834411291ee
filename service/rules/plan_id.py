"""Plan ids: what a preview showed, sealed so that nobody can forge or change it or use it for another deployment.

A plan is not stored until a start uses it. Its id has the time until which it is valid and a fingerprint of each
part of the preview, so that a start can tell which part has changed. The seal is an HMAC (SHA-256) with a secret of the
installation over the organization, the deployment and the plan.
"""

import base64
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import orjson

from callwright.service.platform.clock.clock import MINUTE
from callwright.service.platform.refusals import invalid

Part = Literal[
    "audience", "do_not_call", "agent", "numbers", "window", "retries", "cap", "settings", "prices", "progress"
]
PARTS: tuple[Part, ...] = get_args(Part)
VALID_MS = 15 * MINUTE
"""How long after the preview a plan can be used."""
_PREFIX = "pln_"
_MOMENT_BYTES, _PART_BYTES, _SEAL_BYTES = 5, 6, 16
_LENGTH = _MOMENT_BYTES + _PART_BYTES * len(PARTS) + _SEAL_BYTES


@dataclass(frozen=True)
class StartPlan:
    """What a plan id holds. `valid_until_s` is in seconds since the epoch."""

    valid_until_s: int
    parts: Mapping[Part, bytes]

    def changed(self, now: Mapping[Part, bytes]) -> list[Part]:
        """The parts that have changed."""
        return [part for part in PARTS if part in now and now[part] != self.parts[part]]


def part_fingerprint(part: Part, facts: Any) -> bytes:
    """The fingerprint of a part: different facts (any JSON value) have different fingerprints."""
    return hashlib.blake2b(orjson.dumps([part, facts], option=orjson.OPT_SORT_KEYS), digest_size=_PART_BYTES).digest()


def contents(plan_id: str) -> StartPlan | None:
    """The contents of a plan id without a check of its seal, for ids that were checked before they were stored."""
    raw = _raw(plan_id)
    return None if raw is None else _read(raw)


class StartPlanSeal:
    """Seals and opens plans with the installation's own secret."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def _tag(self, payload: bytes, org_id: str, deployment_id: str) -> bytes:
        bound = b"\0".join((b"plan", org_id.encode(), deployment_id.encode(), payload))
        return hmac.new(self._secret, bound, hashlib.sha256).digest()[:_SEAL_BYTES]

    def seal(self, plan: StartPlan, *, org_id: str, deployment_id: str) -> str:
        """The plan's id: an opaque string for this deployment alone."""
        payload = plan.valid_until_s.to_bytes(_MOMENT_BYTES) + b"".join(plan.parts[part] for part in PARTS)
        return _PREFIX + base64.urlsafe_b64encode(payload + self._tag(payload, org_id, deployment_id)).decode()

    def open(self, plan_id: str, *, org_id: str, deployment_id: str) -> StartPlan:
        """The plan of an id. Raises `Refusal`: invalid_field if it is not a plan of this deployment."""
        raw = _raw(plan_id)
        if raw is not None:
            payload, tag = raw[:-_SEAL_BYTES], raw[-_SEAL_BYTES:]
            if hmac.compare_digest(tag, self._tag(payload, org_id, deployment_id)):
                return _read(raw)
        raise invalid("plan_id", "is not a plan of this deployment; preview the deployment to get one")


def _raw(plan_id: str) -> bytes | None:
    """The bytes of a plan id; None for another text. Only one spelling of the same bytes is allowed."""
    text = plan_id.removeprefix(_PREFIX)
    try:
        raw = base64.b64decode(text, altchars=b"-_", validate=True)
    except ValueError:
        return None
    same = _PREFIX + base64.urlsafe_b64encode(raw).decode() == plan_id
    return raw if same and len(raw) == _LENGTH else None


def _read(raw: bytes) -> StartPlan:
    parts = raw[_MOMENT_BYTES:-_SEAL_BYTES]
    pieces = [parts[begin : begin + _PART_BYTES] for begin in range(0, len(parts), _PART_BYTES)]
    return StartPlan(int.from_bytes(raw[:_MOMENT_BYTES]), dict(zip(PARTS, pieces, strict=True)))
