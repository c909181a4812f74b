"""``rules``: the rules of a contract."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from broker_tck.cli import completion
from broker_tck.cli.options import chosen_contract, chosen_profile, contract_option, json_option
from broker_tck.cli.output import print_json, print_table
from broker_tck.cli.terminal import width_here
from broker_tck.implementations.naming import unknown
from broker_tck.model.rules import Rule, Strength, by_number, clauses_of, rules_of
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.mistakes import called, names_of
from broker_tck.properties.engine.subjects import mutants
from broker_tck.properties.errors import BadInput
from broker_tck.properties.mistakes.book import look, mistakes_of, mistakes_with_replaced, standing_before
from broker_tck.properties.report.lines import filled
from broker_tck.properties.search.exercised import deviating

RULES_EXAMPLES = """\b
Examples:
  broker-tck rules
  broker-tck rules DD-05 DD-06
  broker-tck rules --profile heap --json
"""


@click.command(epilog=RULES_EXAMPLES)
@click.argument("numbers", nargs=-1, metavar="[RULE]...", shell_complete=completion.rules)
@contract_option
@click.option(
    "--profile",
    metavar="P",
    shell_complete=completion.profiles,
    help="The profile. Default: the contract's own profile.",
)
@json_option
def rules_command(numbers: tuple[str, ...], contract_name: str | None, profile: str | None, as_json: bool) -> None:
    """List a contract's rules; with rule numbers, print the details of these rules."""
    numbers = tuple(number.upper() for number in numbers)
    contract = chosen_contract(contract_name, rules=numbers)
    model = contract.model(chosen_profile(contract, profile))
    known = {rule.number: rule for rule in rules_of(model)}
    if numbers and not profile:
        known = contract.rules
    for number in numbers:
        if number not in known:
            near = [each for each in known if by_number(each)[1] == by_number(number)[1]]
            raise BadInput(unknown("rule", number, near, of=contract.name, told=f"there are {families(known)}"))
    models = {number: model if profile else contract.model(contract.having(number)) for number in numbers or known}
    told = [rule_json(contract, models[number], known[number]) for number in numbers or known]
    if as_json:
        print_json({"contract": contract.name, "profile": model.PROFILE, "rules": told})
    elif numbers:
        for rule in told:
            print_rule(rule)
    else:
        rows = [(r["number"], r["strength"], len(r["ways"]), len(r["mutants"]), r["sentence"]) for r in told]
        print_table("", ["rule", "strength", "ways", "mutants", "sentence"], rows, right=(2, 3))


def families(known: Iterable[str]) -> str:
    """The numbers of rules in few words: the first and the last of each family."""
    firsts = {by_number(number)[0]: number for number in sorted(known, key=by_number, reverse=True)}
    lasts = {by_number(number)[0]: number for number in sorted(known, key=by_number)}
    return ", ".join(f"{firsts[family]} to {lasts[family]}" for family in sorted(firsts))


def rule_json(contract: Contract, model: Any, rule: Rule) -> dict[str, Any]:
    """All that is known of a rule."""
    clauses = [clause for clause in clauses_of(model) if clause.number == rule.number]
    known = [mistake for mistake, _ in mistakes_with_replaced(model, rule.number)]
    accepted = names_of(mistakes_of(model, rule.number))
    further = [mistake.name for mistake in standing_before(model) if mistake.rule == rule]
    return {
        "number": rule.number,
        "sentence": rule.sentence,
        "strength": strength(model, rule),
        "source": rule.source,
        "look": look(rule.number) if rule.checkable else rule.why,
        "clauses": [clause.path for clause in clauses],
        "sentences": {clause.path: clause.sentence for clause in clauses},
        "ways": [called(mistake, by_clause=True) for mistake in known if not mistake.stands_before] + further,
        "accepts": [{"name": name, "words": mistake.says} for name, mistake in accepted.items()],
        "mutants": [m.name for m in mutants(contract) if m.rule == rule.number],
    }


def strength(model: Any, rule: Rule) -> str:
    """How binding a rule is under the model's profile."""
    if rule.number in model.BREAKS or rule.number in deviating(model):
        return "deviation"
    if rule.number in model.NOT_APPLICABLE:
        return "not applicable"
    return "invariant" if rule.invariant else str(rule.strength)


def print_rule(rule: dict[str, Any]) -> None:
    """Print all that is known of a rule."""
    click.echo(f"{rule['number']}  {rule['sentence']}")
    click.echo(f"  strength  {rule['strength']}")
    click.echo(f"  source    {rule['source']}")
    label = "why so" if rule["strength"] == Strength.INFORMATIVE else "look at"
    click.echo(f"  {label:<9} {rule['look']}")
    for name in ("clauses", "mutants"):
        if rule[name]:
            click.echo(f"  {name:<9} {', '.join(rule[name])}")
    if rule["accepts"]:
        click.echo("  mistakes  by the names that `accepts` takes:")
    for mistake in rule["accepts"]:
        click.echo(f"    {mistake['name']!r}")
        for line in filled("        ", mistake["words"], width_here()) if mistake["words"] else ():
            click.echo(line)
    click.echo("")
