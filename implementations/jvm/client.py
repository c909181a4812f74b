"""The client around a tracker of Java's: its consumer and its configuration are stand-ins, its ids are Java's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from broker_tck.implementations.interface import Clocks, NackTimer, Timeout
from broker_tck.implementations.jvm.loader import Loader
from broker_tck.implementations.jvm.netty import netty_timer
from broker_tck.implementations.jvm.standins import Methods, of_class, weakly

API = "org/apache/pulsar/client/api/"
CLIENT = "org/apache/pulsar/client/impl/"
CHUNKS = "unAckedChunkedMessageIdSequenceMap"
"""Where a consumer notes the chunks of a message as it receives it."""
CONCURRENT = "org.apache.pulsar.common.util.collections.ConcurrentOpenHashMap"
"""What that is in 3.0; a map of Java's own later."""
NO_PARTITION = -1


class Clients:
    """What clients of a release are made of. ``client`` and ``consumer`` name the methods that a tracker calls."""

    def __init__(self, loader: Loader, client: Sequence[str], consumer: Sequence[str]) -> None:
        """Load the classes."""
        self.loader = loader
        self.id, self.in_batch, self.in_chunks = (
            loader.named(f"{CLIENT}{kind}MessageIdImpl") for kind in ("", "Batch", "Chunk")
        )
        self.new_array = loader.jpype.JClass("java.lang.reflect.Array").newInstance
        self.configuration = loader.named(f"{CLIENT}conf/ConsumerConfigurationData")
        self.client = of_class(loader, f"{CLIENT}PulsarClientImpl".replace("/", "."), client)
        self.consumer = of_class(loader, f"{CLIENT}ConsumerBase".replace("/", "."), consumer)
        self.chunks = loader.named(f"{CLIENT}ConsumerBase").class_.getDeclaredField(CHUNKS)
        self.chunks.setAccessible(True)

    def backoff(self, delays: Sequence[int]) -> Any:
        """A backoff of the delay for each redelivery count; the last for all above."""
        last = len(delays) - 1
        answers = Methods({"next": lambda count: delays[min(int(count), last)]})
        return self.loader.jpype.JProxy(self.loader.named(f"{API}RedeliveryBackoff"), inst=answers)

    def chunk_map(self) -> Any:
        """An empty map of the chunks of messages."""
        if str(self.chunks.getType().getName()) == CONCURRENT:
            return self.loader.named(CONCURRENT).newBuilder().build()
        return self.loader.jpype.JClass("java.util.concurrent.ConcurrentHashMap")()


class JavaTracker:
    """A tracker of Java's behind the kit's interface. Before each call Java is told the time."""

    def __init__(self, made_of: Clients, clocks: Clocks, timer: NackTimer) -> None:
        self._made_of, self._clocks, self._timer = made_of, clocks, timer
        self._ready()
        self._wheel = netty_timer(made_of.loader, weakly(self._arm))
        self._followed: list[tuple[int, Any]] = []
        """Ids of a class of their own, each with Java's weak reference to the id that Java was given for it."""
        self._chunks = made_of.chunk_map()

    def _consumer_with(self, answers: dict[str, Callable[..., Any]]) -> Any:
        """The consumer, which notes the chunks of what it receives."""
        java = self._made_of.consumer(answers)
        self._made_of.chunks.set(java, self._chunks)
        return java

    def _ready(self) -> None:
        loader = self._made_of.loader
        loader.ready(self._clocks.wall())
        loader.held.monotonic = self._clocks.monotonic()

    def _arm(self, delay: int, fire: Callable[[], None]) -> Any:
        def fired(_timeout: Timeout) -> None:
            self._ready()
            fire()

        return self._timer.new_timeout(self._clocks.monotonic() + delay, fired)

    def _java_id(self, ledger: int, entry: int, index: int, chunks: Sequence[int], received: bool = True) -> Any:
        """An id; the chunks of a message that is received are noted, as a consumer does."""
        made_of = self._made_of
        if index >= 0:
            java = made_of.in_batch(ledger, entry, NO_PARTITION, index)
        elif not chunks:
            java = made_of.id(ledger, entry, NO_PARTITION)
        else:
            each = made_of.new_array(made_of.id.class_, len(chunks))
            each[:] = [made_of.id(ledger, chunk, NO_PARTITION) for chunk in chunks]
            java = made_of.in_chunks(each[0], each[len(chunks) - 1])
            if received:
                self._chunks.put(java, each)
        if type(entry) is not int:  # of a plain number nobody asks what has become of it
            self._followed.append((entry, made_of.loader.jpype.java.lang.ref.WeakReference(java)))
        return java

    def collect_garbage(self) -> None:
        """Have Java collect its garbage, and let go of the ids that it has let go of."""
        self._made_of.loader.jpype.java.lang.System.gc()
        self._followed = [(number, java) for number, java in self._followed if java.get() is not None]
