"""A finished record of the triangular-matmul claim, built with the models, with the numbers its re-runs show."""

from __future__ import annotations

from functools import cache
from typing import Any

from audit import claims, judge
from audit.lint import floors
from audit.model import BuildNote, Device, Environment, Finding, Measurement, Record, Stage

N = 255
SIDE = 64
SHAPE = {"N": N}
SEED = 20261121
COST = {"flops": 4096**3 / 3, "bytes": 2 * 4096**2 * 4.0}
WRONG = {"right": False, "max_abs_diff": 31.72, "elements_wrong": 32385, "elements": N * N, "index": [1, 0],
         "expected": -0.7183, "got": 0.1124}  # fmt: skip
RIGHT = {"right": True, "max_abs_diff": 1.9e-06, "elements_wrong": 0, "elements": N * N, "index": None,
         "expected": None, "got": None}  # fmt: skip
KINDS = {
    "claimed": "defect",
    "ablation_zero_init": "zeros",
    "ablation_sync": "defect",
    "no_op": "zeros",
    "wmma_tf32": "skip",
}
PASSED = {
    "contract": "takes and returns what claim.toml says",
    "agreement": "right at 3 shapes in 3 thread orders",
    "order": "right in both orders",
    "coverage": "all 65,025 elements written",
    "inherited": "0 of 65,025 elements are what a freed block held",
    "inputs_intact": "the inputs are unchanged",
    "memory_access": "no report",
}


@cache
def triangular(*, defects: bool = True) -> Record:
    """The whole audit on the emulated device; without `defects` every variant passes every probe."""
    audited = claims.load("triangular_mm").audited
    claim = audited.statement
    findings = [*floors.floors(claim, COST)] if defects else []
    for variant in claim.variant:
        kind = KINDS.get(variant.name, "right") if defects else "right"
        findings += probes(variant.name, kind)
    record = Record(
        claim=audited,
        device=Device(
            kind="emulated", name="emulated device", compute_capability=75, note="stands for a T4; gives no times"
        ),
        environment=environment(),
        findings=tuple(findings),
    )
    return judged(record)


def judged(record: Record) -> Record:
    """The record with the judge's ladder and verdict."""
    record = record.model_copy(update={"ladder": judge.ladder(record.claim.statement, record.findings)})
    return record.model_copy(update={"verdict": judge.judge(record)})


def environment() -> Environment:
    note = BuildNote(variant="claimed", optimisation="O2", outcome="built", header_set="micro", compiler="g++ 12.2.0",
                     flags=("-O2", "-std=c++17"), seconds=4.25, from_cache=False)  # fmt: skip
    failed = note.model_copy(
        update={
            "variant": "wmma_tf32",
            "outcome": "does not compile",
            "flags": (),
            "log": "error: no member\n  at line 3",
        }
    )
    return Environment(
        kit="0.1.0",
        started_utc="2026-11-21T09:30:00+00:00",
        machine="a processor, 2 cores, 16 GiB",
        system="Linux x86_64, Debian GNU/Linux 12",
        python="3.11.2",
        packages={"torch": "2.13.0", "pydantic": "2.14.3"},
        compiler="g++ 12.2.0",
        seeds=(SEED,),
        builds=(note, failed),
        stages=(Stage(name="build", seconds=21.5), Stage(name="verify", seconds=11.25)),
    )


def probes(target: str, kind: str) -> list[Finding]:
    """The findings of one variant: "right", "defect" (inherits), "zeros" (never right) or "skip" (not built)."""
    if kind == "skip":
        why = "needs compute capability 8.0, this device has 7.5"
        return [Finding(probe="build", target=target, outcome="skip", summary=why)]
    passed = [passing(probe, target) for probe in PASSED]
    if kind == "right":
        return passed
    fails = {finding.probe: finding for finding in failing(target, inherits=kind == "defect")}
    return [fails.get(finding.probe, finding) for finding in passed] + [geometry(target)]


def passing(probe: str, target: str) -> Finding:
    evidence: dict[str, Any] = {"shape": SHAPE}
    if probe == "coverage":
        full = [[1.0] * SIDE for _ in range(SIDE)]
        evidence |= {"elements": N * N, "elements_written": N * N, "rows": N, "rows_written": N, "map": full}
    if probe == "order":
        evidence |= {"claim_first": RIGHT, "reference_first": RIGHT | {"difference_zero": False}}
    if probe == "agreement":
        evidence = {"tolerance": 1e-4, "shapes": agreement([RIGHT] * 3)}
    return built(probe, target, "pass", PASSED[probe], evidence)


