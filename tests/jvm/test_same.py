"""Which releases have the same class: what is tested of one of them is tested of all."""

from __future__ import annotations

import pytest
from jvm.same import SAME, digest

from broker_tck.implementations.released import KINDS, tried


@pytest.mark.parametrize("kind", KINDS)
def test_releases_with_the_same_class_are_known(kind: str) -> None:
    groups = [group.split() for group in SAME[kind]]
    found: dict[str, list[str]] = {}
    for version in sorted(version for group in groups for version in group):
        found.setdefault(digest(kind, version), []).append(version)
    assert sorted(found.values()) == sorted(groups)


def test_every_release_of_the_pages_is_among_them() -> None:
    known = {(kind, version) for kind, groups in SAME.items() for group in groups for version in group.split()}
    assert {(kind.name, release.version) for _, kind, release in tried()} <= known
