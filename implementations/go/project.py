"""The files of a first subject in Go: a small tracker that conforms, and the rig beside it."""

from __future__ import annotations

from pathlib import Path

KIT = Path(__file__).parent / "kit"
CONTRACTS = ("delayed-delivery", "negative-acks")
"""The contracts that the rig knows."""
NEXT = "go build && broker-tck check --subject exec:./adapter"
"""What to do in the folder."""


def project(contract: str) -> dict[str, str]:
    """The text of each file for a contract that the rig knows; together they are a module without dependencies."""
    own = [KIT / "go.mod", *sorted((KIT / contract).glob("*.go"))]
    rig = [file for file in sorted((KIT / "brokertck").glob("*.go")) if not file.name.endswith("_test.go")]
    named = {file.name: file for file in own} | {f"brokertck/{file.name}": file for file in rig}
    return {name: file.read_text(encoding="utf-8") for name, file in named.items()}
