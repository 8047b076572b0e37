"""Does a kernel read unwritten memory, touch memory outside its tensors, race, or misuse barriers and lanes?

Every access is checked. An access out of bounds is proved. A race, a misuse of barriers and lanes, and a read of
unwritten memory are undefined behaviour, also where the values are right; `undefined` has the rules.
"""

from __future__ import annotations

from collections.abc import Iterator

from audit.model.errors import Unsupported
from audit.probes import second_prover
from audit.probes.answer import Answer, Observed, failed, label, passed, skipped
from audit.probes.cases import Case, Need, counting
from audit.probes.target import Target
from audit.probes.undefined import checked, checking, sentence

NAME = "memory_access"
MECHANISMS = ("out-of-bounds access", "missing bounds", "race", "never-initialised read", "misuse of warp lanes")


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
    reports, proofs = second_prover.with_proofs(target, found)
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
        if seen["fills"] and worst["grade"] == "hint":
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
