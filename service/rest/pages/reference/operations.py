"""The operations on the page: what each takes, what it answers, its problems, and an example."""

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from callwright.service.rest.documentation.examples import example_of
from callwright.service.rest.documentation.reference.exchanges import answer_lines, request_lines
from callwright.service.rest.documentation.reference.operations import SAYS_MORE
from callwright.service.rest.documentation.reference.tables import Tables
from callwright.service.rest.pages.reference.fields import field_entry, field_list, object_fields, wire
from callwright.service.rest.pages.reference.marked import inline

Json = Mapping[str, Any]
_PAUSE = re.compile(r"[,;:]|\. ")
_PLACES = {"path": "In the path", "query": "In the query"}


class OperationSections:
    """Writes the section of each operation of a description."""

    def __init__(self, document: Json) -> None:
        self._document = document
        self._components: Mapping[str, Json] = document["components"]
        self._tables = Tables(self._components["schemas"], "")
        first, *others = [frozenset(self._codes(entry)) for _, _, entry in operations_of(document)]
        self.everywhere: frozenset[str] = first.intersection(*others)
        """The problems that every operation may answer with."""

    def section(self, method: str, path: str, entry: Json) -> str:
        """All about one operation. `data-words` is what the search looks at."""
        name: str = entry["operationId"]
        taken = [self.resolved(parameter) for parameter in entry.get("parameters", ())]
        own = [code for code in self._codes(entry) if code not in self.everywhere]
        words = [method, path, name, entry["summary"], *(parameter["name"] for parameter in taken)]
        body = self._body(entry)
        words += [*body.get("properties", {}), *own]
        example = example_of(name)
        shown = (
            ""
            if example is None
            else wire(request_lines(example), "Request") + wire(answer_lines(example.answer), "Answer")
        )
        return (
            f'<section class="op" id="{name}" data-words="{escape(" ".join(words).lower())}">\n<div class="about">\n'
            f'<h3><a class="self" href="#{name}">{inline(short(entry["summary"]))}</a></h3>\n'
            f'<p class="path">{method_tag(method)} <code>{_path(path)}</code></p>\n'
            f"<p>{inline(_said(entry))}</p>\n"
            f"{self._parameters(taken)}{self._body_fields(body)}{self._answers(entry)}{self._problems(own)}\n</div>\n"
            f'<div class="example">{shown}</div>\n</section>'
        )

    def resolved(self, entry: Json) -> Json:
        """A parameter or an answer itself, where the description refers to a component."""
        if "$ref" not in entry:
            return entry
        _, _, kind, name = str(entry["$ref"]).split("/")
        return self._components[kind][name]

    def _body(self, entry: Json) -> Json:
        request = entry.get("requestBody")
        return request["content"]["application/json"]["schema"] if request else {}

    def _parameters(self, taken: Sequence[Json]) -> str:
        parts: list[str] = []
        for place, words in _PLACES.items():
            found = [parameter for parameter in taken if parameter["in"] == place]
            if found:
                parts.append(f"<h4>{words}</h4>{field_list(self.parameter(parameter) for parameter in found)}")
        headers = [parameter["name"] for parameter in taken if parameter["in"] == "header"]
        if headers:
            links = ", ".join(f'<a href="#header-{name.lower()}"><code>{name}</code></a>' for name in headers)
            parts.append(f"<h4>In headers</h4><p>{links}</p>")
        return "".join(parts)

    def parameter(self, parameter: Json) -> str:
        """A parameter as a field."""
        shape = {**parameter["schema"], "description": parameter.get("description", "")}
        return field_entry(parameter["name"], shape, self._tables, is_required=parameter["required"])

    def _body_fields(self, body: Json) -> str:
        return f"<h4>In the body</h4>{object_fields(body, self._tables)}" if body.get("properties") else ""

    def _answers(self, entry: Json) -> str:
        lines: list[str] = []
        for status, answer in entry["responses"].items():
            if status >= "400":
                continue
            content: Mapping[str, Json] = answer.get("content", {})
            what = self._item(content["application/json"]["schema"]) if "application/json" in content else ""
            what = what or ", ".join(f"`{kind}`" for kind in content)
            lines.append(f"<li><b>{status}</b> {inline(answer['description'])} {inline(what)}</li>")
        return f"<h4>Answers</h4><ul>{''.join(lines)}</ul>"

    def _item(self, envelope: Json) -> str:
        data: Json = envelope.get("properties", {}).get("data", {})
        return self._tables.type_of(data)[:1].upper() + self._tables.type_of(data)[1:] if data else ""

    def _codes(self, entry: Json) -> list[str]:
        found: list[str] = []
        for status, answer in entry["responses"].items():
            if status >= "400":
                found += self.resolved(answer)["content"]["application/json"]["examples"]
        return found

    def _problems(self, own: Sequence[str]) -> str:
        links = [f'<a href="#{code}"><code>{code}</code></a>' for code in own]
        return f"<h4>Problems</h4><p>{', '.join([*links, _EVERYWHERE])}</p>"


_EVERYWHERE = '<a href="#everywhere">those of every operation</a>'


def operations_of(document: Json) -> Iterator[tuple[str, str, Json]]:
    """Every operation of a description: method, path and entry."""
    paths: Mapping[str, Mapping[str, Json]] = document["paths"]
    for path, methods in paths.items():
        for method, entry in methods.items():
            yield method.upper(), path, entry


def short(summary: str) -> str:
    """A summary up to its first pause, as a heading."""
    return _PAUSE.split(summary, maxsplit=1)[0].rstrip(".")


def _said(entry: Json) -> str:
    """What the heading leaves out of the summary, and the description if it says more than that."""
    summary, about = entry["summary"], entry.get("description", "")
    is_cut = short(summary) != summary.rstrip(".")
    return " ".join(filter(None, (summary if is_cut else "", about if len(about.split()) > SAYS_MORE else "")))


def method_tag(method: str) -> str:
    return f'<span class="method" data-method="{method}">{method}</span>'


def _path(path: str) -> str:
    """The path, with places where it may break."""
    return escape(path).replace("/", "/<wbr>")
