"""The broker's bucket tracker of 4.2.4: buckets that are acknowledged are trimmed, one piece of upkeep at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from broker_tck.implementations.bucket_delivery.pulsar_bucket import ImmutableBucket
from broker_tck.implementations.bucket_delivery.pulsar_futures import Future, completed
from broker_tck.implementations.bucket_delivery.pulsar_ranges import Range, hash_order
from broker_tck.implementations.bucket_delivery.pulsar_tracker import Tracker


class Chained(Tracker):
    """Trims and merges in a chain that begins only when the last one has ended; a clear joins it."""

    _chain: Future[None] | None = None

    def _is_idle(self) -> bool:
        return self._chain is None or self._chain.done

    def _maintain(self) -> None:
        if self._is_idle():
            self._chain = attempted(lambda: self._trim().then_compose(lambda _: self._merge_if_too_many()))

    def _merge_if_too_many(self) -> Future[None]:
        return self._merge() if len(self._placed) > self._max_buckets else completed(None)

    # ---- Trim

    def _trim(self) -> Future[None]:
        """Delete the buckets all of whose ledgers are acknowledged, one after another, up to the first failure."""
        first_live = self._first_live()
        return self._trim_all({span: bucket for span, bucket in self._placed.entries() if span.upper[0] < first_live})

    def _trim_all(self, victims: dict[Range, ImmutableBucket]) -> Future[None]:
        trimmed = completed(None)
        for span in hash_order(victims):
            trimmed = trimmed.then_compose(lambda _, span=span: self._trim_one(span, victims[span]))  # type: ignore[misc]
        return trimmed

    def _trim_one(self, span: Range, bucket: ImmutableBucket) -> Future[None]:
        return bucket.delete().then(lambda _: self._trimmed(span, bucket))

    def _trimmed(self, span: Range, bucket: ImmutableBucket) -> None:
        self._placed.cut_out(span)
        self._forget_trimmed(bucket)

    def _forget_trimmed(self, bucket: ImmutableBucket) -> None:
        self._tails = {tail: each for tail, each in self._tails.items() if each is not bucket}
        self._members.trimmed(bucket)

    # ---- Clear

    def clear(self) -> None:
        """Forget every message, and delete every snapshot, as soon as the chain has ended, well or not."""
        before = self._chain if self._chain is not None else completed(None)
        self._chain = before.exceptionally(None).then_compose(lambda _: self._forget_all())


class PulsarBuckets42(Chained):
    """The mark-delete position is looked at; the count is still a number of its own."""

    profiles: ClassVar[tuple[str, ...]] = ("bucket-4.2",)


def attempted(begin: Callable[[], Future[None]]) -> Future[None]:
    """What a call begins; its error as a future, too."""
    return completed(None).then_compose(lambda _: begin())
