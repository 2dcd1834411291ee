"""The two kinds of model: what a caller sends (strict) and what the service gives (tolerant to additions)."""

from pydantic import BaseModel, ConfigDict


class Input(BaseModel):
    """What an operation takes: path, query and body fields in one flat model. Unknown fields are refused by name."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True, allow_inf_nan=False)


class Part(BaseModel):
    """A piece of an input that may be sent nested, for example a retry policy. Unknown fields are refused by name."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True, allow_inf_nan=False)


class Resource(BaseModel):
    """What the service gives. A field that a newer service adds is kept, so that readers do not break."""

    model_config = ConfigDict(
        extra="allow", frozen=True, defer_build=True, validate_by_name=True, validate_by_alias=True
    )
