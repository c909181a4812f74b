"""What is wrong with what the kit was given."""


class BadInput(Exception):
    """One line that says what was wrong, where, and what would be right."""
