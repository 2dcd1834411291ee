"""The commands are those of the stored definitions: none is missing, none has a name of its own."""

import re

from callwright.client import nouns as client
from callwright.client.method import Noun
from callwright.contract.surface import OPERATIONS
from callwright.server.commands.tool_commands.declared import declared_tools, in_commands, nouns
from callwright.tools.catalogue.registry import TOOLS


def test_every_tool_is_one_command() -> None:
    assert list(declared_tools()) == [tool.name for tool in TOOLS]
    commands = [tool.command for tool in declared_tools().values()]
    assert len(commands) == len(set(commands)) == len(TOOLS)
    assert all(re.fullmatch(r"[a-z]+(?:-[a-z]+)* [a-z]+(?:-[a-z]+)*", command) for command in commands)


def test_the_nouns_are_those_of_the_client() -> None:
    classes = {
        name.lower() for name, found in vars(client).items() if isinstance(found, type) and Noun in found.__bases__
    }
    with_tools = {operation.noun for operation in OPERATIONS.values() if not operation.no_tool}
    without_tools = {operation.noun for operation in OPERATIONS.values()} - with_tools
    assert without_tools == {"confirmations"}
    assert {noun.replace("-", "") if noun != "numbers" else "phonenumbers" for noun in nouns()} == (
        classes - without_tools
    )


def test_commands_have_the_names_a_person_guesses() -> None:
    found = {name: tool.command for name, tool in declared_tools().items()}
    assert found["list_calls"] == "calls list"
    assert found["import_audience"] == "audiences import"
    assert found["rent_phone_number"] == "numbers rent"
    assert found["get_transcript"] == "calls get-transcript"
    assert found["preview_deployment"] == "deployments preview"


def test_what_a_tool_is_about_comes_without_a_flag_and_all_else_with_one() -> None:
    import_errors = declared_tools()["list_import_errors"]
    assert [one.name for one in import_errors.arguments if one.in_path] == ["audience_id", "import_id"]
    created = declared_tools()["create_deployment"]
    assert not any(one.in_path for one in created.arguments)
    assert created.argument("caller-id-strategy") is not None


def test_no_argument_of_a_tool_has_the_name_of_a_flag_that_every_command_has() -> None:
    own = {"--json", "--reveal-numbers", "--data", "--database", "--help"}
    assert not own & {argument.flag for tool in declared_tools().values() for argument in tool.arguments}


def test_texts_for_people_name_commands_in_place_of_tools() -> None:
    assert in_commands("For counts use get_call_stats, not list_calls.") == (
        "For counts use `calls get-stats`, not `calls list`."
    )
    assert in_commands("with deployment_id") == "with deployment_id"
