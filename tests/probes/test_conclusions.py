"""From literal observations to an answer: probes of values, of memory and of the process, builds and timed outputs."""

from __future__ import annotations

import json

import pytest

from audit.measure import outputs
from audit.probes import CONCLUSIONS
from audit.probes.concluding.answer import Answer, Observed, failed, passed, skipped

AT = {"N": 8}
GOOD = {"right": True, "elements": 64, "elements_wrong": 0, "index": None, "expected": None, "got": None}
BAD = {"right": False, "elements": 64, "elements_wrong": 9, "index": [1, 2], "expected": 2.5, "got": "nan"}
OFF = "9 of 64 elements wrong; at [1, 2] expected 2.5, got nan"
RACE = "race-shared: two threads write one word"
LAUNCH = {"kernel": "k", "own": True, "grid": [1, 1, 1], "block": [32, 1, 1]}
OTHERS = {**LAUNCH, "kernel": "gemm", "own": False}
REPORT = {"kind": "race-shared", "message": "no barrier", "kernel": "k", "line": 7, "count": 1200, "grade": "undefined"}
TUNED = {"kernel": "scale", "configuration": "block=128, num_warps=4, num_stages=3", "of": 2}
KERNELS = {"shape": AT, "kernels_in_source": ["k"], "launches": [LAUNCH, OTHERS], "own_share": None}
NO_KERNEL = {**KERNELS, "launches": [OTHERS], "returned": "Tensor", "refused_by_torch": "", "sizes_decide": False}
THREADS = {"shape": AT, "threads_left": [0, 0], "children_left": [0, 0], "on": "cpu"}
SIZES = {"around": AT, "rule": None, "refused_rule": None, "line": None, "claimed": False}
TASK = {"shape": AT, "tolerance": 1e-4}
ZEROS = {"trivial_candidate": "zeros", "told_apart": True, "elements_wrong": 4}
BITS = {"fp32": 22.0, "tf32": 10.5, "fp16": 10.5, "bf16": 8.0}
PRECISE = {"shape": AT, "bits": 10.4, "bits_of": BITS, "class": "tf32", "declared": "fp32", "within_tolerance": True}
REPEATED = {"shape": AT, "calls": 30, "differing": [], "shapes": [{"call": "a repeated call", **GOOD}]}
TIMED = {"calls": [{"block": 0, "inputs": 1, **GOOD}]}
EVERY = {"calls": 40, "wrong": 0, "drawn": 20, "drawn_wrong": 0, "first": None}
WRONG_ONCE = {**EVERY, "wrong": 2, "drawn_wrong": 1, "first": {"block": 3, "elements_wrong": 5, "elements": 64}}

