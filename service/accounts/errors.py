"""The error of the functions on accounts, and what is said of it on a page."""


class AccountError(Exception):
    """A change to an account is refused; the text says why and what to do."""


def sentence(refused: Exception | str) -> str:
    """The words of a refusal as a sentence: with a capital, and a full stop."""
    words = str(refused).rstrip(".")
    return f"{words[:1].upper()}{words[1:]}."
