"""A subject's answers as plain data, compared and shown without running code of the answers.

An answer may be any object, and its ``==``, ``repr`` or ``len`` may raise, lie or never come back. So everything here
looks at the exact type first, and reads what builtin types hold by methods of those types.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, count, islice
from math import isfinite
from typing import Any

from broker_tck.model.reference import UNDEFINED

MOST_BITS = 128
"""A number with more digits is shown by its length only."""
MOST_TEXT, KEPT_TEXT = 2_000, 1_000
"""Maximum number of characters of a text that are kept."""
MOST_VALUES = 300_000
"""An answer with more values, including lists, is shown by its type only."""
MOST_DEEP = 8
"""Maximum depth of nested lists."""


class Odd:
    """An answer that should be a number and is not, as an adapter shows it. It equals nothing.

    A comparison of all that is seen is fast as long as it meets numbers of ``int`` itself alone. It stops at this.
    """

    __slots__ = ("said",)

    def __init__(self, said: Any) -> None:
        self.said = said


class TooMany(Exception):
    """An answer holds more values than can be shown."""


# ---- What adapters do with what they were told

WHOLE, ROWS = frozenset({int}), frozenset({list})


def number(said: Any) -> int | Odd:
    """A number as an adapter shows it."""
    return said if type(said) is int else Odd(said)


def numbers(said: Any) -> list[int] | Odd:
    """Some numbers, as an adapter shows them."""
    items = listed(said)
    return items if type(items) is list and {*map(type, items)} <= WHOLE else Odd(items)


def rows(said: Any) -> list[list[int]] | Odd:
    """Some rows of numbers, as an adapter shows them."""
    items = listed(said)
    if type(items) is list:
        items = [item if type(item) is list else listed(item) for item in items]
        if {*map(type, items)} <= ROWS and {*map(type, chain.from_iterable(items))} <= WHOLE:
            return items
    return Odd(items)


def listed(said: Any) -> Any:
    """An iterable answer as a list, read up to the maximum number of values.

    A text and bytes are no lists, nor are sets and dictionaries, whose order says nothing: they are answered as they
    are, and so is what is not iterable.
    """
    kind = type(said)
    if kind is list:
        return said
    if (items := items_of(said)) is not None:
        return [*items]
    unordered = issubclass(kind, str | bytes | bytearray | set | frozenset | dict)
    return said if unordered or not hasattr(kind, "__iter__") else [*islice(said, MOST_VALUES + 1)]


class AnswerChanged(Exception):
    """A subject has changed a list that it had handed out."""


class HandedOut:
    """The lists that a subject has handed out. Whoever has one may read it until long after the next call.

    A get compares only the last list and its own, which may have been handed out before, so that it costs no more if
    there were many gets.
    """

    def __init__(self) -> None:
        self.last = 0
        self.given: dict[int, tuple[list[Any], list[Any]]] = {}
        """By its identity, each list with a copy. No other list gets this identity, as each is kept here."""

    def listed(self, said: Any) -> Any:
        """The next answer, see :func:`listed`. Raises AnswerChanged if a list is not what it was."""
        self.compare(self.last)
        answer = listed(said)
        if type(answer) is list:
            self.last = id(answer)
            self.compare(self.last)
            self.given[self.last] = answer, [*answer]
        return answer

    def compare(self, *lists: int) -> None:
        """Raise AnswerChanged if one of these lists, of those that were handed out, is not what it was."""
        for given, copy in filter(None, map(self.given.get, lists)):
            if given != copy:
                raise AnswerChanged("a list that a get handed out is another one now")

    def compare_all(self) -> None:
        """Raise AnswerChanged if any list is not what it was."""
        self.compare(*self.given)


def whole(said: Any, what: str) -> int:
    """A subject's number as an ``int``. Raises TypeError if it is none; the message says what it is for."""
    if type(said) is int:
        return said
    if isinstance_of(said, int) and type(said) is not bool:
        return int.__int__(said)
    raise TypeError(f"{what} must be a whole number, not {described(said)}")


def truth(said: Any, what: str) -> bool:
    """A subject's yes or no; None is no. Raises TypeError if it is neither; the message says what it is for."""
    if said is None or type(said) is bool:
        return said is True
    raise TypeError(f"{what} must be True or False, not {described(said)}")


def items_of(said: Any) -> Sequence[Any] | None:
    """The items of a list or a tuple; None if it is neither. A subclass is read like the builtin class."""
    kind = type(said)
    if kind is list or kind is tuple:
        items: Sequence[Any] = said
        return items
    if issubclass(kind, tuple):
        return tuple(tuple.__iter__(said))
    return list(list.__iter__(said)) if issubclass(kind, list) else None


# ---- Compared


def agree(want: Any, got: Any) -> bool:
    """Whether a subject's answer is the model's, to the type of each value; ``want`` is the model's, and plain.

    A list is as good as a tuple, and a class below ``int``, ``str``, ``list`` or ``tuple`` as that. Nothing else is:
    ``True`` is not 1, nor is 1.0, and no dictionary is an answer. Takes as long as ``want`` is, whatever ``got`` is.
    Lists of a model hold no bools.
    """
    kind = type(want)
    if kind is list or kind is tuple:
        if type(got) is kind:
            items = got
        elif (read := items_of(got)) is not None:
            items = kind(read)
        else:
            return got is UNDEFINED
        if len(items) != len(want):
            return False
        return not want or (exact(items) and want == items) or all(map(agree, want, items))
    if type(got) is kind:
        return kind is not dict and bool(want == got)
    if want is UNDEFINED or got is UNDEFINED:
        return True
    return (kind is int or kind is str) and isinstance_of(got, kind) and type(got) is not bool and want == base(got)


