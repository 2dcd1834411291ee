"""The folders of the data folder that the service writes to while it runs, and whether it can.

Somebody may take the permission away, mount the disk for reading alone, or put a file in the place of a folder. The
database goes on with the files that it has open. The health check looks here, and so does who answers a request that
failed because of it.
"""

import errno
import os
from pathlib import Path

FOLDERS = ("uploads", "recordings", "line-recordings", "tables")
"""Made when they are first needed."""
_REASONS = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR, errno.EEXIST)
_EFFECTIVE = os.access in os.supports_effective_ids


def unwritable(data: Path) -> str | None:
    """What of the data folder cannot be written to, in words without a full stop; None if all can."""
    if not _is_writable(data):
        return "the data folder cannot be written to"
    wrong = [name for name in FOLDERS if os.path.lexists(data / name) and not _is_writable(data / name)]
    if not wrong:
        return None
    return f"the folder{'s' if len(wrong) > 1 else ''} {', '.join(wrong)} of the data folder cannot be written to"


def unwritable_because(error: BaseException, data: Path) -> str | None:
    """What cannot be written to, if an error has this reason; None for any other error."""
    if not isinstance(error, OSError) or error.errno not in _REASONS:
        return None
    path: object = error.filename
    return unwritable(data) if isinstance(path, str | Path) and Path(path).is_relative_to(data) else None


def _is_writable(folder: Path) -> bool:
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK, effective_ids=_EFFECTIVE)
