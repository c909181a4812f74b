"""The errors that a command ends with in one line."""


class BadInput(Exception):
    """What the user gave cannot be used. Its text is the one line that is shown; the exit status is 2."""


class Failed(Exception):
    """The kit, or what it runs on, failed. Its text is the one line that is shown; the exit status is 3."""


class KitFailed(Exception):
    """The kit has a bug. Its text is the traceback, from the process in which it showed; the exit status is 3."""
