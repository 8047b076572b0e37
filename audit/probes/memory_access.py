"""Does a kernel read unwritten memory, touch memory outside its tensors, race, or misuse barriers and lanes?

Every access is checked. An access out of bounds is proved, except past a shared array where another one of the block
may lie. That, a race, a misuse of barriers and lanes, and a read of unwritten memory are undefined behaviour, also
where the values are right; `undefined` has the rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pydantic import JsonValue

from audit.build import race_prover
from audit.build.race_prover import Proof
from audit.model.errors import Unsupported
from audit.probes.concluding.answer import Answer, Observed, failed, label, passed, skipped
from audit.probes.concluding.behaviour import OPEN, Behaviour, sentence
from audit.probes.concluding.undefined import Checked, checked, checking
from audit.probes.observing.cases import Case, Need, counting
from audit.probes.observing.target import SHARES, Target

NAME = "memory_access"
RACES = ("race-shared", "race-global", "warp-mask")
ALONE = "race-by-proof"


def needs(target: Target) -> Iterator[Need]:
    """Yield the middle case, checked, on the emulated device; a GPU takes a minute for it, so no probe shares it."""
    if target.built.checks_accesses and target.built.tensor_device == "cpu":
        yield checking(target), target.middle


def observe(target: Target) -> Observed:
    """Make one checked call at the middle case; on a GPU, where it takes longer, at `smaller`."""
    if not target.built.checks_accesses:
        raise Unsupported("checks of every memory access")
    case = target.middle if target.built.tensor_device == "cpu" else smaller(target)
    found = checked(target, case)
    reports, proofs = _with_proofs(target, found)
    seen: Observed = {
        "shape": dict(case.shape),
        "reports": [one.evidence() for one in reports],
        "fills": found.fills,
        "most_writes": found.most_writes,
        **proofs,
    }
    if reports:
        return seen | {"kind": reports[0].kind, "line": reports[0].line, "proof": reports[0].proof}
    if target.built.tensor_device == "cuda":
        seen |= {"by": "compute-sanitizer"}
    return seen | ({"unanswered": list(found.unanswered)} if found.unanswered else {})


def conclude(seen: Observed) -> Answer:
    """Fail by the first report, which is the worst."""
    shape = label(seen["shape"])
    if seen["reports"]:
        worst = seen["reports"][0]
        text = f"{shape}: {sentence(worst)}"
        if seen["fills"] and worst["grade"] == "hint" and worst["kind"] not in OPEN:
            text += f"; the result is the same, bit for bit, with {seen['fills']} fills"
        if worst["kind"] == "race-shared" and worst.get("proof") == "racecheck" and worst["grade"] == "hint":
            text += "; seen by racecheck alone, which does not compare the values"
        return failed(text, worst["grade"], line=worst["line"])
    if tools := ", ".join(seen.get("unanswered", ())):
        return skipped(f"{shape}: nothing was seen, but not every tool gave an answer in time ({tools})")
    by = f" that {seen['by']} sees; it sees no race in global memory" if "by" in seen else ""
    return passed(f"{shape}: no undefined access{by}")


def smaller(target: Target) -> Case:
    """Return the middle case, or the smaller one of two."""
    by_size = counting(target.cases)
    return by_size[(len(by_size) - 1) // 2]


def _with_proofs(target: Target, found: Checked) -> tuple[list[Behaviour], dict[str, JsonValue]]:
    """Return the behaviour of a checked call with the races of an independent prover, and its answers for the record,
    launch by launch, where one is installed."""
    source = target.reference.parent / target.variant.file
    version = race_prover.version()
    if version is None or source.suffix != ".cu" or not found.launches or target.variant.role in SHARES:
        return list(found.seen), {}
    proofs = race_prover.proofs(source, found.launches, flags=target.claim.protocol.of_the_text)
    values: dict[str, JsonValue] = {
        "name": race_prover.NAME,
        "version": version,
        "launches": [_evidence(proof) for proof in proofs],
    }
    return agreed(found.seen, proofs), {"prover": values}


def agreed(seen: Sequence[Behaviour], proofs: Sequence[Proof]) -> list[Behaviour]:
    """Return the behaviour, with both proofs where the prover reports a race too, then its other races as hints: the
    checker followed a real call at that shape and saw none."""
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
