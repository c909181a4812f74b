"""``subjects``: the names of all subjects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click
import msgspec

from broker_tck.cli.options import chosen_contract, contract_option, json_option
from broker_tck.cli.output import print_json, print_table
from broker_tck.implementations.go.client import KIND, TRIED, GoClient
from broker_tck.implementations.released import tried
from broker_tck.properties.engine.subjects import Modelled, bundled, declared, plugged_in


@click.command(epilog="\b\nExamples:\n  broker-tck subjects\n  broker-tck subjects --json\n")
@contract_option
@json_option
def subjects_command(contract_name: str | None, as_json: bool) -> None:
    """List the subjects of a contract: bundled, from other packages, and classes of Pulsar releases.

    A profile that no bundled implementation declares is a subject too: its model. Classes of other releases of Pulsar
    are subjects as well: pulsar-VERSION/CLASS. So are other releases of the Go client:
    pulsar-client-go-VERSION/negative-acks. If the kit was never run on a class of a release, its profile is a
    guess, and commands that use the profile say so.
    """
    contract = chosen_contract(contract_name)
    found = [(s, "model of the profile" if isinstance(s, Modelled) else "bundled") for s in bundled(contract)]
    for name, entry in plugged_in().items():
        try:
            subject = declared(name, entry.load())
        except Exception as error:
            click.echo(f"broker-tck: the entry point {name!r} cannot be loaded: {error}", err=True)
            continue
        if subject.contract is contract:
            found.append((subject, entry.value))
    told = [about(s.name, s.profiles, msgspec.to_builtins(s.capabilities), source) for s, source in found]
    for name, kind, release in tried(contract.name):
        if line := kind.line(release):
            told.append(about(name, [line.profile], dict(line.capabilities), f"released class {kind.java}"))
    if contract.name == KIND:
        clients = (GoClient(version, None) for version in TRIED)
        told += [about(c.name, [c.line.profile], c.line.capabilities, "tracker of the Go client") for c in clients]
    if as_json:
        print_json({"contract": contract.name, "subjects": told})
        return
    rows = [
        (
            t["subject"],
            ", ".join(t["profiles"]),
            ", ".join(f"{k}={str(v).lower()}" for k, v in t["capabilities"].items()),
            t["source"],
        )
        for t in told
    ]
    print_table("", ["subject", "profiles", "capabilities", "source"], rows)


def about(name: str, profiles: Sequence[str], capabilities: Mapping[str, Any], source: str) -> dict[str, Any]:
    """The details of a subject."""
    return {"subject": name, "profiles": [*profiles], "capabilities": capabilities, "source": source}
