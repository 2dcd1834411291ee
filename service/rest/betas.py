"""The request header `X-Service-Beta: enable=<feature_name>`, which switches beta features on for one request."""

import re

from callwright.contract.declaration.betas import BETA_FEATURES
from callwright.service.platform.refusals import invalid

HEADER = "X-Service-Beta"
_FORM = re.compile(r"enable=([a-z0-9_]{1,40}(?:\s*,\s*[a-z0-9_]{1,40}){0,19})")


def enabled(header: str | None) -> frozenset[str]:
    """The features a request switches on. Raises `Refusal`: invalid_field when the form or a name is wrong."""
    if header is None:
        return frozenset()
    found = _FORM.fullmatch(header.strip())
    if found is None:
        raise invalid(HEADER, "must be enable= and the names of features, separated by commas")
    names = frozenset(name.strip() for name in found[1].split(","))
    for name in sorted(names - set(BETA_FEATURES)):
        raise invalid(HEADER, f"there is no feature {name!r}; known: {', '.join(sorted(BETA_FEATURES))}")
    return names
