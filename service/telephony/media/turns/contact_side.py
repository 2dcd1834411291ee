"""What the other side of a call says and enters, as it comes."""

from dataclasses import dataclass

_ENTRY_PAUSE_S = 1.5
"""Keys that follow within this time belong to one entry."""
_LONGEST_ENTRY = 32


@dataclass(frozen=True)
class Entry:
    """Keys that belong together. Times are seconds after the answer."""

    keys: str
    start_s: float
    end_s: float


class KeyEntries:
    """Joins keys to entries: a `#`, a pause or many keys end one."""

    def __init__(self) -> None:
        self._keys = ""
        self._start_s = self._end_s = 0.0

    @property
    def is_open(self) -> bool:
        """Whether an entry is not over."""
        return bool(self._keys)

    def press(self, digits: str, at_s: float) -> Entry | None:
        """Takes keys; the entry that they end."""
        if not self._keys:
            self._start_s = at_s
        self._keys = (self._keys + digits)[:_LONGEST_ENTRY]
        self._end_s = at_s
        over = digits.endswith("#") or len(self._keys) == _LONGEST_ENTRY
        return self._taken() if over else None

    def due(self, now_s: float) -> Entry | None:
        """The entry that is over by now."""
        return self._taken() if self._keys and now_s - self._end_s > _ENTRY_PAUSE_S else None

    def _taken(self) -> Entry:
        keys, self._keys = self._keys, ""
        return Entry(keys, self._start_s, self._end_s)


@dataclass(frozen=True)
class Spoken:
    """Words of one turn. Times are seconds after the answer."""

    text: str
    start_s: float
    end_s: float


class ContactSpeech:
    """Joins what is recognised to turns, with the times of the speech."""

    def __init__(self) -> None:
        self._words: list[str] = []
        self._start_s: float | None = None
        self._end_s = 0.0
        self.is_heard = False
        """The other side speaks now."""

    def starts(self, at_s: float) -> None:
        """Speech begins."""
        self.is_heard = True
        if self._start_s is None:
            self._start_s = at_s

    def ends(self, at_s: float) -> None:
        """Speech pauses or ends."""
        self.is_heard = False
        if self._start_s is None:
            self._start_s = at_s
        self._end_s = at_s

    def recognised(self, text: str) -> None:
        """Words were recognised."""
        if text.strip():
            self._words.append(text.strip())

    def take(self, now_s: float) -> Spoken | None:
        """The turn that is over now; None if nothing was recognised."""
        text, self._words = " ".join(self._words), []
        start_s = now_s if self._start_s is None else self._start_s
        end_s = now_s if self.is_heard else max(self._end_s, start_s)
        self._start_s = now_s if self.is_heard else None
        return Spoken(text, start_s, end_s) if text else None
