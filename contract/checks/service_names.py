"""What other services call their voices and models. These stand in addresses, so nothing in them may lead elsewhere."""

from pydantic import AfterValidator

from callwright.contract.checks.visible import cleaned

_IN_NO_VOICE = frozenset("/?#&%\\")
_IN_NO_MODEL = frozenset("?#&%\\")


def _checked(value: str, forbidden: frozenset[str]) -> str:
    if value != cleaned(value) or not value.isprintable():
        raise ValueError("must have visible characters only, on one line")
    if value != value.strip() or "  " in value:
        raise ValueError("must not begin or end with a space, or have two in a row")
    if found := sorted(forbidden.intersection(value)):
        raise ValueError(f"must not contain {' '.join(found)}: it is an id at a service, not an address")
    return value


def checked_voice(value: str) -> str:
    """The id of a voice itself. Raises ValueError, with words that follow its place, for what no service has in one."""
    if not value.strip("."):
        raise ValueError("must be an id of a voice, not only dots")
    return _checked(value, _IN_NO_VOICE)


def checked_model(value: str) -> str:
    """The name of a model itself, which may have slashes, as in `openai/whisper-large`. Raises as `checked_voice`."""
    if any(not part.strip(".") for part in value.split("/")):
        raise ValueError("must be the name of a model, not a path: a part between slashes is empty, or only dots")
    return _checked(value, _IN_NO_MODEL)


VOICE_TEXT = AfterValidator(checked_voice)
MODEL_TEXT = AfterValidator(checked_model)
