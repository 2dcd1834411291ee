"""The pages of operations: one for each noun, and an index."""

from collections.abc import Iterable

from callwright.contract.declaration.operation import AnyOperation
from callwright.contract.problems import EVERYWHERE
from callwright.service.rest.documentation.examples import example_of
from callwright.service.rest.documentation.openapi.descriptions import about_nouns, about_operation
from callwright.service.rest.documentation.openapi.problems import problems_of
from callwright.service.rest.documentation.openapi.schemas import Schemas
from callwright.service.rest.documentation.reference.exchanges import answer_lines, request_lines
from callwright.service.rest.documentation.reference.tables import Tables, table
from callwright.service.rest.routes import PREFIX

SAYS_MORE = 8
"""A description is shown if it has more words than this; a shorter one says no more than the summary."""


def index_page(operations: Iterable[AnyOperation]) -> str:
    """A list of all operations, one per line."""
    lines = ["# Operations", "", f"Paths are below `{PREFIX}`; `/api{PREFIX}` is the same.", ""]
    nouns: dict[str, list[AnyOperation]] = {}
    for operation in operations:
        nouns.setdefault(operation.noun, []).append(operation)
    for noun, found in nouns.items():
        rows = [
            (f"[{op.name}](operations/{noun}.md#{op.name})", f"`{op.method} {op.path}`", op.summary) for op in found
        ]
        lines += [f"## {title(noun)}", "", about_nouns()[noun], "", *table(("operation", "path", "what it does"), rows)]
        lines.append("")
    return "\n".join(lines)


def title(noun: str) -> str:
    return noun.replace("_", " ").capitalize()


def noun_page(noun: str, operations: Iterable[AnyOperation], schemas: Schemas) -> str:
    """The operations of one noun: the input, output and problems of each, and an example."""
    tables = Tables(schemas.components, "../fields.md")
    lines = [f"# {title(noun)}", "", about_nouns()[noun], ""]
    for operation in operations:
        lines += _operation(operation, schemas, tables)
    return "\n".join(lines).rstrip() + "\n"


def _operation(operation: AnyOperation, schemas: Schemas, tables: Tables) -> list[str]:
    lines = [f"## {operation.name}", "", f"`{operation.method} {PREFIX}{operation.path}`", ""]
    about = about_operation(operation)
    lines += [f"{operation.summary}{f' {about}' if len(about.split()) > SAYS_MORE else ''}", ""]
    lines += _takes(operation, schemas, tables)
    if operation.sorts:
        sorts = ", ".join(f"`{name}`" for name in operation.sorts)
        lines += [f"Sorts by {sorts}.", ""]
    lines += [_gives(operation, schemas, tables), ""]
    own = [problem for problem in problems_of(operation) if problem not in EVERYWHERE]
    everywhere = "those [of every operation](../errors.md#of-every-operation)"
    links = [f"[`{problem.code}`](../errors.md#{problem.code})" for problem in own]
    lines += [f"Problems: {', '.join([*links, everywhere])}.", ""]
    example = example_of(operation.name)
    if example is not None:
        curl = " With curl, use `curl -g`: it gives brackets another meaning." if "[" in "".join(example.query) else ""
        lines += [f"Example:{curl}", "", *request_lines(example), *answer_lines(example.answer)]
    return lines


def _takes(operation: AnyOperation, schemas: Schemas, tables: Tables) -> list[str]:
    properties = schemas.inputs[operation.name].get("properties", {})
    rows = [
        f"| `{operation.wire_name(name)}` | {operation.place_of(name)} | {tables.type_of(properties[name])} "
        f"| {'yes' if field.is_required() else ''} | {tables.said(properties[name])} |"
        for name, field in operation.takes.model_fields.items()
    ]
    return ["| field | in | type | required | meaning |", "|---|---|---|---|---|", *rows, ""] if rows else []


def _gives(operation: AnyOperation, schemas: Schemas, tables: Tables) -> str:
    if operation.shape == "media":
        kinds = " or ".join(operation.media_types)
        if operation.is_streamed:
            return f"Answers {operation.status} with {kinds}, which is written while it is sent."
        return f"Answers {operation.status} with {kinds}, 206 with a part of it, 304 when you have it already."
    if operation.item is None:
        return f"Answers {operation.status} with nothing."
    name = tables.link(schemas.answered[operation.item]["$ref"].rsplit("/", 1)[1])
    what = f"a page of {name}" if operation.shape == "many" else name
    return f"Answers {operation.status} with {what}."
