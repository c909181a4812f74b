"""How soon walks find what released bucket trackers do otherwise: ``python docs/bucket_finds.py``. Java is needed.

The class of each release walks along the profile of the release, from which it is not to differ. Then it walks along
that profile with one rule kept as specified, until it differs.
"""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from time import process_time
from typing import Any

import click
from finds_page import FINDS, RELEASES

from broker_tck.model.rules import deviations_of
from broker_tck.properties.contracts import CONTRACTS
from broker_tck.properties.engine.subjects import Subject, resolve
from broker_tck.properties.engine.walk import Walk, walks

AGREEING = 60
"""Walks along the profile of a release."""
MOST = 150
"""Walks after which a rule is given up."""
SEED = 0


@click.command()
@click.option("-o", "--output", default=str(FINDS), show_default="the file that the page is made of")
def main(output: str) -> None:
    """Write after how many walks each rule is found that a release's bucket tracker does otherwise."""
    found = {release: found_in(f"pulsar-{release}/bucket", profile) for profile, release in RELEASES.items()}
    text = json.dumps({"seed": SEED, "agreed": AGREEING, "most": MOST, "releases": found}, indent=1)
    Path(output).write_text(text + "\n", encoding="utf-8")


def found_in(name: str, profile: str) -> dict[str, dict[str, Any]]:
    """What is found of a class, by rule."""
    subject = resolve(name)
    if differing := differing_walk(subject, profile, AGREEING):
        raise click.ClickException(f"{name} differs from {profile}: walk {differing[0]}")
    found = {}
    for rule in deviating(profile):
        found[rule] = rule_found(subject, f"{profile}+{rule}")
        click.echo(f"{name} {rule} {found[rule]}")
    return found


def deviating(profile: str) -> list[str]:
    """The rules from which a profile deviates."""
    return sorted({way.rule.number for way in deviations_of(CONTRACTS["bucket-delivery"].model(profile))})


def rule_found(subject: Subject, profile: str) -> dict[str, Any]:
    """After how many walks a class leaves a profile, after so many operations of the last, and the seconds spent."""
    began = process_time()
    differing = differing_walk(subject, profile, MOST)
    seconds = round(process_time() - began, 1)
    if differing is None:
        return {"walks": None, "seconds": seconds}
    number, done = differing
    return {"walks": number + 1, "operations": len(done.operations), "seconds": seconds}


def differing_walk(subject: Subject, profile: str, most: int) -> tuple[int, Walk] | None:
    """The first of so many walks on which a subject leaves a profile, with its number."""
    contract = subject.contract
    made = walks(contract, SEED, count(), subject.rig, contract.model(profile), subject.capabilities)
    return next(((number, done) for number, done in zip(range(most), made, strict=False) if done.difference), None)


if __name__ == "__main__":
    main()
