"""Is a history one that the model allows? Wing and Gong's search, over the model's own calls and steps.

Between the begin of a call and its end nobody sees what it does. The judge looks for moments at which calls could have
taken effect, and for steps, so that the model gives every answer of the history. It takes a begin at once, as others
may always come later, and tries effects and steps only before an end. Models are run again along a path, because
flows that wait cannot be copied. Paths that lead to the same state go on as one: each move from a state is made once,
whatever histories it is tried for.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, NamedTuple

from broker_tck.model.reference import Fault, Reference
from broker_tck.properties.engine.check import Difference, Recorded, check, disallowed, failed, observable
from broker_tck.properties.engine.concurrent import Call
from broker_tck.properties.engine.operation import Operation, clock_of
from broker_tck.properties.engine.written import unit_of, value_text
from broker_tck.properties.threads.history import Event, History, answer, step_of
from broker_tck.properties.threads.program import Program, promised

Done = frozenset[tuple[int, int]]
"""The calls, by thread and number, that have taken effect at their moment."""
Move = tuple[Any, ...]
"""What a path consists of: ``rest``, ``begin``, ``effect``, ``step``, ``end`` or ``stray``, and what it is about."""


class Broken(NamedTuple):
    """What no order of moments and steps explains."""

    event: int
    """The number of the event that cannot be; the number of events if all can, but not what is seen at rest."""
    expected: tuple[str, ...]
    """What the model allows there."""
    difference: Difference | None = None
    """What differs at rest."""
    at: int = 0
    """Which call at rest differs."""


class State:
    """The end of a path: whether the model allows its last move, and what may come next."""

    def __init__(self, before: State | None, move: Move) -> None:
        self.before, self.move = before, move
        self.next: dict[Move, State] = {}
        self.allowed = True
        self.broken: tuple[int, Difference] | None = None
        self.says = ""
        self.words: tuple[tuple[int, Any], ...] = ()
        self.strays: tuple[int, ...] = ()
        self.key: Hashable = None
        self.run: Run | None = None
        """The model there, until it has gone on from there."""

    def path(self) -> list[Move]:
        """All moves up to it."""
        moves, state = [self.move], self.before
        while state:
            moves.append(state.move)
            state = state.before
        return moves[::-1]


class Run:
    """A model that is run along a path."""

    def __init__(self, program: Program, model: type[Reference]) -> None:
        self.program = program
        self.model: Any = model(program.config)
        self.under_way: dict[int, tuple[int, Call]] = {}
        """By their threads, the calls under way that go in steps, each with its number."""
        self.broken: tuple[int, Difference] | None = None
        self.says = ""

    def does(self, move: Move) -> bool:
        """Make a move; whether the model allows it."""
        done: bool = getattr(self, move[0])(*move[1:])
        return done

    def rest(self, after: bool, outcomes: tuple[str, ...]) -> bool:
        """Calls that no other overlaps."""
        operations = self.program.after if after else self.program.before
        for at, (operation, outcome) in enumerate(zip(operations, outcomes, strict=False)):
            difference = check(operation, self.model, Recorded([step_of(operation, outcome)]))
            if difference:
                self.broken = at, difference
                self.says = shown(self.program, operation, difference, difference.expected)
                return False
        return True

    def effect(self, thread: int, number: int, result: str) -> bool:
        """A call takes effect at this moment."""
        operation = self.program.threads[thread][number]
        try:
            want = operation.on(self.model)
        except Fault as fault:
            want = failed(fault)
        difference = disallowed(want, answer(result))
        self.says = shown(self.program, operation, difference, difference.expected) if difference else ""
        return difference is None

    def begin(self, thread: int, number: int) -> bool:
        """A call in steps begins."""
        operation = self.program.threads[thread][number]
        concurrent = promised(self.program.contract)
        self.under_way[thread] = number, concurrent.steps[type(operation)](self.model, operation, thread)
        return True

    def step(self, thread: int, word: Any) -> bool:
        """A call in steps goes on."""
        self.under_way[thread][1].step(word)
        return True

    def end(self, thread: int, result: str) -> bool:
        """A call in steps ends."""
        _, call = self.under_way[thread]
        self.says = call.says()
        if not call.ends(answer(result)):
            return False
        del self.under_way[thread]
        return True

    def stray(self, which: int) -> bool:
        """A hint falls on something that it is not about."""
        hint = promised(self.program.contract).hint
        assert hint
        hint.stray(self.model, which)
        return True


def shown(program: Program, operation: Operation, difference: Difference, value: Any) -> str:
    """The expected or the seen value of a difference, as text."""
    unit = unit_of(program.contract, operation, observable(program.contract, difference))
    return value_text(value, clock_of(program.config), unit)


class Judge:
    """The judge of one program's histories."""

    def __init__(self, program: Program, model: type[Reference]) -> None:
        self.program, self.model, self.concurrent = program, model, promised(program.contract)
        self.starts: dict[tuple[str, ...], State] = {}
        self.known: dict[Hashable, State] = {}
        """The states that paths have led to, by their keys."""
        self.moves = 0
        """How many moves were tried."""

    # ---- States

    def start(self, outcomes: tuple[str, ...]) -> State:
        """The state when the threads start."""
        if outcomes not in self.starts:
            self.starts[outcomes] = self.run(State(None, ("rest", False, outcomes)))
        return self.starts[outcomes]

    def after(self, state: State, move: Move) -> State:
        """The state after one more move."""
        found = state.next.get(move)
        if found is None:
            found = state.next[move] = self.joined(self.run(State(state, move)))
        return found

    def joined(self, state: State) -> State:
        """The state itself, or that of another path if it is the same."""
        if state.key is None:
            return state
        known = self.known.setdefault(state.key, state)
        known.run = known.run or state.run  # a model in that state, so that the path need not be run again
        return known

    def run(self, state: State) -> State:
        """Run the model along a path, and note what matters at its end."""
        self.moves += 1
        before, moves = state.before, [state.move]
        if before and before.run:
            run, before.run = before.run, None
        else:
            run, moves = Run(self.program, self.model), state.path()
        for move in moves:
            state.allowed = run.does(move)
        state.says, state.broken = run.says, run.broken
        if state.allowed:
            state.run = run
            calls = run.under_way.items()
            state.words = tuple((thread, word) for thread, (_, call) in calls for word in call.words())
            if self.concurrent.fingerprint:
                numbers = tuple((thread, number) for thread, (number, _) in calls)
                state.key = self.concurrent.fingerprint(run.model), numbers
            state.strays = (*self.concurrent.hint.strays(run.model),) if self.concurrent.hint else ()
        elif before and state.move[0] == "end":  # which has done nothing
            before.run = run
        return state

    # ---- The search

    def broken(self, history: History) -> Broken | None:
        """What the model does not allow in a history that has an end; None if it allows all of it."""
        start = self.start(history.before)
        if not start.allowed:
            return Broken(-1, (start.says,), *reversed(start.broken or ()))
        search = Search(self, history)
        return None if search.explains(0, start, frozenset()) else search.broken()

    def strays(self, history: History) -> bool:
        """Whether stray marks, one for each call at most, explain a history that nothing else does."""
        start = self.start(history.before)
        most = sum(not event.ends for event in history.events) if self.concurrent.hint else 0
        return most > 0 and start.allowed and Search(self, history, most).explains(0, start, frozenset())


