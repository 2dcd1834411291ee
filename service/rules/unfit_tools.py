"""What is wrong with an agent's call tools."""


class Unfit(ValueError):
    """A field of a tool does not fit. The text follows the field's name."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
