"""A person who talks with the contact through this process: what comes from one goes to the other."""

from callwright.service.telephony.media.other_side import OtherSide


class Through:
    """Takes what comes from the person, and gives it to the contact."""

    def __init__(self, contact: OtherSide) -> None:
        self._contact = contact

    async def sound(self, pcm: bytes) -> None:
        """Sound of the person."""
        self._contact.send_sound(pcm)

    async def keys(self, digits: str) -> None:
        """Keys of the person's telephone."""
        await self._contact.press(digits)

    async def typed(self, text: str) -> None:
        """A telephone types nothing."""

    def holds(self) -> None:
        """The person has put the call on hold: the contact hears what there is to hear."""
