"""The JSON Schema of traces."""

from __future__ import annotations

from inspect import cleandoc
from typing import Any

import msgspec

from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.program import PROTOCOL, Header, Hello, Welcome
from broker_tck.properties.engine.trace import VERSION


def schema(contract: Contract) -> dict[str, Any]:
    """The JSON Schema of a line of a contract's trace files."""
    (config, operation), definitions = msgspec.json.schema_components(
        [contract.config, contract.operations], ref_template="#/$defs/{name}"
    )
    outcome = [operation, {}, *({} for _ in contract.observables)]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"A trace of contract {contract.name}",
        "type": "object",
        "properties": {
            "version": {"const": VERSION},
            "contract": {"const": contract.name},
            "profile": {"pattern": profile_pattern(contract)},
            "config": config,
            "name": {"type": "string"},
            "steps": {"type": "array", "items": {"anyOf": [operation, {"$ref": "#/$defs/with_outcome"}]}},
        },
        "required": ["version", "contract", "profile", "config", "steps"],
        "additionalProperties": False,
        "$defs": {
            **{name: undented(definition) for name, definition in definitions.items()},
            "with_outcome": {
                "description": f"An operation, its result, and what was seen then: {', '.join(contract.observables)}.",
                "type": "array",
                "prefixItems": outcome,
                "minItems": len(outcome),
                "maxItems": len(outcome),
            },
        },
    }


def protocol_schema() -> dict[str, Any]:
    """The JSON Schema of the messages between the kit and a program, but for operations, which traces have as well."""
    kinds = {"hello": Hello, "welcome": Welcome, "header": Header}
    schemas, definitions = msgspec.json.schema_components(kinds.values(), ref_template="#/$defs/{name}")
    named = {schema["$ref"].rpartition("/")[2]: name for name, schema in zip(kinds, schemas, strict=True)}
    known = {named[name]: undented(definition) for name, definition in definitions.items()}
    for name, field, version in (
        ("hello", "protocol", PROTOCOL),
        ("welcome", "protocol", PROTOCOL),
        ("header", "version", VERSION),
    ):
        known[name]["properties"][field] = {"const": version}
    answer = "The answer to an operation: its result, then the contract's observables; or an error alone."
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"A message of the protocol of programs, version {PROTOCOL}",
        "anyOf": [{"$ref": f"#/$defs/{name}"} for name in (*known, "operation", "answer")],
        "$defs": {
            **known,
            "operation": {"type": "array", "prefixItems": [{"type": "string"}], "minItems": 1},
            "answer": {"description": answer, "type": "array", "minItems": 1},
        },
    }


def undented(definition: dict[str, Any]) -> dict[str, Any]:
    """A definition whose description has no indent: from Python 3.13 on, that of a docstring is gone already."""
    if "description" not in definition:
        return definition
    return definition | {"description": cleandoc(definition["description"])}


def profile_pattern(contract: Contract) -> str:
    """The pattern of a profile's name, see :mod:`~broker_tck.properties.engine.profiles`."""
    return rf"^({'|'.join(contract.profiles)}|[\w.]+:[\w.]+)(\+[A-Z]+-[0-9]+)*(~[A-Z]+-[0-9]+:[\w.:-]+)*$"
