"""Laws and variations of contract ``topic-delivery``: each is seen to be broken by something."""

from __future__ import annotations

import pytest

from broker_tck.implementations.topic_delivery.tracker_each import TrackerEach
from broker_tck.model.topic_delivery.specification import TopicDelivery
from broker_tck.properties.contracts import CONTRACTS
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.subjects import Subject, as_subject, declared, resolve
from broker_tck.properties.engine.walk import walk, walk_seed
from broker_tck.properties.mistakes.book import ways_of
from broker_tck.properties.worth.deviating import broken_by

TOPICS: Contract = CONTRACTS["topic-delivery"]
BY_THE_TICK = next(way for way in ways_of(TopicDelivery) if str(way) == "DD-05 buckets.key: by_the_tick")
BREAKERS = {
    "TD-04": "mutant:topic-bucket-due-at-its-start",
    "TD-33": declared("kit:each", TrackerEach, TOPICS),
    "TD-34": "mutant:topic-equality-accepted",
    "TD-35": "mutant:firing-asks-one-view",
    "TD-36": "mutant:prunes-what-is-due-alone",
    "TD-37": "mutant:whole-sets-are-done",
    "isolation": "mutant:available-to-all",
    "keeping": "mutant:only-first-view-tells-tick",
    "shift": as_subject(str(BY_THE_TICK), TOPICS, BY_THE_TICK.applied_to(TopicDelivery)),
}
"""What breaks each law and variation."""


def test_every_law_is_a_rule_and_has_what_breaks_it() -> None:
    laws = {law.number for law in TOPICS.laws}
    assert {rule.number for rule in TopicDelivery.UNEMBODIED if rule.law} == laws
    assert set(BREAKERS) == laws | {variation.name for variation in TOPICS.variations}


@pytest.mark.parametrize("name", BREAKERS)
def test_each_law_and_variation_is_seen_to_be_broken(name: str) -> None:
    breaker = BREAKERS[name]
    subject = breaker if isinstance(breaker, Subject) else resolve(breaker)
    itself, can = lambda config, _: TopicDelivery(config), subject.capabilities
    walks = (walk(TOPICS, walk_seed(7, number), itself, TopicDelivery, can) for number in range(60))
    assert any(name in broken_by(TOPICS, done, subject.rig, can, {name}) for done in walks)
