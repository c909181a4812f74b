"""Which test has told of a bug, so that the others which fail for it refer to that test in a line."""

from __future__ import annotations

from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.findings.diagnose import Diagnoser
from broker_tck.properties.findings.document import document
from broker_tck.properties.findings.finding import Finding
from broker_tck.properties.findings.one_bug import same_bug
from broker_tck.properties.findings.story import story

Told = dict[tuple[Subject, str], list[tuple[str, Finding]]]
"""What was told of a subject under a profile: the name of each test, with a finding."""

TOLD: Told = {}
"""What the tests of this process have told."""


def story_or_line(subject: Subject, profile: str, test: str, finding: Finding) -> str:
    """The story of a finding; where another test has told of its bug, a line that says which."""
    told = TOLD.setdefault((subject, profile), [])
    diagnoser = Diagnoser(subject.contract, subject.contract.model(profile), subject.rig, subject.capabilities)
    before = next((name for name, known in told if known is finding or same_bug(diagnoser, known, finding)), None)
    if before is None:
        told.append((test, finding))
    if before in (None, test):
        return story(document(finding))
    return f"the same failure as in {profile}-{before}: {document(finding).what}"
