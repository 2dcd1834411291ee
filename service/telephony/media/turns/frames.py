"""The frames of the pipeline that Pipecat does not have: where turns of the agent begin and end, and its words."""

from dataclasses import dataclass

from pipecat.frames.frames import ControlFrame, TTSTextFrame

from callwright.service.telephony.engine import TurnSource
from callwright.service.telephony.media.findings import Then


@dataclass
class TurnBegins(ControlFrame):
    """Stands before everything of one turn of the agent, and passes through the queue of its sound."""

    source: TurnSource
    language: str


@dataclass
class TurnEnds(ControlFrame):
    """Stands behind everything of one turn of the agent."""

    then: Then = "listen"


@dataclass
class ToolsCalled(ControlFrame):
    """Stands in an answer of a model that calls tools: it may have no words."""


@dataclass
class SpokenWord(TTSTextFrame):
    """A word whose sound stands before it in the queue."""
