"""Whether a call that has ended has a recording at all, whatever became of it since."""


def has_recording(*, carrier: str | None, turns: int, recorded: bool | None, is_answered: bool) -> bool:
    """`turns`: how many were said. `recorded`: whether a call on a line has a file; None if that is not known.

    On the simulated network (no `carrier`) the recording is made of the turns. That of a call on a line is what its
    process wrote. If that process is gone nobody knows its turns, and the file is the only trace of them.
    """
    if carrier is None:
        return turns > 0
    return is_answered if recorded is None else recorded
