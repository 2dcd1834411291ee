"""What a run saw, in words for people."""

from collections import Counter

from tests.fuzz.run import Figures


def report(figures: Figures) -> str:
    """What a run saw: cases by operation and status, then each finding with the request to repeat, without the key."""
    statuses = sorted({status for counted in figures.statuses.values() for status in counted})
    total = sum(figures.statuses.values(), Counter[int]())
    rows = [("", *map(str, statuses), "all")]
    for operation, counted in [*sorted(figures.statuses.items()), ("all operations", total)]:
        rows.append((operation, *(str(counted[status] or "") for status in statuses), str(counted.total())))
    width = max(len(row[0]) for row in rows)
    lines = [row[0].ljust(width) + "".join(cell.rjust(7) for cell in row[1:]) for row in rows]
    lines.append(
        f"{figures.cases} cases, {figures.over_loopback} of them over a socket; {len(figures.findings)} findings"
    )
    for found in figures.findings.values():
        says = "\n    ".join(found.says.splitlines())
        lines.append(f"\n{found.operation}: {found.title}, {found.times} times\n    {says}\n    {found.request}")
    return "\n".join(lines)