def agreement(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    sizes = ({"N": 1}, {"N": 33}, SHAPE)
    return [{"shape": size, "order": order, **result} for order in ("forward", "reverse", "random")
            for size, result in zip(sizes, results, strict=True)]  # fmt: skip


def failing(target: str, *, inherits: bool) -> list[Finding]:
    late = (RIGHT if inherits else WRONG) | {"difference_zero": inherits}
    band = [[0.25] * SIDE, *([0.0] * SIDE for _ in range(SIDE - 1))]
    launch = {"kernel": "triangular<float>", "line": 31, "grid": [N, 1, 1], "block": [256, 1, 1]}
    coverage = {"shape": SHAPE, "elements": N * N, "elements_written": N, "rows": N, "rows_written": 1, "map": band,
                "launches": [launch]}  # fmt: skip
    below = [[1.0] * row + [0.5] + [0.0] * (SIDE - row - 1) for row in range(SIDE)]
    worst = {"shape": SHAPE, **WRONG, "undefined": None, "in_every_order": True, "map": below}
    text = "wrong in one order" if inherits else "wrong in both orders"
    return [
        built("agreement", target, "fail", "N=255: 32,385 of 65,025 elements wrong",
              {"tolerance": 1e-4, "shapes": agreement([RIGHT, WRONG, WRONG]), "worst": worst}),
        built("order", target, "fail", f"N=255: {text}", {"shape": SHAPE, "claim_first": WRONG,
                                                                         "reference_first": late}),
        built("coverage", target, "fail", "N=255: 1 of 255 rows written", coverage),
        built("inherited", target, "fail", "N=255: 64,770 of 65,025 elements are what a freed block held",
              {"shape": SHAPE, "elements": N * N, "elements_inherited": 64770, "share": 0.996078}),
    ]  # fmt: skip


def geometry(target: str) -> Finding:
    hint = {"line": 18, "kernel": "triangular", "axis": "y", "message": "the launch on line 31 has one block in y"}
    summary = "line 18 reads blockIdx.y; the launch has one block in y"
    fields = {"probe": "launch_geometry", "target": target, "outcome": "fail", "grade": "hint", "line": 18}
    return Finding.model_validate(fields | {"summary": summary, "evidence": {"hints": [hint]}})


def built(probe: str, target: str, outcome: str, summary: str, evidence: dict[str, Any]) -> Finding:
    failed = outcome == "fail"
    fields = {"probe": probe, "target": target, "outcome": outcome, "summary": summary, "evidence": evidence}
    command = f"audit run triangular_mm --device emulated --seed {SEED}"
    more = {"grade": "proved" if failed else None, "confirmed": True if failed else None, "reproduce_with": command}
    return Finding.model_validate(fields | more)


def measured(record: Record) -> Record:
    """The same record with times of one kernel, as a GPU would give them."""
    timing = Measurement(variant="fixed_grid2d", shape={"N": 4096}, protocol="events", samples_ms=(5.61, 5.65, 5.72))
    return record.model_copy(update={"measurements": (timing,)})


def swept(record: Record) -> Record:
    """The same record with sizes around the claim, of two of which a GPU refuses a launch or the kernel itself."""
    values = {
        33: "right",
        34: "wrong",
        36: "right",
        1: "refused",
        65: "not_taken",
        97: "no_answer",
        4096: "launch_refused",
    }
    launched = {"sizes": {"N": 4092}, "result": "launched"}
    sizes = [*({"sizes": {"N": size}, "result": result} for size, result in values.items()), launched]
    why = "N=34: 3 of 9 elements wrong; at [1, 0] expected 1.5, got 2"
    refused = "N=4096, no kernel run: launch of k refused: the GPU refuses this launch: grid (1, 0, 1) has no blocks"
    text = f"right at N=33; wrong at 1 of 3 sizes asked around N=33, exactly where N % 4 != 0; see line 7; {why}"
    text += f"; {refused}; refused by an exception at 1 more, exactly where N < 33; not of the task: 1 more"
    fields = {"probe": "sweep", "target": "claimed", "outcome": "fail", "grade": "hint", "claimed": False}
    evidence = {"around": {"N": 33}, "rules_tested": True, "rule": "N % 4 != 0", "number_line": 7, "sizes": sizes}
    more = {"summary": f"{text}; none of these sizes is claimed", "evidence": evidence, "line": 7, "shape": {"N": 34}}
    found = Finding.model_validate(fields | more)
    return judged(record.model_copy(update={"findings": (*record.findings, found)}))
