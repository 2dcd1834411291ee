"""Requests made from the OpenAPI description: the edges of every field, then random ones, right and wrong.

What stands where an id or another existing value belongs is often replaced by one that exists.
"""

from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any, cast

import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis import GenerationMode
from schemathesis.generation.meta import CoveragePhaseData

from callwright.service.rest.documentation.openapi import describe
from tests.fuzz.values import KnownValues

Case = schemathesis.Case[Any]
Schema = Any
Operation = Any
"""Of schemathesis, whose types leave their parameters open."""
MODES = list(GenerationMode)
EVERY_HEALTH_CHECK = cast("list[HealthCheck]", list(HealthCheck))
CONFIG = {
    "generation": {"with-security-parameters": False},
    "output": {"sanitization": {"keys-to-sanitize": ["authorization"], "sensitive-markers": ["authorization"]}},
    "checks": {
        "negative_data_rejection": {"expected-statuses": [400, 401, 403, 404, 405, 409, 413, 415, 416, 422, 429]}
    },
}
PLACES = ("path_parameters", "query", "headers", "body")
EXISTING = 0.8
"""How often a value that exists takes the place of a made-up one."""


def described() -> Schema:
    """The description that the service serves."""
    openapi: Any = schemathesis.openapi
    config: Any = schemathesis.Config
    return openapi.from_dict(describe(), config=config.from_dict(CONFIG))


def operations_of(schema: Schema) -> list[Operation]:
    """Every operation of a description."""
    return [found.ok() for found in schema.get_all_operations()]


def edges(schema: Schema, operation: Operation) -> Iterator[Case]:
    """Cases at the edges of each field and just beyond, without each field, and with methods the path has not."""
    return schema.iter_coverage_cases(operation, generation_modes=MODES, generation_config=schema.config.generation)


def random_cases(
    operation: Operation, mode: GenerationMode, *, count: int, seeded: int, take: Callable[[Case], None]
) -> None:
    """Makes up to `count` cases, fewer where there are not so many different ones, and gives each to `take`."""

    @seed(seeded)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=EVERY_HEALTH_CHECK,
    )
    @given(operation.as_strategy(generation_mode=mode))
    def made(case: Case) -> None:
        take(case)

    made()


def meet(case: Case, known: KnownValues, random: Random) -> None:
    """Puts values that exist where such belong, but not in the place that the case is about.

    In a case that is wrong on purpose only ids are replaced: any text may be one, so nothing wrong is put right.
    """
    about = case.meta.phase.data if case.meta is not None else None
    spared = about.parameter if isinstance(about, CoveragePhaseData) else None
    wrong = case.meta is not None and case.meta.generation.mode.is_negative

    def often() -> bool:
        return random.random() < EXISTING

    def met(name: str, value: object) -> object:
        if isinstance(value, dict):
            return all_met(cast("dict[str, object]", value))
        if isinstance(value, list):
            return [met(name, part) for part in cast("list[object]", value)]
        if isinstance(value, float) and value.is_integer() and not wrong and often():
            return int(value)  # 30.0 is an integer of JSON Schema, but not of the service
        found = known.fitting(case.path, name, ids_only=wrong)
        return random.choice(found) if isinstance(value, str) and found and name != spared and often() else value

    def all_met(values: Mapping[str, object]) -> dict[str, object]:
        kept = {name: value for name, value in values.items() if value is not None or wrong or not often()}
        return {name: met(name, value) for name, value in kept.items()}

    agrees = not wrong and spared is None and often() and _make_agree(case, known, random)
    for place in ("query", "headers") if agrees else PLACES:
        container = getattr(case, place)
        if isinstance(container, Mapping):
            held = cast("Mapping[str, object]", container)
            replaced = all_met(held)
            if replaced != dict(held):
                setattr(case, place, cast("type[Any]", type(held))(replaced))


def _make_agree(case: Case, known: KnownValues, random: Random) -> bool:
    """Puts together fields that exclude or need each other, which the description says in words only.

    True where path and body are right as they are then.
    """
    if isinstance(case.query.get("cursor"), str):
        kept = (
            ("cursor", "per_page") if random.random() < 0.5 else tuple(name for name in case.query if name != "cursor")
        )
        case.query = {name: case.query[name] for name in kept if name in case.query}
    body = cast("dict[str, Any]", case.body) if isinstance(case.body, dict) else None
    if body is not None and case.method == "POST" and case.path.endswith("/deployments"):
        one = {"phone_number_id": random.choice(known.fitting(case.path, "phone_number_id"))}
        case.body = {**{name: value for name, value in body.items() if name != "phone_number_ids"}, **one}
    if body is not None and isinstance(body.get("plan_id"), str) and (plans := known.pairs("plan_id")):
        deployment_id, plan_id = random.choice(plans)
        case.path_parameters, case.body = {"id": deployment_id}, {**body, "plan_id": plan_id}
        return True
    if "import_id" in case.path_parameters and known.pairs("import_id"):
        audience_id, import_id = random.choice(known.pairs("import_id"))
        case.path_parameters = {"id": audience_id, "import_id": import_id}
        return True
    if "delivery_id" in case.path_parameters and known.pairs("delivery_id"):
        webhook_id, delivery_id = random.choice(known.pairs("delivery_id"))
        case.path_parameters = {"id": webhook_id, "delivery_id": delivery_id}
        return True
    return False
