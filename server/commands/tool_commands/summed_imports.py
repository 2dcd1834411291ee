"""The answers to the parts of one do-not-call file as the answer to the whole file, with its rows and lines."""

from dataclasses import dataclass, field

from callwright.contract.checks.row_notices import RowNotice, read_notice
from callwright.contract.do_not_call import MOST_ERRORS, DoNotCallImported, RefusedNumber
from callwright.tools.arguments.csv_parts import CsvPart

_COUNTS = ("received", "added", "extended", "already_there", "kept_permanent", "refused")


@dataclass
class SummedImports:
    """Answers that are added up, in the order of the parts."""

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_COUNTS, 0))
    columns: dict[str, None] = field(default_factory=dict[str, None])
    unread: dict[str, None] = field(default_factory=dict[str, None])
    notices: dict[str, RowNotice] = field(default_factory=dict[str, RowNotice])
    others: dict[str, None] = field(default_factory=dict[str, None])
    """Notices that another version of the service words otherwise, as they came."""
    errors: list[RefusedNumber] = field(default_factory=list[RefusedNumber])

    @property
    def number_columns(self) -> tuple[str, ...]:
        """The columns whose numbers were read so far."""
        return tuple(self.columns)

    def add(self, part: CsvPart, answer: DoNotCallImported) -> None:
        """Adds the answer to a part."""
        for name in _COUNTS:
            self.counts[name] += getattr(answer, name)
        self.columns |= dict.fromkeys(answer.number_columns)
        self.unread |= dict.fromkeys(answer.unread_number_columns)
        for text in answer.notices:
            self._notice(part, text)
        for one in answer.errors[: MOST_ERRORS - len(self.errors)]:
            line = None if one.line is None else part.lines.get(one.line, one.line)
            self.errors.append(one.model_copy(update={"row_number": one.row_number + part.first_row - 1, "line": line}))

    def _notice(self, part: CsvPart, text: str) -> None:
        found = read_notice(text)
        if found is None:
            self.others[f"rows {part.first_row:,} to {part.last_row:,}: {text}"] = None
            return
        lines = [part.lines.get(line, line) for line in found.lines]
        before = self.notices.get(found.what, RowNotice(found.what, 0, ()))
        self.notices[found.what] = RowNotice(found.what, before.count + found.count, (*before.lines, *lines))

    def whole(self) -> DoNotCallImported:
        """The answer to the whole file."""
        return DoNotCallImported(
            **self.counts,
            read_as="",
            number_columns=list(self.columns),
            unread_number_columns=[name for name in self.unread if name not in self.columns],
            notices=[*map(str, self.notices.values()), *self.others],
            errors=self.errors,
        )