def agree_by_key(want: dict[str, Any], got: Any) -> bool:
    """Whether an adapter shows a dictionary with the same keys, each with the same value."""
    known = type(got) is dict and len(want) == len(got) and all(type(key) is str and key in want for key in got)
    return known and all(agree(value, got[key]) for key, value in want.items())


def holds(said: Any, *unwanted: type) -> bool:
    """Whether a value, as JSON has it, is of an unwanted type, or is a list that holds such a value at any depth.

    To Python, a bool and a float are equal to some whole numbers, and lists of them to lists of those.
    """
    if type(said) is not list:
        return type(said) in unwanted
    kinds = {*map(type, said)}
    return not kinds.isdisjoint(unwanted) or (list in kinds and any(holds(each, *unwanted) for each in said))


def exact(items: Sequence[Any]) -> bool:
    """Whether there are nothing but numbers and pairs of numbers, of builtin types, which ``==`` may compare."""
    try:
        for item in items:
            if type(item) is tuple:
                one, other = item
                if type(one) is not int or type(other) is not int:
                    return False
            elif type(item) is not int:
                return False
    except ValueError:  # it is no pair
        return False
    return True


# ---- Shown


def plain(said: Any) -> Any:
    """An answer as JSON has it, of bounded size: None, bool, int, float, str, and lists and dictionaries of these.

    What is none of these is told in a text such as ``<a numpy.int64>``. So is what cannot be shown: a number that is
    too long, a list that holds itself or too much.
    """
    if said is None or type(said) is bool:
        return said
    try:
        return plain_within(said, [], count(1))
    except TooMany:
        return f"{described(said)[:-1]} that holds more than {MOST_VALUES:,} values>"


def plain_within(said: Any, outer: list[Any], counted: Iterator[int]) -> Any:
    """A value as :func:`plain` has it, inside of lists and dictionaries; ``counted`` counts the values."""
    if next(counted) > MOST_VALUES:
        raise TooMany
    kind = type(said)
    if said is None or kind is bool:
        return said
    if kind is Odd:
        return plain_within(said.said, outer, counted)
    if issubclass(kind, int):
        whole = base(said)
        return whole if whole.bit_length() <= MOST_BITS else f"<a number of {whole.bit_length():,} bits>"
    if issubclass(kind, str):
        return text(base(said))
    if kind is float:
        return said if isfinite(said) else f"<{said}>"
    if said is UNDEFINED:
        return repr(said)
    holds = kind is dict and all(type(key) is str for key in said)
    if not holds and not issubclass(kind, list | tuple):
        return described(said)
    return contents(said, outer, counted)


def contents(said: Any, outer: list[Any], counted: Iterator[int]) -> Any:
    """A list, a tuple or a dictionary as :func:`plain` has it."""
    if outer and any(said is each for each in outer):
        return f"{described(said)[:-1]} that holds itself>"
    if len(outer) == MOST_DEEP:
        return f"{described(said)[:-1]} that is more than {MOST_DEEP} deep>"
    items = [*said.values()] if type(said) is dict else items_of(said) or ()
    if len(items) > MOST_VALUES:
        raise TooMany
    outer.append(said)
    held = [plain_within(item, outer, counted) for item in items]
    outer.pop()
    return dict(zip(map(text, said), held, strict=True)) if type(said) is dict else held


def text(said: str) -> str:
    """A text of bounded length. Half a character, which no file can hold, is written as its number."""
    if len(said) > MOST_TEXT:
        said = f"{said[:KEPT_TEXT]}… ({len(said):,} characters)"
    return said if said.isascii() else said.encode("utf-8", "backslashreplace").decode()


def described(said: Any) -> str:
    """An object, described by its class: ``<a numpy.int64>``."""
    name = class_name(type(said))
    return f"<{'an' if name[:1].lower() in tuple('aeiou') else 'a'} {name}>"


def class_name(kind: type, module: bool = True) -> str:
    """The name of a class; with its module, if that is asked for and the class is not builtin."""
    name, where = (type.__dict__[part].__get__(kind) for part in ("__name__", "__module__"))
    told = module and type(where) is str and where != "builtins"
    return text(f"{where}.{base(name)}" if told else base(name))


def message_of(error: BaseException) -> str:
    """The message of an error, of bounded length; empty if it cannot be read."""
    try:
        said = str(error)
    except Exception:
        return ""
    return text(base(said))


# ---- Builtin types, whatever a class of its own makes of them


def isinstance_of(said: Any, kind: type) -> bool:
    """Whether an object is of a class or one below it, whatever it gives for its ``__class__``."""
    return issubclass(type(said), kind)


def base(said: Any) -> Any:
    """A number or text of a class of its own as an ``int`` or a ``str``."""
    return int.__int__(said) if issubclass(type(said), int) else str.__str__(said)
