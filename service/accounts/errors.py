"""The error of the functions on accounts."""


class AccountError(Exception):
    """A change to an account is refused; the text says why and what to do."""
