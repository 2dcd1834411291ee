"""The error of a command that a person can fix. Importing it imports nothing else."""


class CommandError(Exception):
    """A command cannot be carried out; the text says why."""
