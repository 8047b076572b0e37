"""The answers of an independent prover about races, where one is installed, in addition to the access checker's.

The evidence of `memory_access` has them, launch by launch. A race that both report has both as its proof. One that
the prover alone reports is a hint: the checker followed a real call at that shape and saw none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pydantic import JsonValue

from audit.build import race_prover
from audit.build.race_prover import Proof
from audit.probes.target import SHARES, Target
from audit.probes.undefined import Behaviour, Checked

RACES = ("race-shared", "race-global", "warp-mask")
ALONE = "race-by-proof"


def with_proofs(target: Target, found: Checked) -> tuple[list[Behaviour], dict[str, JsonValue]]:
    """Return the behaviour of a checked call with the prover's races, and its answers for the record, if installed."""
    source = target.reference.parent / target.variant.file
    version = race_prover.version()
    if version is None or source.suffix != ".cu" or not found.launches or target.variant.role in SHARES:
        return list(found.seen), {}
    proofs = race_prover.proofs(source, found.launches)
    values: dict[str, JsonValue] = {
        "name": race_prover.NAME,
        "version": version,
        "launches": [_evidence(proof) for proof in proofs],
    }
    return agreed(found.seen, proofs), {"prover": values}


def agreed(seen: Sequence[Behaviour], proofs: Sequence[Proof]) -> list[Behaviour]:
    """Return the behaviour, with both proofs where the prover reports a race too, then its other races as hints."""
    races = {proof.kernel: proof for proof in proofs if proof.answer == "race"}
    known = {one.kernel for one in seen if one.kind in RACES}
    both = [
        replace(one, proof=f"{one.proof}, {race_prover.NAME}") if one.kind in RACES and one.kernel in races else one
        for one in seen
    ]
    return [*both, *(_alone(proof) for kernel, proof in races.items() if kernel not in known)]


def _alone(proof: Proof) -> Behaviour:
    lines = " and ".join(str(line) for line in dict.fromkeys(proof.lines))
    text = f"a prover finds two accesses that nothing orders{f', lines {lines}' if lines else ''}; checking saw none"
    line = proof.lines[0] if proof.lines else None
    return Behaviour(ALONE, text, proof.kernel, line, count=1, proof=race_prover.NAME, grade="hint")


def _evidence(proof: Proof) -> dict[str, JsonValue]:
    values: dict[str, JsonValue] = {"kernel": proof.kernel, "grid": list(proof.grid), "block": list(proof.block)}
    return {**values, "answer": proof.answer, "lines": list(proof.lines), "why": proof.why}
