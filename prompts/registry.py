"""Prompts for the work people do with campaigns. Each text is a Markdown file beside this module."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from string import Template

_FOLDER = Path(__file__).parent
_LONGEST_ARGUMENT = 4_000
_MOST_NAMED = 20
"""Unknown arguments that are named, and the characters of each are bounded too; the others are counted."""
_LONGEST_NAME = 40
_TOOL = re.compile(r"`([a-z]+_[a-z_]+)`")


class PromptArgumentError(ValueError):
    """The arguments of a prompt are not what it takes. The message names them and repeats no value."""


@dataclass(frozen=True)
class Argument:
    """What a person fills in. `absent` stands in the text when the argument is left out; without it, it is required."""

    name: str
    description: str
    absent: str = ""

    @property
    def required(self) -> bool:
        """Whether the prompt cannot do without it."""
        return not self.absent


@dataclass(frozen=True)
class Prompt:
    """A prompt: its name, how hosts show it, and what it takes."""

    name: str
    title: str
    description: str
    arguments: tuple[Argument, ...]

    @cached_property
    def tools(self) -> frozenset[str]:
        """Every tool that its text names, each in backticks. It is offered only where all of them are switched on."""
        return frozenset(_TOOL.findall(self.template()))

    def template(self) -> str:
        """The Markdown text with a `$name` for each argument."""
        return (_FOLDER / f"{self.name}.md").read_text(encoding="utf-8")

    def text(self, given: Mapping[str, str]) -> str:
        """The prompt with its arguments filled in.

        Raises:
            PromptArgumentError: an argument is missing, empty, unknown or longer than 4,000 characters.
        """
        known = [argument.name for argument in self.arguments]
        unknown = sorted(set(given) - set(known))
        if unknown:
            named = ", ".join(name[:_LONGEST_NAME] for name in unknown[:_MOST_NAMED])
            more = f" and {len(unknown) - _MOST_NAMED} more" if len(unknown) > _MOST_NAMED else ""
            raise PromptArgumentError(f"{self.name} has no argument {named}{more}; it takes {', '.join(known)}")
        return Template(self.template()).substitute({entry.name: _value(entry, given) for entry in self.arguments})


def _value(argument: Argument, given: Mapping[str, str]) -> str:
    value = given.get(argument.name, "")
    if len(value) > _LONGEST_ARGUMENT:
        raise PromptArgumentError(f"{argument.name} must have at most {_LONGEST_ARGUMENT} characters")
    if value.strip():
        return value.strip()
    if argument.required:
        raise PromptArgumentError(f"{argument.name} is required: {argument.description}")
    return argument.absent


_DEPLOYMENT = Argument("deployment_id", "Id of the campaign (dep_…).")

PROMPTS: tuple[Prompt, ...] = (
    Prompt(
        name="plan_campaign",
        title="Plan a calling campaign",
        description="From a goal to a draft campaign with its preview: agent, audience, number, hours, budget.",
        arguments=(
            Argument("goal", "What the calls are to achieve, in your own words."),
            Argument("audience", "Name or id of the audience to call, if it exists already.", absent="none named yet"),
            Argument(
                "agent", "Name or id of the agent that is to speak, if it exists already.", absent="none named yet"
            ),
        ),
    ),
    Prompt(
        name="launch_checklist",
        title="Check a campaign before it starts",
        description="Everything that should be right before people are called, line by line, with a verdict.",
        arguments=(_DEPLOYMENT,),
    ),
    Prompt(
        name="analyse_campaign",
        title="Analyse a campaign",
        description="The results of a campaign, who was not reached, what people asked, and what to change.",
        arguments=(_DEPLOYMENT,),
    ),
    Prompt(
        name="review_call",
        title="Review a call",
        description="How one call went, turn by turn, and what the agent should do differently.",
        arguments=(
            Argument("call_id", "Id of the call (cal_…)."),
            Argument(
                "deployment_id", "Id of its campaign (dep_…): only calls of that are suggested.", absent="not named"
            ),
        ),
    ),
    Prompt(
        name="debug_failed_calls",
        title="Find out why calls fail",
        description="Which calls of a campaign fail and why, with the settings that would help.",
        arguments=(
            _DEPLOYMENT,
            Argument("call_id", "Id of a call (cal_…) to begin with.", absent="whatever is most frequent"),
        ),
    ),
    Prompt(
        name="improve_agent_from_calls",
        title="Improve an agent from its calls",
        description="A better prompt for an agent, each change tied to what was said on calls.",
        arguments=(
            Argument("agent", "Name or id of the agent."),
            Argument(
                "deployment_id",
                "Id of the campaign (dep_…) whose calls to learn from; all calls of the agent when left out.",
                absent="all campaigns of the agent",
            ),
        ),
    ),
    Prompt(
        name="answer_from_transcripts",
        title="Answer a question from transcripts",
        description="Answers a question from what people said, with the call and turn for every claim.",
        arguments=(
            Argument("question", "What you want to know."),
            Argument(
                "deployment_id",
                "Id of the campaign (dep_…) whose calls to read; all calls when left out.",
                absent="not limited to one campaign",
            ),
        ),
    ),
)


def prompt_named(name: str) -> Prompt | None:
    """The prompt, if there is one of that name."""
    return next((prompt for prompt in PROMPTS if prompt.name == name), None)


def offered(name: str, offers: Callable[[str], bool]) -> bool:
    """Whether every tool that a prompt names is switched on. A prompt of another registry is offered always."""
    prompt = prompt_named(name)
    return prompt is None or all(map(offers, prompt.tools))
