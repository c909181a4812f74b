"""Why a subject of Java cannot be had here."""


class Unavailable(Exception):
    """A subject cannot be had: no Java, no jars, a class of another shape. The text says what to do, in one line."""
