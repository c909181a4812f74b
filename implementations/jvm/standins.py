"""Stand-ins that answer by functions of Python: for interfaces, and for classes that are too large to make."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any
from weakref import WeakMethod, ref

from broker_tck.implementations.jvm.loader import Loader

Answers = Mapping[str, Callable[..., Any]]
"""What each method answers, by its name."""
HANDLER = "handler"
MOST_WAITED = 5_000
"""Maximum number of times that Java waits for a millisecond until Python has let go of what Java has let go of."""


class Handler:
    """Java's InvocationHandler: calls of all methods come in here."""

    def __init__(self, answers: Answers) -> None:
        self.answers = answers

    def invoke(self, _this: Any, method: Any, arguments: Any) -> Any:
        """Answer a call."""
        return self.answers[str(method.getName())](*(arguments or ()))


def weakly(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method for Java to call, which does not keep its object alive.

    What Java holds is let go with Java's own. If it led back to what holds Java's, neither would ever be.
    """
    there = WeakMethod(method)

    def call(*arguments: Any) -> Any:
        found = there()
        assert found is not None, "Java calls only while it is called"
        return found(*arguments)

    return call


class Methods:
    """An object with some methods, for Java to call.

    Java finds them without any step of Python's, as it does not in a dictionary: there an exception that comes on the
    way, such as that of a signal, is lost, and what is told is that there is no such method.
    """

    def __init__(self, answers: Answers) -> None:
        vars(self).update(answers)


def of_interface(loader: Loader, name: str, answers: Answers) -> Any:
    """An object of an interface. A method that has no answer here cannot be called."""
    return loader.jpype.JProxy(loader.named(name), inst=Methods(answers))


class OwnAnswers(dict[str, Any]):
    """The answers of one proxy. They can be followed, which a proxy cannot."""


class Handed:
    """What was handed over to Java, as long as Java refers to it."""

    def __init__(self, loader: Loader) -> None:
        self._java = loader.jpype.java.lang
        self._proxies: list[tuple[Any, ref[Any]]] = []

    def note(self, proxy: Any, answers: OwnAnswers) -> None:
        """A proxy with these answers is about to be handed over."""
        self._proxies.append((self._java.ref.WeakReference(proxy), ref(answers)))

    def collect_garbage(self) -> None:
        """Have Java collect its garbage. What it has let go of, a thread of JPype's lets go of soon: wait for that."""
        self._java.System.gc()
        going = [answers for java, answers in self._proxies if java.get() is None]
        for _ in range(MOST_WAITED):
            if all(answers() is None for answers in going):
                break
            self._java.Thread.sleep(1)
        self._proxies = [(java, answers) for java, answers in self._proxies if answers() is not None]


def of_class(loader: Loader, name: str, methods: Sequence[str]) -> Callable[[Answers], Any]:
    """Makes objects of a subclass, without calling any constructor, that answer some methods; the rest is inherited."""
    made = by_handler(loader, name, tuple(methods))
    return lambda answers: made(Handler(answers))


@cache
def by_handler(loader: Loader, name: str, methods: tuple[str, ...]) -> Callable[[Any], Any]:
    """The same; the object asks its handler, whose method ``invoke`` gets the object, the method, the arguments.

    The object's field ``handler`` is its handler.
    """
    jpype = loader.jpype
    buddy = "net.bytebuddy."
    matchers = jpype.JClass(buddy + "matcher.ElementMatchers")
    strategy = jpype.JClass(buddy + "dynamic.scaffold.subclass.ConstructorStrategy$Default").NO_CONSTRUCTORS
    invoking = jpype.JClass("java.lang.reflect.InvocationHandler")
    adapter = jpype.JClass(buddy + "implementation.InvocationHandlerAdapter")
    public = jpype.JClass(buddy + "description.modifier.Visibility").PUBLIC
    kind = loader.named(name)
    made = (
        jpype.JClass(buddy + "ByteBuddy")()
        .subclass(kind.class_, strategy)
        .name(f"{kind.class_.getName()}$StandIn")
        .defineField(HANDLER, invoking.class_, public)
        .method(matchers.namedOneOf(*methods))
        .intercept(adapter.toField(HANDLER))
        .make()
    )
    loader.define(bytes(made.getBytes()))
    child = loader.named(f"{kind.class_.getName()}$StandIn")
    blank = blank_maker(jpype, child)

    def stand_in(handler: Any) -> Any:
        one = blank()
        setattr(one, HANDLER, jpype.JProxy(invoking, inst=handler, convert=True))
        return one

    return stand_in


def blank_maker(jpype: Any, kind: Any) -> Callable[[], Any]:
    """Makes objects of a class as deserialization does: no constructor of it, or of what it extends, runs."""
    factory = jpype.JClass("sun.reflect.ReflectionFactory").getReflectionFactory()
    plain = jpype.java.lang.Object.class_.getDeclaredConstructor()
    constructor = factory.newConstructorForSerialization(kind.class_, plain)
    made: Callable[[], Any] = constructor.newInstance
    return made
