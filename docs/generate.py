"""Writes the pages that come from the code: ``python docs/generate.py``. Run it after a change of rules or commands."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import bucket_pictures
import click
import crash_points
import defect_page
import figures_page
import queue_picture
import races_page
import topic_pictures
from bucket_defects import BUCKET_DEFECTS
from contract_pages import cell, contract_page
from topic_defects import TOPIC_DEFECTS

from broker_tck.cli.main import cli
from broker_tck.model.rules import Rule, clauses_of, deviates
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.mistakes.book import look
from broker_tck.properties.proving.proofs import stored
from broker_tck.properties.proving.prove import mistakes

FOLDER = Path(__file__).parent
WIDEST = 300
"""How many characters of a trace a table shows."""
WIDTH = 100
"""How wide the help is printed."""
MISTAKES = {name: mistakes(contract, contract.default) for name, contract in CONTRACTS.items()}
"""The known mistakes of each contract."""
PROOFS = {(proof.contract, proof.mistake): proof.trace for proof in stored() if not proof.invariant}
"""The trace that shows each."""
NOTE = "<!-- Written by docs/generate.py; change the code and run it. -->"

COMMAND_LINE = """\
What `broker-tck --help` and `broker-tck COMMAND --help` print. The same for every command:

| exit status | means |
| --- | --- |
| 0 | no finding |
| 1 | a finding |
| 2 | bad input: one line says what is wrong, where, and what would be right |
| 3 | the kit itself failed |
| 4 | not enough: no finding, but a required rule never came up |
| 130 | interrupted |
| 141 | whoever read standard output stopped reading (`head`, say); nothing is said of the subject |

Results are on standard output. With `--json` that is one JSON document, and everything else is on standard
error, also what a subject prints. The document of `check` has the number of its form in `schema`, and the versions
of kit and rules; its JSON Schema is `fixtures/schema/check.schema.json` in the package.

A subject (`--subject`) is the name of a bundled one, of a profile (its model), or of an entry point in the group
`broker_tck.subjects`, `package.module:Factory` (modules in the current folder are found), `mutant:NAME`, or
`exec:COMMAND`, a program that speaks [the protocol](protocol.md).
A trace is a file or one line of text, see [Traces](trace-format.md).

## How long it takes

These are seconds of the processor. `check` checks several subjects at a time, so it takes less time by the clock.
Compare the first row with your machine.

<!-- figures: commands --><!-- end of figures -->

Each class of a release of Pulsar starts a Java:

<!-- figures: java --><!-- end of figures -->

A command that takes longer than two seconds says how far it is: with a bar on a terminal, else with a line on standard
error after two seconds, and then each ten.

## Completion

Bash, Zsh and Fish complete commands, options, and the names of contracts, subjects, profiles, rules and mutants:

| shell | line | file |
| --- | --- | --- |
| Bash, 4.4 or later | `eval "$(_BROKER_TCK_COMPLETE=bash_source broker-tck)"` | `~/.bashrc` |
| Zsh | `eval "$(_BROKER_TCK_COMPLETE=zsh_source broker-tck)"` | `~/.zshrc` |
| Fish | `_BROKER_TCK_COMPLETE=fish_source broker-tck \\| source` | `~/.config/fish/completions/broker-tck.fish` |

In a virtual environment, that is a line to type after it is activated. Names with a colon, such as `mutant:NAME`, are
not completed.
"""

RULES = """\
Every rule of every contract, from the code that embodies it. `broker-tck rules DD-05` prints one of them.

- **Strength**: a *required* rule must be kept and exercised. An *invariant* is required as well; it follows from other
rules and is judged on what is observed of a subject, without the model. An *informative* rule cannot be checked at this
interface, and says why. - **Clauses**: a rule with several clauses has a sentence for each, with the method of the
reference model in brackets. - **Known mistakes**: what people get wrong, with the shortest trace that shows it. A name
with a colon is a wrong clause of the model; the others are broken implementations (`--subject mutant:NAME`).
`broker-tck prove` runs each as the subject. - **Profiles**: a profile *deviates* if it replaces a clause, which is
checked as strictly; it *breaks* an invariant; or the rule is *not applicable*, as it decides nothing there.
"""

MISBEHAVIOUR = """\
Your subject runs in its own process, which the kit guards. A check passes only if that process reports the pass, and
then reports that it has finished. Any other end of the process is a finding, with the operation at which it happened
and the shortest trace that shows it. The kit's tests run each of these subjects and compare what is seen:

