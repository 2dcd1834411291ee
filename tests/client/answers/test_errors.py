import inspect

from callwright import client
from callwright.client import errors


def _classes() -> dict[str, type[Exception]]:
    return {
        name: found
        for name, found in vars(errors).items()
        if inspect.isclass(found) and issubclass(found, errors.CallwrightError) and not name.startswith("_")
    }


def test_the_tree_in_the_docstring_names_every_error() -> None:
    tree = (errors.__doc__ or "").split()
    assert [name for name in _classes() if name not in tree] == []


def test_every_error_is_exported_by_the_package() -> None:
    assert [name for name in _classes() if getattr(client, name, None) is not _classes()[name]] == []
    assert set(client.__all__) >= set(_classes())


def test_a_broken_connection_is_retryable_when_nothing_was_sent_or_repeating_is_safe() -> None:
    for kind in (errors.ServiceTimeout, errors.ServiceUnreachable):
        assert kind("m", request_sent=False, repeatable=False).retryable
        assert kind("m", request_sent=True, repeatable=True).retryable
        assert not kind("m", request_sent=True, repeatable=False).retryable
