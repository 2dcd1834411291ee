"""A database that nobody can work with until a person has put it right."""


class DatabaseUnusable(RuntimeError):
    """The database is not the one that was there, or cannot be worked with; the text says what to do."""