{tables}
The same holds for `check`, `walk`, `replay`, `reduce`, `compare`, `interleave`, pytest, `from broker_tck import check`
and campaigns.

## Limits

| limit | is |
| --- | --- |
| one operation | 5 seconds of the processor, or 5 asleep; the same again for each thousand messages in bulk |
| making the first subject in a JVM | 24 times as long |
| memory | the process may grow by 512 MiB; a JVM limits its own heap |
| output | 64 KiB go to standard error; the rest is left out |

A process that waits for a core, or was stopped, is not asleep, so a slow machine changes no verdict. When an operation
reaches its limit, a line on standard error names it. The search for the shortest trace takes longer: half a minute for
a hang.

If your subject has its own timeout, raise `broker_tck.implementations.interface.Hang` when it expires. The kit reports
it like its own timeout.

## Without the process

`check --here` runs subjects in the command's own process, without limits, for profilers and debuggers. `check --pdb`
and `pytest --pdb` also run there, and stop in the subject's frame.

Isolation protects against accidents, not against malice: a subject has the rights of the user who runs the kit.
"""


def pages() -> dict[str, str]:
    """Every generated page and picture by its name."""
    made = {"command-line.md": command_line(), "rules.md": rules()}
    made |= {f"contracts/{name}.md": generated(contract_page(contract)) for name, contract in CONTRACTS.items()}
    made |= {f"rules/{name}.md": generated(rules_of_contract(contract)) for name, contract in CONTRACTS.items()}
    made |= {"crash-points.md": generated(crash_points.page()), "misbehaviour.md": generated(misbehaviour())}
    made |= {"bucket-defects.md": generated(defect_page.page(BUCKET_DEFECTS))}
    made |= {"topic-defects.md": generated(defect_page.page(TOPIC_DEFECTS))}
    pictures = {"size-pass.svg": queue_picture.size_pass(), "lives.svg": queue_picture.lives()}
    pictures |= {"bucket-life.svg": bucket_pictures.life(), "bucket-merge.svg": bucket_pictures.merge()}
    pictures |= {"topic-index.svg": topic_pictures.index(), "topic-views.svg": topic_pictures.views()}
    texts = {name: figures_page.filled("\n".join(lines) + "\n") for name, lines in made.items()}
    races = {"threads.md": races_page.filled((FOLDER / "threads.md").read_text(encoding="utf-8"))}
    return figures_page.pages() | texts | pictures | races


def misbehaviour() -> list[str]:
    """What is seen of subjects that misbehave, a table for each kind; `python tests/refresh.py` writes what is read."""
    seen: dict[str, dict[str, str]] = json.loads((FOLDER / "misbehaviour.json").read_text(encoding="utf-8"))
    tables = []
    for kind in dict.fromkeys(each["kind"] for each in seen.values()):
        rows = (each for each in seen.values() if each["kind"] == kind)
        told = (f"| {each['does']} | {each['seen'].rstrip(': ') or 'nothing: the check goes on'} |" for each in rows)
        tables.append("\n".join([f"| {kind}: it … | what is seen |", "| --- | --- |", *told]) + "\n")
    return ["# What a subject may do to its process", "", *MISBEHAVIOUR.format(tables="\n".join(tables)).splitlines()]


def generated(lines: Iterable[str]) -> Iterator[str]:
    """A page with the note that it is not to be edited."""
    yield from (NOTE, "", *lines)


# ---- The command line


def command_line() -> Iterator[str]:
    """The page of the commands."""
    yield from (NOTE, "", "# Command line", "", COMMAND_LINE)
    for path, command in commands(cli, ("broker-tck",)):
        context = context_of(path, command)
        yield from (f"{'#' * min(len(path) + 1, 3)} {' '.join(path)}", "", "```text")
        yield from (line.rstrip() for line in command.get_help(context).splitlines())
        yield from ("```", "")


def commands(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """A command and all below it."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below
            yield from commands(below, (*path, name))


def context_of(path: Sequence[str], command: click.Command) -> click.Context:
    """A context that prints help the same way everywhere."""
    context = click.Context(cli, info_name=path[0], terminal_width=WIDTH, **cli.context_settings)
    for name in path[1:]:
        settings: dict[str, Any] = {"info_name": name, "terminal_width": WIDTH, "max_content_width": WIDTH}
        context = click.Context(command, parent=context, **settings)
    return context


# ---- The rules


