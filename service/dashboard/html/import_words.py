"""What an import does, or what became of it, in words: for the page that uploads, that of the audience and the list of
its imports.
"""

from callwright.contract.checks.counts import count_of
from callwright.service.handlers.audience_imports import ShownImport

_COUNTING = "The file is being read. Its rows are counted first, which takes minutes where they are many."
_FETCHED = "The service fetches the file."
_MINUTE, _LONG = 60, 120
"""Seconds."""


def import_words(one: ShownImport, arrived: int | None = None) -> str:
    """In words how far an import is, or how it ended. `arrived`: the bytes of its file that are there, if it waits."""
    found = one.found
    if found.status == "uploading":
        return _waits(arrived)
    if found.status == "pending":
        return _FETCHED if one.is_fetched else _queued(one.ahead)
    if found.status == "importing":
        return _progress(one)
    if found.status == "failed":
        reason = f"Failed: {found.status_reason.rstrip('.')}." if found.status_reason else "Failed."
        return f"{reason} Before that: {_taken(one)}." if found.added else reason
    return f"{_taken(one)}, of {_rows(found.processed)}{_read_as(one)}."


def _waits(arrived: int | None) -> str:
    if not arrived:
        return "Waits for its file. Nothing of it has come."
    return f"Waits for the rest of its file. {megabytes(arrived)} have come."


def _queued(ahead: int) -> str:
    if not ahead:
        return "The file is there. It is read next."
    others = count_of(ahead, "other list")
    return f"The file is there. It waits until {others} of your organization {'is' if ahead == 1 else 'are'} imported."


def _progress(one: ShownImport) -> str:
    found = one.found
    if found.total_rows is None:
        return _COUNTING
    words = f"{found.processed:,} of {_rows(found.total_rows)}: {_taken(one)}."
    if found.seconds_left is None:
        return words
    left = found.seconds_left
    return f"{words} About {count_of(left, 'second') if left < _LONG else count_of(left // _MINUTE, 'minute')} left."


def _taken(one: ShownImport) -> str:
    found = one.found
    doubles = f"{found.duplicates:,} {'double' if found.duplicates == 1 else 'doubles'}"
    return f"{found.added:,} added, {found.invalid:,} refused, {doubles}"


def _read_as(one: ShownImport) -> str:
    return f", read as {one.found.read_as}" if one.found.read_as else ""


def _rows(count: int) -> str:
    return f"{count:,} {'row' if count == 1 else 'rows'}"


def megabytes(size: int) -> str:
    """A number of bytes: `12.4 MB`, and less than 0.1 MB in kB."""
    return f"{f'{size / 1e6:,.1f}'.removesuffix('.0')} MB" if size >= 100_000 else f"{max(1, round(size / 1_000))} kB"
