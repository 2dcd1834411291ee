"""Looks up the resource that an argument names, or describes what exists instead."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError

from callwright.client.errors import CallwrightError, NotOffered
from callwright.contract.declaration.operation import AnyOperation
from callwright.contract.declaration.pagination import Page
from callwright.tools.numbers.number_repair import E164, WANTED, NumberReading, is_telephone_number, readings
from callwright.tools.references.kinds import CONTACT, KINDS, OTHER_IDS, PHONE_NUMBER, Reference, ReferenceKind
from callwright.tools.references.near_names import MOST_NEAR, nearest
from callwright.tools.replies.errors import explained_to
from callwright.tools.replies.untyped_answers import entries_like
from callwright.tools.runtime.tool import Tool
from callwright.tools.runtime.tool_context import Caller, Session
from callwright.tools.untrusted.masked_fields import own_text
from callwright.tools.wording.cleaning import cleaned
from callwright.tools.wording.text import line, lines, masked, moment, shortened

_AT_ONCE = 200
_MOST_PAGES = 5
_LONGEST_NAME = 200
_MOST_COUNTRIES = 10
_SHOWN = 80
_TOLD = ("number", "label", "name", "url", "language", "status")
_HIDDEN = "•"


ToolNamed = Callable[[str], Tool]
"""Finds a tool by its name."""


@dataclass(frozen=True)
class LookedUpValue:
    """A value in the arguments that has to be looked up or parsed."""

    name: str
    index: int | None
    value: str
    shown: str
    """The name by which the caller knows the argument."""

    @property
    def where(self) -> str:
        return self.shown if self.index is None else f"{self.shown}.{self.index}"


class Search:
    """The look-ups of one call of a tool. Each list is read once."""

    def __init__(self, client: Caller, session: Session, region: str | None, tools: ToolNamed) -> None:
        self._client = client
        self._session = session
        self._region = region
        self._tools = tools
        self._read: dict[str, list[Any]] = {}
        self._foreign = False
        """Whether a list did not fit the contract. Then a value that is not found may be an id of another form."""
        self.notes: list[str] = []

    async def id_of(self, given: LookedUpValue, reference: Reference, deployment_id: object) -> str:
        """The id of the one resource with this name. Raises `ToolError` unless there is exactly one."""
        if reference.kinds == (CONTACT,):
            return await self._contact(given, deployment_id)
        hits: list[tuple[ReferenceKind, Any]] = []
        if len(given.value) <= _LONGEST_NAME:
            for kind in reference.kinds:
                hits += [(kind, entry) for entry in await self._exact(kind, given.value)]
        if not hits and await self._may_be_id(given.value, reference.kinds):
            return given.value
        if len(hits) != 1:
            raise ToolError(await self._not_one(given, reference.kinds, hits))
        kind, entry = hits[0]
        number = getattr(entry, "number", given.value)
        self.notes.append(
            line(
                f"{kind.noun} {self._quoted(given, kind)} is {entry.id}",
                None if number == given.value else f"({number})",
            )
        )
        return entry.id

    async def number(self, given: LookedUpValue, *, of_contact: bool) -> NumberReading:
        """The number that the value means, noted if it was not in E.164. Raises `ToolError` unless there is one."""
        if E164.fullmatch(given.value):
            return NumberReading(given.value, None)
        found, countries = readings(given.value, ()), list[str]()
        if not found and is_telephone_number(given.value) and not given.value.startswith("+"):
            countries = [self._region] if self._region else await self._countries()
            found = readings(given.value, countries)
        hides = of_contact and self._session.masks
        said = [
            line(masked(one.e164) if hides else one.e164, f"({one.country})" if one.country else None) for one in found
        ]
        if len(found) != 1:
            where = f" in {', '.join(countries[:_MOST_COUNTRIES])}" if countries else ""
            what = f"is no valid telephone number{where}"
            if found:
                what = f"may be {' or '.join(said[:MOST_NEAR])}"
            elif _HIDDEN in given.value:
                what = "is masked, so nothing can be found by it"
            raise ToolError(f"Invalid arguments: {given.where}: {what}; {WANTED}.")
        digits = "".join(character for character in given.value if character.isdigit())
        shown = masked(digits) if hides else shortened(cleaned(given.value), _SHOWN)
        self.notes.append(f"read {shown} as {said[0]}")
        return found[0]

    async def _may_be_id(self, value: str, kinds: Sequence[ReferenceKind]) -> bool:
        """Whether a value that is not a name may still be an id, on a service whose ids have another form."""
        for kind in kinds:
            ids = [entry.id for entry in await self._newest(kind)]
            if value in ids:
                return True
            self._foreign |= bool(ids) and not any(map(kind.ids.fullmatch, ids))
        return self._foreign

    async def _contact(self, given: LookedUpValue, deployment_id: object) -> str:
        if not is_telephone_number(given.value):
            raise ToolError(f"Invalid arguments: {given.where}: takes the id of a contact (ctc_…), or its number.")
        if not isinstance(deployment_id, str):
            raise ToolError(f"Invalid arguments: {given.where}: a number says which contact only with deployment_id.")
        number = (await self.number(given, of_contact=True)).e164
        shown = masked(number) if self._session.masks else number
        if self._session.masks:
            self._session.guesses.note(number)
        hits = [
            entry
            for entry in await self._ask(CONTACT.finds, id=deployment_id, phone_number=number, per_page=MOST_NEAR + 1)
            if entry.phone_number in (number, masked(number))
        ]
        if not hits and self._foreign:
            return given.value
        if not hits:
            raise ToolError(f"{given.where}: this deployment has no contact {shown}. {self._shows(CONTACT)}")
        if len(hits) > 1:
            raise ToolError(self._several(given.where, f"contacts have the number {shown}", hits))
        self.notes.append(f"contact {shown} is {hits[0].id}")
        return hits[0].id

    async def _exact(self, kind: ReferenceKind, value: str) -> list[Any]:
        if kind.filtered:
            found = await self._ask(kind.finds, name=value, per_page=MOST_NEAR + 1)
            return [entry for entry in found if entry.name == value]
        entries = await self._all(kind)
        same = {value}
        if kind is PHONE_NUMBER:
            same |= {reading.e164 for reading in readings(value, sorted({entry.country for entry in entries}))}
        hits = [entry for entry in entries if same & set(_names(entry, kind))]
        if not hits and kind is PHONE_NUMBER and len(entries) == _AT_ONCE * _MOST_PAGES:
            for number in filter(E164.fullmatch, sorted(same)):
                hits += await self._ask(kind.finds, number=number, **kind.among)
        return hits

    async def _not_one(
        self, given: LookedUpValue, kinds: Sequence[ReferenceKind], hits: Sequence[tuple[ReferenceKind, Any]]
    ) -> str:
        if hits:
            nouns = f"{hits[0][0].noun}s" if len({kind.noun for kind, _ in hits}) == 1 else "things"
            return self._several(
                given.where, f"{nouns} are called {self._quoted(given, *kinds)}", [entry for _, entry in hits]
            )
        quoted = self._quoted(given, *kinds)
        said = f"{given.where}: no {' or '.join(kind.noun for kind in kinds)} is called {quoted}."
        other = _other_kind(given.value, kinds)
        near = [
            entry
            for kind in kinds
            for entry in nearest(
                given.value,
                [(entry, self._shown_names(entry, kind)) for entry in await self._newest(kind)],
            )
        ]
        return lines(
            f"{said} It looks like the id of {_a(other)}." if other else said,
            "Did you mean one of these? Call again with its id." if near else self._shows(kinds[0]),
            *(self._entry(entry) for entry in near[:MOST_NEAR]),
        )

    def _several(self, where: str, what: str, hits: Sequence[Any]) -> str:
        count = "more than five" if len(hits) > MOST_NEAR else str(len(hits))
        return lines(
            f"{where}: {count} {what}. Call again with the id of the one that is meant; ask the person if in doubt.",
            *(self._entry(entry) for entry in hits[:MOST_NEAR]),
        )

    def _entry(self, entry: Any) -> str:
        contact: str | None = getattr(entry, "phone_number", None)
        words = [(name, getattr(entry, name, None)) for name in _TOLD]
        return line(
            entry.id,
            masked(contact) if contact and self._session.masks else contact,
            *(shortened(self._said(name, word), _SHOWN) for name, word in words if word),
            f"created {moment(entry.created_at)}" if hasattr(entry, "created_at") else None,
        )

    def _quoted(self, given: LookedUpValue, *kinds: ReferenceKind) -> str:
        """The requested value in quotes. Where it can only be a number of the organization, it is not masked."""
        name = "number" if kinds == (PHONE_NUMBER,) else "name"
        return f'"{shortened(self._said(name, given.value), _SHOWN)}"'

    def _shown_names(self, entry: Any, kind: ReferenceKind) -> list[str]:
        """The names of a resource as they are shown: comparing with hidden digits would reveal them one by one."""
        return [self._said(name, word) for name in kind.names if (word := getattr(entry, name))]

    def _said(self, name: str, word: str) -> str:
        """A text of a resource, masked unless it is the organization's own number."""
        return own_text(name, cleaned(word)) if self._session.masks and name != "number" else cleaned(word)

    def _shows(self, kind: ReferenceKind) -> str:
        name = kind.finds.name
        return f"{name} shows what exists." if self._session.offers(name) else "Ask the person which is meant."

    async def _countries(self) -> list[str]:
        """The countries of the organization's own numbers."""
        return sorted({entry.country for entry in await self._all(PHONE_NUMBER)})

    async def _newest(self, kind: ReferenceKind) -> list[Any]:
        if not kind.filtered:
            return await self._all(kind)
        if kind.noun not in self._read:
            self._read[kind.noun] = await self._ask(kind.finds, per_page=_AT_ONCE)
        return self._read[kind.noun]

    async def _all(self, kind: ReferenceKind) -> list[Any]:
        """The newest thousand of a kind, without those no longer in use."""
        if kind.noun not in self._read:
            found: list[Any] = []
            for page in range(1, _MOST_PAGES + 1):
                found += (entries := await self._ask(kind.finds, page=page, per_page=_AT_ONCE, **kind.among))
                if len(entries) < _AT_ONCE:
                    break
            self._read[kind.noun] = found
        return self._read[kind.noun]

    async def _ask(self, operation: AnyOperation, **given: Any) -> list[Any]:
        try:
            found = await self._client.ask_lenient(operation, operation.takes(**given))
        except NotOffered:
            self._foreign = True
            return []
        except CallwrightError as error:
            raise ToolError(explained_to(self._session, error, self._tools(operation.name))) from error
        page: Page[Any] | None = found.answer
        if page is None:
            self._foreign = True
            return entries_like(operation, found.data)
        return page.data


def _names(entry: Any, kind: ReferenceKind) -> list[str | None]:
    return [getattr(entry, name) for name in kind.names]


def _other_kind(value: str, kinds: Sequence[ReferenceKind]) -> str | None:
    ids = {kind.noun: kind.ids for kind in KINDS if kind not in kinds} | dict(OTHER_IDS)
    return next((noun for noun, pattern in ids.items() if pattern.fullmatch(value)), None)


def _a(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"