def rules() -> Iterator[str]:
    """The page that leads to the rules of each contract."""
    yield from (NOTE, "", "# Rules", "", RULES)
    yield from ("| contract | rules | checkable | invariants | informative |", "| --- | ---: | ---: | ---: | ---: |")
    for name, contract in CONTRACTS.items():
        known = contract.rules.values()
        checkable, invariants = sum(rule.checkable for rule in known), sum(rule.invariant for rule in known)
        counts = (len(known), checkable, invariants, len(known) - checkable)
        yield f"| [{name}](rules/{name}.md) | {' | '.join(map(str, counts))} |"


def rules_of_contract(contract: Contract) -> Iterator[str]:
    """The page of the rules of one contract."""
    known = contract.rules.values()
    others = list(contract.profiles)[1:]
    yield from (f"# Rules of {contract.name}", "", "How to read them: [Rules](../rules.md).", "")
    told = f"{len(known)} rules. The default profile is `{contract.default}`"
    yield from (f"{told}; there are also {', '.join(f'`{p}`' for p in others)}." if others else f"{told}.", "")
    yield from ("| rule | strength | sentence |", "| --- | --- | --- |")
    yield from (f"| [{r.number}](#{r.number.lower()}) | {strength(r)} | {cell(r.sentence)} |" for r in known)
    yield ""
    for rule in known:
        yield from one_rule(contract, rule)
    if contract.relations:
        yield from ("## Relations", "")
        yield from ("A changed trace has to change the outcomes in a known way, without the model:", "")
        yield from (f"- **{v.name}**: {v.sentence}" for v in contract.relations)
        yield ""


def one_rule(contract: Contract, rule: Rule) -> Iterator[str]:
    """All that is known of a rule."""
    first = contract.having(rule.number)
    clauses = [clause for clause in clauses_of(contract.profiles[first]) if clause.number == rule.number]
    yield from (f"## {rule.number}", "")
    yield from ([f"- {c.sentence} (`{c.path}`)" for c in clauses] if len(clauses) > 1 else [rule.sentence])
    yield from ("", f"Strength: {strength(rule)}. Source: {rule.source}.", "")
    if where := look(rule.number):
        yield from (f"Look first at: {where}.", "")
    if rule.why:
        yield from (f"Not checked, because {rule.why}.", "")
    if first != contract.default:
        yield from (f"Of profile `{first}` alone.", "")
    for profile in list(contract.profiles)[1:]:
        if profile != first and (said := in_profile(contract.profiles[profile], rule)):
            yield f"- Profile `{profile}`: {said}"
    yield from known_mistakes(contract, rule)
    yield ""


def known_mistakes(contract: Contract, rule: Rule) -> Iterator[str]:
    """A table of the known mistakes in a rule, each with the trace that shows it."""
    found = [each for each in MISTAKES[contract.name] if each.rule == rule.number]
    if found:
        yield from ("", "| known mistake | what it does | trace that shows it |", "| --- | --- | --- |")
    for each in found:
        seen = f" Seen: {each.seen}." if each.seen else ""
        trace = PROOFS.get((contract.name, each.name), "")
        name = each.name.removeprefix(f"{rule.number} ")
        yield f"| {cell(name)} | {cell(each.says + seen)} | {f'`{cell(shortened(trace))}`' if trace else ''} |"


def shortened(trace: str) -> str:
    """A trace, or the beginning of one that is too long for a cell."""
    return trace if len(trace) <= WIDEST else f"{trace[:WIDEST]} …"


def in_profile(model: Any, rule: Rule) -> str:
    """What a profile makes of a rule, where it does not keep it as it stands."""
    parts = [clause for clause in clauses_of(model) if clause.number == rule.number and deviates(model, clause)]
    said = [f"deviates ({', '.join(f'`{clause.path}`' for clause in parts)})"] if parts else []
    said += ["breaks it"] if rule.number in model.BREAKS else []
    said += ["not applicable"] if rule.number in model.NOT_APPLICABLE else []
    return ", ".join(said)


def strength(rule: Rule) -> str:
    """How binding a rule is."""
    return "invariant" if rule.invariant else str(rule.strength)


def main() -> None:
    """Write the pages."""
    for name, text in pages().items():
        (FOLDER / name).parent.mkdir(exist_ok=True)
        (FOLDER / name).write_text(text, encoding="utf-8")
        click.echo(f"wrote {FOLDER / name}")


if __name__ == "__main__":
    main()
