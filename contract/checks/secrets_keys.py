"""The form of the secrets key of an installation, which encrypts what the service stores and may not show."""

from base64 import urlsafe_b64decode, urlsafe_b64encode

KEY_BYTES = 32


def keys_in(text: str) -> tuple[str, ...]:
    """The secrets keys in a text, with commas or one a line, as Fernet takes them. The first one encrypts, all decrypt.

    Both alphabets of base64 are read, so that `openssl rand -base64 32` makes one.

    Raises:
        ValueError: one is not 32 bytes in base64, or there is none. The text is not repeated.
    """
    found = tuple(_normal(word) for word in text.replace(",", " ").split())
    if not found:
        raise ValueError("there is no secrets key")
    return found


def _normal(word: str) -> str:
    try:
        raw = urlsafe_b64decode(word.replace("+", "-").replace("/", "_").encode("ascii"))
    except ValueError:  # also what the module itself raises
        raw = b""
    if len(raw) != KEY_BYTES:
        raise ValueError(f"a secrets key is {KEY_BYTES} bytes in base64")
    return urlsafe_b64encode(raw).decode()
