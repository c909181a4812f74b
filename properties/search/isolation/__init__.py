"""Subjects that hang, crash or cannot be forked, kept from doing harm."""
