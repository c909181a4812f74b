"""How many walks find what released bucket trackers do otherwise: ``python docs/bucket_finds.py``. It needs Java.

The class of each release walks along the profile of the release, from which it must not differ. Then it walks along
that profile with one rule kept as specified, until it differs.
"""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path

import click
from finds_page import FINDS, RELEASES

from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.subjects import Subject, resolve
from broker_tck.properties.engine.walk import walks
from broker_tck.properties.mistakes.book import deviations_of

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


def found_in(name: str, profile: str) -> dict[str, int | None]:
    """After how many walks each rule is found of a class; None: it was not found."""
    subject = resolve(name)
    if (differing := differing_walk(subject, profile, AGREEING)) is not None:
        raise click.ClickException(f"{name} differs from {profile}: walk {differing}")
    found = {}
    for rule in deviating(profile):
        number = differing_walk(subject, f"{profile}+{rule}", MOST)
        found[rule] = None if number is None else number + 1
        click.echo(f"{name} {rule} {found[rule]}")
    return found


def deviating(profile: str) -> list[str]:
    """The rules from which a profile deviates."""
    return sorted({way.rule.number for way in deviations_of(CONTRACTS["bucket-delivery"].model(profile))})


def differing_walk(subject: Subject, profile: str, most: int) -> int | None:
    """The number of the first walk, of so many, on which a subject leaves a profile."""
    contract = subject.contract
    made = walks(contract, SEED, count(), subject.rig, contract.model(profile), subject.capabilities)
    return next((number for number, done in zip(range(most), made, strict=False) if done.difference), None)


if __name__ == "__main__":
    main()
