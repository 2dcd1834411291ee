"""Beta features: what a caller switches on with the request header `X-Service-Beta: enable=<feature_name>`."""

from dataclasses import dataclass

BETA_FEATURES: dict[str, "BetaFeature"] = {}


@dataclass(frozen=True)
class BetaFeature:
    """Something that may still change. A feature that has become part of the version stays known, and does nothing."""

    name: str
    does: str

    def __post_init__(self) -> None:
        BETA_FEATURES[self.name] = self


RATELIMIT_FIELDS = BetaFeature(
    "ratelimit_fields",
    "Answers carry `RateLimit` and `RateLimit-Policy` too, as the IETF draft ratelimit-headers has them.",
)
