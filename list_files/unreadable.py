"""The error of files that cannot be read."""


class UnreadableList(ValueError):
    """The file cannot be read as a list. The text says why, in which line, and what to do."""
