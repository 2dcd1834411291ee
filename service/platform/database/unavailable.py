"""Errors of a database that cannot be used, for a while or until a person repairs it."""


class StorageUnavailable(RuntimeError):
    """Nothing can be stored at this moment, or until a person does something about it.

    Nothing of the unit of work was kept, unless the error says otherwise.
    """


class DatabaseUnusable(RuntimeError):
    """The database is not the one that was there, or cannot be worked with; the text says what to do."""
