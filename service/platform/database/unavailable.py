"""The database cannot store anything just now."""


class StorageUnavailable(RuntimeError):
    """Nothing can be stored at this moment, or until a person does something about it.

    Nothing of the unit of work was kept, unless the error says otherwise.
    """