ANSWERS: list[tuple[str, Observed, Answer]] = [
    (
        "contract",
        {"shape": AT, "sharing": [[0, 1], [0, 2]]},
        failed(
            "N=8: outputs that share memory, counted from 0: 0 and 1, 0 and 2; writing into one changes the other",
            "hint",
        ),
    ),
    (
        "contract",
        {"shape": AT, "expected": "a float32 tensor of shape [8] on cpu", "got": "2 tensors on cpu"},
        failed("N=8: expected a float32 tensor of shape [8] on cpu, got 2 tensors on cpu"),
    ),
    (
        "agreement",
        {"tolerance": 1e-4, "orders": 2, "shapes": [{"shape": AT, **GOOD}] * 2},
        passed("right at 1 shape in 2 thread orders"),
    ),
    (
        "agreement",
        {"tolerance": 0.0, "orders": 1, "shapes": [{"shape": AT, **GOOD}] * 2, "floors": {"float16": 9.77e-4}},
        passed(
            "right at 2 shapes in 1 thread order; float16 is held to 0.00098, no finer than it can hold",
        ),
    ),
    (
        "agreement",
        {"worst": {"shape": AT, **BAD, "undefined": None, "in_every_order": True}},
        failed(f"N=8: {OFF}", shape=AT),
    ),
    (
        "agreement",
        {"worst": {"shape": AT, **BAD, "undefined": RACE, "in_every_order": True}},
        failed(f"N=8: {OFF}; beside undefined behaviour ({RACE}), but so in every order and fill", shape=AT),
    ),
    (
        "agreement",
        {"worst": {"shape": AT, **BAD, "undefined": RACE, "in_every_order": False}},
        failed(f"N=8: {OFF}; beside undefined behaviour ({RACE}), so a GPU may differ", "undefined", shape=AT),
    ),
    (
        "agreement",
        {"worst": {"shape": AT, **BAD, "undefined": None, "in_every_order": False}},
        failed(f"N=8: {OFF}; right in another thread order, so it depends on a race", "undefined", shape=AT),
    ),
    (
        "agreement",
        {"worst": {"shape": AT, **BAD, "undefined": None, "in_every_order": False, "by_order": True}},
        failed(f"N=8: {OFF}; right in another thread order, so it depends on a race", "undefined", shape=AT),
    ),
    (
        "agreement",
        {"worst": {"shape": AT, **BAD, "undefined": None, "in_every_order": False, "order_decides": True}},
        failed(
            f"N=8: {OFF}; right in another order of the threads, on which the result depends", "undefined", shape=AT
        ),
    ),
    (
        "agreement",
        {"worst": {"shape": AT, **BAD, "undefined": None, "in_every_order": False, "order_decides": False}},
        failed(
            f"N=8: {OFF}; right in another call, so it depends on earlier calls, or on memory it never wrote",
            "undefined",
            shape=AT,
        ),
    ),
    (
        "agreement",
        {"worst": {"shape": AT, **BAD, "undefined": None, "in_every_order": False, "stale": 7}},
        failed(
            f"N=8: {OFF}; only where a volatile read gives the value before another block's last write, which no fence "
            "rules out",
            "undefined",
            shape=AT,
            line=7,
        ),
    ),
    (
        "order",
        {"shape": AT, "claim_first": GOOD, "reference_first": {**GOOD, "difference_zero": True}},
        passed("N=8: right in both orders"),
    ),
    (
        "order",
        {"shape": AT, "claim_first": BAD, "reference_first": {**GOOD, "difference_zero": True}, "undefined": None},
        failed(
            f'N=8: wrong in one order ({OFF}), "right" when the reference runs first, '
            "there with difference exactly 0 to the reference"
        ),
    ),
    (
        "order",
        {"shape": AT, "claim_first": GOOD, "reference_first": {**BAD, "difference_zero": True}, "undefined": None},
        failed(f'N=8: wrong in one order ({OFF}), "right" when the claim runs first'),
    ),
    (
        "order",
        {"shape": AT, "claim_first": BAD, "reference_first": {**BAD, "difference_zero": False}, "undefined": RACE},
        failed(f"N=8: wrong in both orders ({OFF})", "undefined"),
    ),
    (
        "coverage",
        {"shape": AT, "elements": 64, "elements_written": 64, "rows": 8, "rows_written": 8},
        passed("N=8: all 64 elements written"),
    ),
    (
        "coverage",
        {"shape": AT, "elements": 64, "elements_written": 8, "rows": 8, "rows_written": 1},
        failed("N=8: 1 of 8 rows written, 87.500 % of the output is never written"),
    ),
    (
        "coverage",
        {"shape": AT, "elements": 8, "elements_written": 2, "rows": 1, "rows_written": 1},
        failed("N=8: 2 of 8 elements written, 75.000 % of the output is never written"),
    ),
    (
        "coverage",
        {"shape": AT, "elements": 64, "elements_written": 56, "rows": 8, "rows_written": 8},
        failed("N=8: 56 of 64 elements written, 12.500 % of the output is never written"),
    ),
    (
        "coverage",
        {"shape": AT, "elements": 16, "elements_written": 8, "rows": 2, "rows_written": 1, "output": 1},
        failed("N=8: 8 of 16 elements written, 50.000 % of the outputs is never written, most of it in output 1"),
    ),
    (
        "coverage",
        {"shape": AT, "elements": 1, "elements_written": 0, "rows": 1, "rows_written": 0},
        failed("N=8: the only element of the output is never written"),
    ),
    (
        "inherited",
        {"shape": AT, "elements": 64, "elements_inherited": 0, "share": 0.0},
        passed("N=8: 0 of 64 elements are what a freed block held"),
    ),
    (
        "inherited",
        {"shape": AT, "elements": 64, "elements_inherited": 1, "share": 0.015625},
        failed("N=8: 1 of 64 elements are what a freed block held"),
    ),
    (
        "inherited",
        {"shape": AT, "elements": 64, "elements_inherited": 1, "share": 0.015625, "own_result": True},
        failed("N=8: 1 of 64 elements are what a freed block held, a result of its own with a few other values"),
    ),
    (
        "inherited",
        {"shape": AT, "elements": 64, "elements_inherited": 7, "share": 0.1, "by_chance": 5.2},
        passed("N=8: 7 of 64 elements are what a freed block held, which random values explain"),
    ),
    (
        "inherited",
        {"shape": AT, "elements": 64, "elements_inherited": 64, "share": 1.0, "by_chance": 6.4},
        failed("N=8: 64 of 64 elements are what a freed block held"),
    ),
    (
        "inherited",
        {"shape": AT, "elements": 64, "elements_inherited": 1, "share": 0.015625, "by_chance": 1e-4},
        failed("N=8: 1 of 64 elements are what a freed block held"),
    ),
    (
        "memory_access",
        {"shape": AT, "reports": [], "fills": 0, "most_writes": 1},
        passed("N=8: no undefined access"),
    ),
    (
        "memory_access",
        {"shape": AT, "reports": [], "fills": 0, "most_writes": None, "by": "compute-sanitizer"},
        passed("N=8: no undefined access that compute-sanitizer sees; it sees no race in global memory"),
    ),
    (
        "memory_access",
        {"shape": AT, "reports": [{**REPORT, "grade": "hint", "proof": "racecheck"}], "fills": 0},
        failed(
            "N=8: race-shared in line 7 of k (1,200 times): no barrier; seen by racecheck alone, which does not "
            "compare the values",
            "hint",
            line=7,
        ),
    ),
    (
        "memory_access",
        {"shape": AT, "reports": [], "fills": 0, "most_writes": 1, "unanswered": ["racecheck"]},
        skipped("N=8: nothing was seen, but not every tool gave an answer in time (racecheck)"),
    ),
    (
        "memory_access",
        {"shape": AT, "reports": [REPORT], "fills": 0, "most_writes": 1},
        failed("N=8: race-shared in line 7 of k (1,200 times): no barrier", "undefined", line=7),
    ),
    (
        "memory_access",
        {"shape": AT, "reports": [{**REPORT, "grade": "hint", "line": None, "count": 1}], "fills": 3},
        failed(
            "N=8: race-shared of k: no barrier; the result is the same, bit for bit, with 3 fills",
            "hint",
        ),
    ),
    ("kernels_ran", KERNELS, passed("N=8: launches of the source's own kernels: 1 of 2")),
    (
        "kernels_ran",
        {**KERNELS, "tuned": [TUNED, TUNED | {"kernel": "norm", "of": 5}], "timed": True},
        passed(
            "N=8: launches of the source's own kernels: 1 of 2; scale: tuned to block=128, num_warps=4, num_stages=3, "
            "of 2 configurations; norm: tuned to block=128, num_warps=4, num_stages=3, of 5 configurations"
        ),
    ),
    (
        "kernels_ran",
        {**KERNELS, "tuned": [TUNED], "timed": False},
        passed(
            "N=8: launches of the source's own kernels: 1 of 2; scale: run with block=128, num_warps=4, num_stages=3, "
            "the first of 2 configurations, not tuned"
        ),
    ),
    (
        "kernels_ran",
        {**KERNELS, "own_share": 0.25},
        failed(
            "N=8: launches of the source's own kernels: 1 of 2, 25.0 % of the GPU time; a library's took the rest",
            "hint",
        ),
    ),
    (
        "kernels_ran",
        {**KERNELS, "right_without_kernels": True},
        failed("N=8: right at every shape without its own launches (1); a library did the work"),
    ),
    (
        "kernels_ran",
        {**KERNELS, "right_without_kernels": True, "right_without_at": {"N": 64}},
        failed(
            "N=64, the claimed shape: right without the source's own launches; so at N=8 (1); a library did the work",
            shape={"N": 64},
        ),
    ),
    (
        "kernels_ran",
        {**KERNELS, "launches_at_claimed_shape": 0, "own_there": 0, "claimed_shape": {"N": 64}},
        failed(
            "N=64, the claimed shape: the host code launches none of the source's kernels (k); at N=8, which was run, "
            "1 of 2 launches are theirs",
            shape={"N": 64},
        ),
    ),
    (
        "kernels_ran",
        {**KERNELS, "launches": [], "launches_at_claimed_shape": 2, "own_there": 1, "claimed_shape": {"N": 64}},
        passed("N=8: none of the source's kernels ran; N=64, the claimed shape: 1 of 2 do"),
    ),
    (
        "kernels_ran",
        {**KERNELS, "launches": [], "own_there": 0, "claimed_shape": {"N": 64}, "own_at": {"N": 4}},
        failed(
            "N=64: the host code launches none of the source's kernels (k); it does at N=4, which the claim states too",
            "hint",
        ),
    ),
    (
        "kernels_ran",
        {**KERNELS, "launches": [], "launches_at_claimed_shape": 0, "own_there": 0, "claimed_shape": {"N": 64}},
        failed(
            "N=64, the claimed shape: the host code launches none of the source's kernels (k), nor at N=8, "
            "which was run",
            shape={"N": 64},
        ),
    ),
    (
        "kernels_ran",
        {**NO_KERNEL, "launches_nothing": False},
        failed("N=8: none of the source's kernels ran (k); launches of others: 1"),
    ),
    (
        "kernels_ran",
        {**NO_KERNEL, "sizes_decide": True, "launches_nothing": False},
        failed(
            "N=8: none of the source's kernels ran (k); launches of others: 1; they may run at the claimed shape, "
            "since the source compares sizes",
            "hint",
        ),
    ),
    (
        "kernels_ran",
        {**NO_KERNEL, "refused_by_torch": "torch refuses it", "launches_nothing": False},
        failed("N=8: none of the source's kernels ran (k); launches of others: 1; torch refuses it", anywhere=True),
    ),
    (
        "kernels_ran",
        {**NO_KERNEL, "kernels_in_source": [], "launches_nothing": False},
        failed("N=8: the source has no kernel of its own; 1 launches of a library's did the work", "hint"),
    ),
    (
        "kernels_ran",
        {**NO_KERNEL, "kernels_in_source": [], "launches": [], "launches_nothing": True},
        failed("N=8: the source has no kernel of its own; a library did the work", anywhere=True),
    ),
    (
        "repeat",
        REPEATED,
        passed("N=8: 30 calls right, bit for bit the same"),
    ),
    (
        "repeat",
        {"shape": AT, "calls": 30, "differing": [3, 4], "shapes": [{"call": "a repeated call", **GOOD}]},
        passed("N=8: 30 calls right; 2 differ from the first in their last bits"),
    ),
    (
        "repeat",
        {"shape": AT, "calls": 30, "differing": [], "shapes": [{"call": "a call", **BAD}], "undefined": None},
        failed(f"N=8: the first call is right, of 30 more a call: {OFF}"),
    ),
    (
        "repeat",
        {**REPEATED, "after_many": {"calls": 240, **GOOD}},
        passed("N=8: 30 calls right, bit for bit the same; right behind 240 more that run no block"),
    ),
    (
        "repeat",
        {**REPEATED, "after_many": {"calls": 240, **BAD}, "undefined": None},
        failed(f"N=8: the first call is right, behind 240 more {OFF}"),
    ),
    (
        "repeat",
        {"shape": AT, "first": "2 tensors of shapes [8]; [8]", "later": "no tensor but NoneType"},
        failed(
            "N=8: the first call returns 2 tensors of shapes [8]; [8], a later one with inputs of that shape "
            "no tensor but NoneType"
        ),
    ),
    (
        "precision",
        PRECISE,
        failed("N=8: 10.4 effective bits (reference 22.0, TF32 10.5): TF32 or fp16 accuracy, declared fp32"),
    ),
    (
        "precision",
        {**PRECISE, "declared": "bf16"},
        passed("N=8: 10.4 effective bits (reference 22.0, TF32 10.5): TF32 or fp16 accuracy"),
    ),
    (
        "precision",
        {**PRECISE, "class": None},
        passed("N=8: 10.4 effective bits (reference 22.0, TF32 10.5); the precisions cannot be told apart here"),
    ),
    (
        "late_writes",
        {"shape": AT, "bytes_late": [0, 0]},
        passed("N=8: the result is complete at the return, in 2 calls"),
    ),
    (
        "late_writes",
        {"shape": AT, "bytes_late": [0, 4096]},
        failed("N=8: 4,096 bytes of the result change after the return"),
    ),
    (
        "layout",
        {"shape": AT, "layouts": [{"layout": "offset", **GOOD}, {"layout": "padded", "refused": "no"}]},
        passed("N=8: right for offset inputs; refuses padded ones"),
    ),
    (
        "layout",
        {"shape": AT, "layouts": [{"layout": "offset", **GOOD}, {"layout": "transposed", **BAD}]},
        failed(f"N=8: no error, and a wrong result for transposed inputs: {OFF}", "hint"),
    ),
    (
        "layout",
        {"shape": AT, "layouts": [{"layout": "padded", "right": False, "returned": [2], "due": [4]}]},
        failed(
            "N=8: no error, and a wrong result for padded inputs: expected a tensor of shape [4], got one of shape [2]",
            "hint",
        ),
    ),
    (
        "nonfinite",
        {"shape": AT, "inputs": [{"value": "nan", "wrong": 0, "lost": 0, "more": 0, "right": True}]},
        passed("N=8: nan reach the result as in the reference"),
    ),
    (
        "nonfinite",
        {"shape": AT, "inputs": [{"value": "inf", "wrong": 2, "lost": 3, "more": 0, "right": False}]},
        failed(
            "N=8: one inf among the inputs: elements finite here and not in the reference: 3, wrong: 2",
            "hint",
        ),
    ),
    ("threads", THREADS, passed("no thread and no child process is left by a call")),
    (
        "threads",
        {**THREADS, "threads_left": [2, 0], "on": "cuda"},
        passed("no thread and no child process is left by a call"),
    ),
    (
        "threads",
        {**THREADS, "threads_left": [2, 0]},
        failed("the first call leaves 2 thread running", "hint", anywhere=True),
    ),
    (
        "threads",
        {**THREADS, "threads_left": [1, 1]},
        failed("every call leaves 1 thread running", "hint", anywhere=True),
    ),
    (
        "threads",
        {**THREADS, "children_left": [0, 1]},
        failed("a call leaves 1 child process running", "hint", anywhere=True),
    ),
    ("untouched_process", {"replaced": []}, passed("clocks, comparisons and hooks are what they were")),
    (
        "untouched_process",
        {"replaced": ["torch.equal"], "shape": AT},
        failed("replaced in its process: torch.equal", anywhere=True),
    ),
    ("sweep", {"around": AT, "none_because": "no time"}, skipped("not asked: N=8: no sizes around it: no time")),
    (
        "sweep",
        {**SIZES, "sizes": [{"sizes": AT, "result": "right"}, {"sizes": {"N": 9}, "result": "refused", "why": "no"}]},
        passed("right at all 1 sizes asked around N=8; refused by an exception at 1 more"),
    ),
    (
        "sweep",
        {
            **SIZES,
            "rule": "N % 2 != 0",
            "line": 4,
            "sizes": [{"sizes": AT, "result": "right"}, {"sizes": {"N": 9}, "result": "wrong", "why": "off"}],
        },
        failed(
            "right at N=8; wrong at 1 of 2 sizes asked around N=8, exactly where N % 2 != 0; see line 4; N=9: off; "
            "none of these sizes is claimed",
            "hint",
            shape={"N": 9},
            line=4,
        )._replace(claimed=False),
    ),
    (
        "builds_agree",
        {"outputs": "the same bytes at every shape (2)", "differing": False, "asked_of_both": 24, "changed": {}},
        passed("the same bytes at every shape (2); 24 probes asked of both, none decided otherwise"),
    ),
    (
        "builds_agree",
        {
            "outputs": "the same bytes at every shape (2)",
            "differing": False,
            "asked_of_both": 24,
            "changed": {"order": ["pass", "fail (proved)"], "layout": ["skip", "pass"]},
        },
        failed(
            "the fast and the published build differ: the same bytes at every shape (2); order was pass and is fail "
            "(proved); "
            "the published build counts",
            "hint",
        ),
    ),
    (
        "oldest_code",
        {"compute_capability": 75, "none_because": "needs sm_80"},
        skipped("no code for compute capability 7.5: needs sm_80"),
    ),
    (
        "oldest_code",
        {"compute_capability": 75, "not_compared": "it raised"},
        skipped("the code for this GPU gives nothing to compare with (it raised)"),
    ),
    (
        "oldest_code",
        {"compute_capability": 75, "does_not_run": "it raised"},
        failed("the code for compute capability 7.5 does not run as that for this GPU does: it raised", "hint"),
    ),
    (
        "oldest_code",
        {"compute_capability": 75, "right": {"N=8": True}, "right_here": {"N=8": True}, "same_bytes_at": 1},
        passed(
            "the code for compute capability 7.5, compiled here by the driver, is right at 1 of 1 shapes, "
            "as that for this GPU is; the same bytes at 1"
        ),
    ),
    (
        "oldest_code",
        {"compute_capability": 75, "right": {"N=8": False}, "right_here": {"N=8": True}, "same_bytes_at": 0},
        failed(
            "the code for compute capability 7.5 is right at 0 of 1 shapes, that for this GPU at 1: N=8 differ", "hint"
        ),
    ),
    (
        "task",
        {**TASK, "trivial_candidates": [ZEROS]},
        passed("N=8: the task tells 1 trivial candidates from a right result"),
    ),
    (
        "task",
        {**TASK, "trivial_candidates": [{**ZEROS, "told_apart": False}], "one_number": 0.5},
        failed(
            "N=8: the task takes trivial candidates for right: zeros; the right result is 0.5 everywhere; "
            "no other inputs of that shape are known at which it tells"
        ),
    ),
    (
        "task",
        {
            **TASK,
            "trivial_candidates": [{**ZEROS, "told_apart": False}],
            "one_number": None,
            "discriminating": {"inputs": "its own inputs", "shape": {"N": 4}, "trivial_candidates": [ZEROS]},
        },
        failed(
            "N=8: the task takes trivial candidates for right: zeros; with its own inputs (N=4) it tells all 1", "hint"
        ),
    ),
    ("timed_outputs", TIMED, passed("right in 1 timed calls chosen at random")),
    (
        "timed_outputs",
        {"calls": [{"block": 2, "inputs": 0, **BAD}]},
        failed(f"wrong in 1 of 1 timed calls chosen at random; in block 2: {OFF}"),
    ),
    (
        "timed_outputs",
        {**TIMED, "every_call": EVERY, "contents": {"told_apart": True}},
        passed("right in 1 timed calls chosen at random; right in each of 40 timed calls, for contents of its own"),
    ),
    (
        "timed_outputs",
        {"every_call": EVERY, "contents": {"told_apart": False}},
        passed(
            "right in each of 40 timed calls, for contents of its own; other contents do not change the result, "
            "so a kept one is not told"
        ),
    ),
    (
        "timed_outputs",
        {**TIMED, "every_call": WRONG_ONCE, "contents": {"told_apart": True}},
        failed("wrong in 2 of 40 timed calls; in block 3: 5 of 64 elements wrong"),
    ),
    (
        "timed_outputs",
        {"every_call": {**WRONG_ONCE, "drawn_wrong": 0}, "contents": {"told_apart": True}},
        Answer(
            "error",
            "wrong in 2 of 40 timed calls; in block 3: 5 of 64 elements wrong; right with contents as they are drawn, "
            "wrong with mixed ones, so nothing is concluded",
        ),
    ),
]
CONCLUDE = {**CONCLUSIONS, "timed_outputs": outputs.conclude}


@pytest.mark.parametrize(("probe", "seen", "answer"), ANSWERS)
def test_what_follows(probe: str, seen: Observed, answer: Answer) -> None:
    assert CONCLUDE[probe](json.loads(json.dumps(seen))) == answer
