"""The errors that end a command."""


class BadInput(Exception):
    """The user's input cannot be used. The command prints its text as one line, and the exit status is 2."""


class Failed(Exception):
    """The kit, or the platform below it, failed. The command prints its text as one line; the exit status is 3."""


class KitFailed(Exception):
    """The kit has a bug. Its text is the traceback, from the process that failed; the exit status is 3."""
