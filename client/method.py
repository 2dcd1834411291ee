"""Turns a declared operation into a typed method: one line for each in `nouns.py`.

A method takes the fields of the operation's input as keyword arguments, with their types and defaults, and sends only
those that were given. Nothing is generated: the type checker follows the declaration.
"""

from collections.abc import Callable, Coroutine
from typing import Any, Generic, ParamSpec, Self, TypeVar, overload

from callwright.client.download import DownloadRequest
from callwright.client.listing import Listing
from callwright.client.request import asked_with
from callwright.client.session import Session
from callwright.contract.declaration.model import Input, Resource
from callwright.contract.declaration.operation import AnyOperation, MediaStream, Operation
from callwright.contract.declaration.pagination import Page

P = ParamSpec("P")
In = TypeVar("In", bound=Input)
Out = TypeVar("Out")
Item = TypeVar("Item", bound=Resource)
Given = TypeVar("Given")


class Noun:
    """The methods for one kind of resource; an attribute of a client."""

    def __init__(self, session: Session) -> None:
        self.session = session


class OperationMethod(Generic[P, Given]):
    """A class attribute that becomes a method when reached through an instance. `operation` is what it calls."""

    def __init__(self, operation: AnyOperation, call: Callable[[Session, dict[str, Any]], Given]) -> None:
        self.operation = operation
        self._call = call
        self._name = operation.name

    def __set_name__(self, owner: type[Noun], name: str) -> None:
        self._name = name

    @overload
    def __get__(self, noun: None, owner: type[Noun]) -> Self: ...
    @overload
    def __get__(self, noun: Noun, owner: type[Noun]) -> Callable[P, Given]: ...
    def __get__(self, noun: Noun | None, owner: type[Noun]) -> "Self | Callable[P, Given]":
        if noun is None:
            return self

        def called(*args: P.args, **kwargs: P.kwargs) -> Given:
            if args:
                raise TypeError(f"{self._name}() takes keyword arguments only")
            return self._call(noun.session, kwargs)

        called.__name__ = self._name
        called.__qualname__ = f"{owner.__name__}.{self._name}"
        called.__doc__ = self.operation.summary
        return called


def method(operation: Operation[P, In, Out]) -> OperationMethod[P, Coroutine[Any, Any, Out]]:
    """A method that returns the operation's output when awaited."""

    async def call(session: Session, arguments: dict[str, Any]) -> Out:
        return await session.ask(operation, asked_with(operation, arguments))

    return OperationMethod(operation, call)


def listing(operation: Operation[P, In, Page[Item]]) -> OperationMethod[P, Listing[Item]]:
    """A method that returns a `Listing`: awaited it is one page, looped over it is every entry."""
    return OperationMethod(operation, lambda session, given: session.walk(operation, asked_with(operation, given)))


def download(operation: Operation[P, In, MediaStream]) -> OperationMethod[P, DownloadRequest]:
    """A method that returns a `DownloadRequest`: `async with` opens it, `.asking(range_bytes=...)` narrows it."""
    return OperationMethod(operation, lambda session, given: session.open(operation, asked_with(operation, given)))
