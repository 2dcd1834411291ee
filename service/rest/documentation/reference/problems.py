"""The page of errors."""

from collections.abc import Iterable

from callwright.contract.declaration.operation import AnyOperation
from callwright.contract.problems import BEFORE_THE_PATH, EVERYWHERE, PROBLEMS, ProblemCode
from callwright.service.rest.documentation.examples import problem_example
from callwright.service.rest.documentation.openapi.problems import problems_of
from callwright.service.rest.documentation.reference.exchanges import answer_lines
from callwright.service.rest.documentation.reference.tables import table

_ENVELOPES = """A refused request has changed nothing. Problems come in one of two envelopes:

- Nested, for nearly all: `{"error": {"type", "code", "message", "field", "errors", "request_id"}}`. `field` names what
  is wrong, where it is one thing; `errors` lists the first 20 things that are wrong with a request, and `more_errors`
  says how many more there are. Some have further members.
- Flat, for keys and origins: `{"error": "<code>", "message", "request_id"}`.

Every refusal has an `X-Request-Id`, also of what is no complete HTTP request. The one exception are systems without
the package `httptools`: there the library that reads HTTP in its place refuses that by itself, with status 400 and
plain text."""


def problems_page(operations: Iterable[AnyOperation]) -> str:
    """Every problem code with its status, its meaning, what to do, its operations, and an example."""
    found = sorted(PROBLEMS.values(), key=lambda entry: (entry.status, entry.code))
    given: dict[ProblemCode, list[AnyOperation]] = {}
    for operation in operations:
        for problem in problems_of(operation):
            given.setdefault(problem, []).append(operation)
    rows = [(str(entry.status), f"[`{entry.code}`](#{entry.code})", entry.type, entry.meaning) for entry in found]
    everywhere = ", ".join(f"[`{problem.code}`](#{problem.code})" for problem in EVERYWHERE)
    lines = ["# Errors", "", *_ENVELOPES.splitlines(), "", *table(("status", "code", "type", "meaning"), rows), ""]
    lines += [
        "## Of every operation",
        "",
        f"{everywhere}. What only a body can have wrong is refused where one is read.",
        "",
    ]
    for problem in found:
        lines += [f"## {problem.code}", "", f"Status {problem.status}, type `{problem.type}`.", ""]
        lines += [f"{problem.meaning} {problem.remedy}", ""]
        if problem not in EVERYWHERE:
            lines += [f"Given by {_givers(problem, given.get(problem, []))}.", ""]
        lines += answer_lines(problem_example(problem))
    return "\n".join(lines).rstrip() + "\n"


def _givers(problem: ProblemCode, operations: Iterable[AnyOperation]) -> str:
    if problem in BEFORE_THE_PATH:
        return "every address, before the request is complete; the connection ends"
    links = [f"[{operation.name}](operations/{operation.noun}.md#{operation.name})" for operation in operations]
    return ", ".join(links) or "paths that do not have the method"
