"""What an act on an account is refused with."""


class AccountError(Exception):
    """What was asked of an account cannot be done; the text says why and what to do."""
