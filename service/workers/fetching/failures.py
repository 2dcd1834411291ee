"""Why a file is not fetched. The text is for the person who began the import; it holds no more of a URL than a host."""


class FetchRefused(Exception):
    """The file cannot be had there: trying again would not help."""


class FetchBroken(Exception):
    """The file may be had later, or the rest of it."""
