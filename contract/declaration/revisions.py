"""Revisions: whether a thing is still as somebody has seen it.

Whatever a person may agree to shows a `revision`. A request that names the revisions it relies on is carried out only
while they hold: they are compared in the transaction that carries it out, before anything is changed.
"""

from typing import Annotated

from pydantic import AfterValidator, Field

from callwright.contract.declaration.marks import DERIVED, OwnText
from callwright.contract.declaration.model import Input

MOST_EXPECTED = 10
"""Things that one request may rely on."""
PREFIX = "rev_"

Revision = Annotated[
    OwnText,
    DERIVED,
    Field(
        description="Another one as soon as anything has changed that matters to whoever agrees to its use. Opaque.",
        examples=["rev_0Aa1Bb2Cc3Dd4Ee5Ff6G"],
    ),
]


def _ids(value: dict[str, str]) -> dict[str, str]:
    if any("\x00" in thing for thing in value):
        raise ValueError("must not contain the character NUL")
    return value


ExpectedRevisions = Annotated[
    dict[str, Annotated[OwnText, Field(max_length=64)]],
    Field(
        max_length=MOST_EXPECTED,
        description=(
            "Id to `revision` of up to 10 agents, audiences, deployments and phone numbers: nothing is done unless "
            "each is still as it was when that revision was read."
        ),
        examples=[{"agt_0Aa1Bb2Cc3Dd4Ee5Ff6Gg7H": "rev_0Aa1Bb2Cc3Dd4Ee5Ff6G"}],
    ),
    AfterValidator(_ids),
]


class Expecting(Input):
    """An input that may say what it relies on."""

    expected_revisions: ExpectedRevisions | None = None
