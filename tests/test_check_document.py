"""What `check --json` prints: one document, as its schema says, whatever a plug-in prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import Cli
from kit import python

import broker_tck
from broker_tck import fixtures
from broker_tck.properties.engine.subjects import resolve
from broker_tck.properties.report.made import place_of
from broker_tck.properties.report.result import schema

PRINTING = """
import logging, os, subprocess, sys
from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker

print("imported")
logging.basicConfig(stream=sys.stdout, level=logging.INFO)
early = sys.stdout


class Printing(TimeBucketTracker):
    said = False

    def add_message(self, ledger_id, entry_id, deliver_at):
        if not Printing.said:
            Printing.said = True
            print("printed")
            sys.stdout.write("written\\n")
            sys.__stdout__.write("from the beginning\\n")
            early.write("early\\n")
            os.write(1, b"below\\n")
            logging.info("logged")
            subprocess.run([sys.executable, "-c", "print('by a child')"], check=True)
        return super().add_message(ledger_id, entry_id, deliver_at)
"""
SAID = {"imported", "printed", "written", "from the beginning", "early", "below", "INFO:root:logged", "by a child"}


@pytest.fixture(scope="module")
def validator() -> Any:
    written = json.loads(fixtures.check_schema().read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(written)
    return jsonschema.Draft202012Validator(written)


def test_schema_is_the_code_s(validator: Any) -> None:
    assert validator.schema == json.loads(json.dumps(schema())), "run python tests/refresh.py"


@pytest.mark.parametrize(
    "arguments",
    [
        ("--subject", "kit:OneTooMany", "--subject", "time-bucket"),
        ("--subject", "kit:Raising", "--fail-fast"),
        ("--subject", "mutant:empty-set-called-back", "--profile", "pip-393-spec~NA-01:absent"),
    ],
    ids=lambda arguments: arguments[1],
)
def test_documents_are_as_the_schema_says(cli: Cli, validator: Any, arguments: tuple[str, ...]) -> None:
    status, out, err = cli("check", "--json", "--walks", "8", "--examples", "0", *arguments)
    document = json.loads(out)
    validator.validate(document)
    assert (status, err, document["conform"]) == (1, "", False)
    assert (document["schema"], document["version"]) == (1, broker_tck.__version__)
    assert document["rulebook"] == broker_tck.RULEBOOK
    finding = document["subjects"][0]["findings"][0]
    assert finding["story"][0].split()[0] in ("1", "operation")
    assert finding["text"].startswith(finding["what"].split()[0])
    for broken in ({"schema": 2}, {"subjects": [{}]}, {"conform": "no"}):
        assert not validator.is_valid({**document, **broken})
    del document["rulebook"]
    assert not validator.is_valid(document)


def test_what_is_not_written_in_python_has_no_source() -> None:
    assert place_of(resolve("heap")) is not None
    builtin = type("Built", (), {"factory": len})
    assert place_of(builtin()) is None


def test_what_a_plug_in_prints_is_not_in_the_document(tmp_path: Path) -> None:
    (tmp_path / "printing.py").write_text(PRINTING, encoding="utf-8")
    arguments = ("check", "--subject", "printing:Printing", "--walks", "1", "--examples", "0", "--json")
    done = python("-m", "broker_tck", *arguments, cwd=tmp_path)
    assert done.returncode == 4
    assert json.loads(done.stdout)["subjects"][0]["subject"] == "printing:Printing"
    said = done.stderr.splitlines()
    assert {*said} >= SAID
    assert said.index("printed") < said.index("below")


def test_document_can_be_without_standard_output() -> None:
    code = "import sys; sys.stdout = None; from broker_tck.cli.main import main; main()"
    done = python("-c", code, "rules", "DD-01", "--json")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