class Search:
    """The search for what explains one history."""

    def __init__(self, judge: Judge, history: History, strays: int = 0) -> None:
        self.judge, self.events, self.left, self.strays = judge, history.events, history.after, strays
        self.results = {event[:2]: event.result or "" for event in history.events if event.ends}
        self.tried: set[Hashable] = set()
        self.furthest, self.expected = -1, dict[str, None]()
        self.difference: tuple[int, Difference] | None = None

    def in_steps(self, event: Event) -> bool:
        """Whether an event is of a call in steps."""
        return type(self.judge.program.threads[event.thread][event.call]) in self.judge.concurrent.steps

    def explains(self, i: int, state: State, done: Done, strays: int = 0) -> bool:
        """Whether the events from number i on can be, after a path on which some calls have taken effect."""
        while i < len(self.events) and not self.events[i].ends:
            if self.in_steps(self.events[i]):
                state = self.judge.after(state, ("begin", *self.events[i][:2]))
            i += 1
        key = (i, state.key, done, strays)
        if state.key is not None and key in self.tried:
            return False
        self.tried.add(key)
        if i == len(self.events) and self.at_rest(state):
            return True
        return any(self.explains(*step) for step in self.steps(i, state, done, strays))

    def at_rest(self, state: State) -> bool:
        """Whether the model sees at rest what was seen."""
        final = self.judge.after(state, ("rest", True, self.left))
        if not final.allowed:
            self.note(len(self.events), final)
        return final.allowed

    def steps(self, i: int, state: State, done: Done, strays: int) -> Iterator[tuple[int, State, Done, int]]:
        """What may come next: the end of the event's call, or something that another call does before it."""
        event = self.events[i] if i < len(self.events) else None
        if event and event[:2] in done:
            yield i + 1, state, done, strays
            return
        if event and self.in_steps(event):
            if (after := self.ended(i, state, ("end", event.thread, event.result))).allowed:
                yield i + 1, after, done, strays
        elif event and (after := self.ended(i, state, ("effect", *event))).allowed:
            yield i + 1, after, done | {event[:2]}, strays
        yield from self.others(i, state, done, strays)

    def others(self, i: int, state: State, done: Done, strays: int) -> Iterator[tuple[int, State, Done, int]]:
        """What other calls under way may do before event i."""
        if i < len(self.events):
            for call in self.under_way(i, done):
                if (after := self.judge.after(state, ("effect", *call, self.results[call]))).allowed:
                    yield i, after, done | {call}, strays
            for thread, word in state.words:
                yield i, self.judge.after(state, ("step", thread, word)), done, strays
        if strays < self.strays:
            for which in state.strays:
                yield i, self.judge.after(state, ("stray", which)), done, strays + 1

    def under_way(self, i: int, done: Done) -> list[tuple[int, int]]:
        """The calls that have begun before event i, end behind it, and take effect at a moment that is to come."""
        ended = {event[:2] for event in self.events[: i + 1] if event.ends}
        begun = [event for event in self.events[:i] if not event.ends]
        return [e[:2] for e in begun if e[:2] not in ended and e[:2] not in done and not self.in_steps(e)]

    def ended(self, i: int, state: State, move: Move) -> State:
        """The state after an end, or the effect of the call that ends; what was expected is noted if it cannot be."""
        after = self.judge.after(state, move)
        if not after.allowed:
            self.note(i, after)
        return after

    def note(self, i: int, state: State) -> None:
        """Note what the model allows in place of what was seen, as far on as the search got."""
        if i > self.furthest:
            self.furthest, self.expected, self.difference = i, {}, state.broken
        if i == self.furthest and state.says:
            self.expected[state.says] = None

    def broken(self) -> Broken:
        """What cannot be explained."""
        at, difference = self.difference or (0, None)
        return Broken(self.furthest, (*self.expected,), difference, at)
