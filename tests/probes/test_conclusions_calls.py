"""What follows from literal observations, for the probes that compare or watch calls."""

from __future__ import annotations

import json

import pytest

from audit.probes import (
    alias,
    backend_flags,
    claimed_blocks,
    claimed_launches,
    contract,
    current_stream,
    dead_inputs,
    distributions,
    first_call,
    fresh_values,
    inputs_intact,
    nonfinite,
)
from audit.probes.concluding import answer
from audit.probes.concluding.answer import Observed, Probe

N4, N8 = {"N": 4}, {"N": 8}
AT4: Observed = {"shape": N4}
RIGHT: Observed = {"right": True, "elements": 4, "elements_wrong": 0, "max_abs_diff": 0.0, "index": None,
                   "expected": None, "got": None}  # fmt: skip
WRONG: Observed = {**RIGHT, "right": False, "elements_wrong": 3, "index": [1], "expected": 2.0, "got": "nan"}
TOLD = "3 of 4 elements wrong; at [1] expected 2, got nan"
OWN: Observed = {**AT4, "inputs_shared": [], "strides": [1], "result_shape": [4]}
READ: Observed = {"input": "input_0_x", "how": "redrawn", "kind": "values", "elements_moved": 9, "elements_dead": 0,
              "right": True}  # fmt: skip
NUMBER: Observed = {**READ, "input": "input_1_decay", "how": "0.9875 for 0.9", "kind": "number", "elements_wrong": 7}
ORDER: Observed = {"input": "input_0_x", "order": "ascending", "elements_wrong": 2048}
REFUSED_ORDER: Observed = {"input": "input_1", "order": "symmetric", "not_tested": "refused: no"}
UNREAD: Observed = {**READ, "input": "input_1", "elements_dead": 1000, "elements_moved": 2000, "right": False}
ALL_KEPT: Observed = {**UNREAD, "elements_dead": 1999}
TABLE: Observed = {**UNREAD, "input": "input_2_t", "kind": "table"}
LARGE: Observed = {"shape": N8, "stream": "the default stream", **RIGHT}
TINY: Observed = {"distribution": "tiny", **WRONG, "far": True}
FAR: Observed = {"distribution": "all_equal", **WRONG, "far": True}
NEAR: Observed = {**FAR, "got": 2.5, "far": False}
FINE: Observed = {"distribution": "uniform", **RIGHT}
LATER: Observed = {**AT4, "change": "whole numbers at the same addresses", **WRONG}
LAUNCHES: Observed = {**AT4, "launches": [], "launches_in_all": 2}
REFUSED: Observed = {"kernel": "k", "line": 9, "refused": "no blocks"}
RAISED: Observed = {"raised": "RuntimeError: too large", "line": 7, "takes": {"N": 2}}
PART: Observed = {**AT4, "blocks_run": 24, "blocks": 1000, "elements_compared": 2000}
Expected = tuple[str, str | None, str, int | None, dict[str, int] | None]


def ok(summary: str) -> Expected:
    return "pass", None, summary, None, None


def bad(summary: str, grade: str = "proved", line: int | None = None, shape: dict[str, int] | None = N4) -> Expected:
    return "fail", grade, summary, line, shape


CASES: list[tuple[Probe, Observed, Expected]] = [
    (alias, OWN, ok("N=4: the result has memory of its own")),
    (alias, {**OWN, "held": WRONG}, bad(f"N=4: a later call changed this result, which was right before: {TOLD}")),
    (alias, {**OWN, "inputs_shared": [1], "inputs_allowed": [1], "held": WRONG},
     ok("N=4: the result has memory of its own")),
    (alias, {**OWN, "inputs_shared": [0, 2], "inputs_allowed": [2]},
     bad("N=4: the result lies in the memory of input 0; the reference's does not")),
    (alias, {**AT4, "results": 24}, bad("N=4, the claimed shape: of 24 results two lie in one place")),
    (alias, {**OWN, "strides": [0]},
     bad("N=4: several elements of the result share one place in memory (strides [0])", "hint")),
    (alias, {**OWN, "strides": [0], "result_shape": [1]}, ok("N=4: the result has memory of its own")),
    (alias, {**AT4, "not_asked": "first_wrong"},
     ("skip", None, "not asked: N=4: the first call is already wrong; see agreement", None, None)),
    (backend_flags, {**AT4, "changed_by_loading": [], "changed_by_calls": []}, ok("no setting of the process changed")),
    (backend_flags, {**AT4, "changed_by_loading": ["tf32"], "changed_by_calls": ["x"]},
     bad("loading changed tf32", "hint")),
    (backend_flags, {**AT4, "changed_by_loading": [], "changed_by_calls": ["a", "b"]},
     bad("a call changed a, b", "hint")),
    (contract, {"calls": 2}, ok("every call ended and returned what the reference returns (2)")),
    (contract, {"calls": 1, "notes": ["one", "two"], "answered": [0]},
     ok("every call ended and returned what the reference returns (1); one")),
    (contract, {"unusable": [AT4, {"shape": N8, "raised": "no"}], "answered": []},
     ("skip", None, "no shape to ask at: N=4, which the claim does not name, makes a launch without blocks; "
      "N=8, which the claim does not name, is refused: no", None, None)),
    (contract, {**AT4, "raised": "RuntimeError: no", "answered": []},
     ("error", None, "N=4: the call raised RuntimeError: no", None, None)),
    (contract, {**AT4, "raised": "an illegal memory access", "answered": []},
     bad("N=4: the call raised an illegal memory access")),
    (contract, {**AT4, "raised": "CUDA error: misaligned address", "answered": []},
     bad("N=4: the call raised CUDA error: misaligned address")),
    (contract, {**AT4, **REFUSED, "answered": [0]}, bad("N=4: launch of k refused: no blocks", line=9)),
    (contract, {**AT4, **REFUSED, "raised": "RuntimeError: no", "answered": []},
     bad("N=4: launch of k refused: no blocks; the call raised RuntimeError: no", line=9)),
    (contract, {**AT4, "raised": "RuntimeError: too large", "line": 7, "takes": {"N": 2}, "answered": []},
     bad("N=4, the claimed shape, is refused: RuntimeError: too large; N=2 comes back with a result", line=7)),
    (contract, {**AT4, "expected": "a", "got": "b", "answered": [0]}, bad("N=4: expected a, got b")),
    (contract, {**AT4, "expected": "a", "got": "no tensor but NoneType", "written": 1, "answered": []},
     ("error", None, "N=4: the call returned nothing and wrote into argument 1, counted from 0; write destination = 1 "
      "under [harness] of claim.toml and audit it again", None, None)),
    (contract, {**AT4, "expected": "a", "got": "no tensor but int", "written": 2, "status": "int", "answered": []},
     ("error", None, "N=4: the call returned a number and wrote into argument 2, counted from 0; write destination = 2 "
      "under [harness] of claim.toml and audit it again", None, None)),
    (current_stream, {**AT4, "streams": [{"stream": "the default stream", **RIGHT}]}, ok("N=4: right on two streams")),
    (current_stream, {**AT4, "streams": [{"stream": "the default stream", **WRONG}]},
     bad(f"N=4: called on the default stream while its inputs are still written: {TOLD}")),
    (current_stream, {**AT4, "streams": [{"stream": "a stream of its own", **WRONG}]},
     bad(f"N=4: called on a stream of its own while its inputs are still written: {TOLD}", "hint")),
    (current_stream, {**AT4, "streams": [{"stream": "the default stream", **RIGHT}, LARGE]},
     ok("N=4: right on two streams; so too at N=8")),
    (current_stream, {**AT4, "streams": [{"stream": "a stream of its own", **WRONG}, {**LARGE, **WRONG}]},
     bad(f"N=8: called on the default stream while its inputs are still written: {TOLD}", shape=N8)),
    *[(current_stream, {**AT4, "streams": [{"stream": stream, "right": False, "returned": [3], "due": [5]}]},
       bad(f"N=4: called on {stream} while its inputs are still written: a result of shape [3], where [5] is right",
           grade))
      for stream, grade in (("the default stream", "proved"), ("a stream of its own", "hint"))],
    (dead_inputs, {**AT4, "inputs": [READ]}, ok("N=4: the result follows every input that the reference follows (1)")),
    (dead_inputs, {**AT4, "inputs": [READ, {"input": "input_1_w", "not_tested": "no"}], "discriminating": True},
     ok("N=4: among discriminating inputs, the result follows every input that the reference follows (1); "
        "not tested: input 1 (w)")),
    (dead_inputs, {**AT4, "inputs": [{**TABLE, "elements_dead": 2000}, ALL_KEPT], "undefined": None},
     bad("N=4: with other values in input 1: 2,000 elements must move, 1,999 keep their bits; so too in input 2 (t)")),
    (dead_inputs, {**AT4, "inputs": [TABLE, UNREAD, {**ALL_KEPT, "input": "input_4_a"}], "undefined": None},
     bad("N=4: with other values in input 4 (a): 2,000 elements must move, 1,999 keep their bits; "
         "in input 1: 2,000 elements must move, 1,000 keep their bits; "
         "in input 2 (t): 2,000 elements must move, 1,000 keep their bits")),
    (dead_inputs, {**AT4, "inputs": [UNREAD], "undefined": "race: x"},
     bad("N=4: with other values in input 1: 2,000 elements must move, 1,000 keep their bits", "undefined")),
    (dead_inputs, {**AT4, "inputs": [TABLE]},
     bad("N=4: with other values in input 2 (t): 2,000 elements must move, 1,000 keep their bits; "
         "every draw of the task gives the same table there", "hint")),
    (dead_inputs, {**AT4, "inputs": [{**READ, "kind": "table", "elements_wrong": 7}]},
     bad("N=4: with other values in input 0 (x): 7 elements wrong; every draw of the task gives the same table there",
         "hint")),
    *[(dead_inputs, {**AT4, "inputs": [READ], "discriminating": True, "orders": [{**ORDER, "order": order}]},
       bad(f"N=4: input 0 (x): right for {told}, which every draw of the task has; "
           "with the same numbers in another order 2,048 elements wrong", "hint"))
      for order, told in (("ascending", "ascending rows"), ("descending", "descending rows"),
                          ("symmetric", "symmetric matrices"))],
    (dead_inputs, {**AT4, "inputs": [READ], "orders": [{**ORDER, "elements_wrong": 0}, REFUSED_ORDER]},
     ok("N=4: the result follows every input that the reference follows (1)")),
    (dead_inputs, {**AT4, "inputs": [NUMBER], "orders": [ORDER]},
     bad("N=4: with 0.9875 for 0.9 in input 1 (decay): 7 elements wrong; "
         "every draw of the task gives the same number there", "hint")),
    (dead_inputs, {**AT4, "inputs": [{**READ, "kind": "counts", "elements_wrong": 7}]},
     bad("N=4: with other values in input 0 (x): 7 elements wrong; every draw of the task gives the same counts there",
         "hint")),
    (dead_inputs, {**AT4, "inputs": [{**TABLE, "kind": "counts"}]},
     bad("N=4: with other values in input 2 (t): 2,000 elements must move, 1,000 keep their bits; "
         "every draw of the task gives the same counts there", "hint")),
    (dead_inputs, {**AT4, "inputs": [{**READ, "kind": "table", "elements_wrong": 9}, NUMBER]},
     bad("N=4: with 0.9875 for 0.9 in input 1 (decay): 7 elements wrong; "
         "every draw of the task gives the same number there", "hint")),
    (dead_inputs, {**AT4, "inputs": [NUMBER, {**READ, "kind": "constant", "elements_wrong": 9}], "undefined": None},
     bad("N=4: with other values in input 0 (x): 9 elements wrong")),
    *[(dead_inputs, {**AT4, "inputs": [{**READ, "kind": "constant", "elements_wrong": 7}], "undefined": undefined},
       bad("N=4: with other values in input 0 (x): 7 elements wrong", grade))
      for undefined, grade in ((None, "proved"), ("race: x", "undefined"))],
    (distributions, {**AT4, "distributions": [FINE, {"distribution": "x", "refused": "no"}], "discriminating": False},
     ok("N=4: right for 2 other distributions")),
    (distributions, {**AT4, "distributions": [FINE], "discriminating": True},
     ok("N=4: right for 1 other distributions, discriminating inputs among them")),
    (distributions, {**AT4, "distributions": [TINY, NEAR, FAR], "discriminating": False, "undefined": None},
     bad(f"N=4: all equal inputs: {TOLD}")),
    (distributions, {**AT4, "distributions": [{**FAR, "shape": N8}], "discriminating": False, "undefined": "race: x"},
     bad(f"N=8: all equal inputs: {TOLD}", "undefined", shape=N8)),
    (distributions, {**AT4, "distributions": [TINY], "discriminating": False},
     bad(f"N=4: tiny inputs: {TOLD}", "hint")),
    (distributions, {**AT4, "distributions": [{**FAR, "distribution": "thousandfold", "got": 3.0, "half": True}],
                     "discriminating": False},
     bad("N=4: thousandfold inputs: 3 of 4 elements wrong; at [1] expected 2, got 3", "hint")),
    (distributions, {**AT4, "distributions": [{**FAR, "distribution": "thousandfold", "got": "inf"}],
                     "discriminating": False},
     bad("N=4: thousandfold inputs: 3 of 4 elements wrong; at [1] expected 2, got inf", "hint")),
    *[(distributions, {**AT4, "distributions": [{**FAR, "distribution": "thousandth", "expected": due, "got": 0.0}],
                       "discriminating": False, "undefined": None},
       bad(f"N=4: thousandth inputs: 3 of 4 elements wrong; at [1] expected {due:g}, got 0", grade))
      for due, grade in ((1e-8, "hint"), (1e-4, "proved"))],
    (distributions, {**AT4, "distributions": [{**FAR, "distribution": "discriminating", "got": "nan"}],
                     "discriminating": True},
     ("error", None, "N=4: discriminating inputs: 3 of 4 elements wrong; at [1] expected 2, got nan; it may be made "
                     "for smaller numbers, and at the task's own it cannot be told", None, None)),
    (distributions, {**AT4, "distributions": [{**FAR, "distribution": "discriminating", "got": "nan"}, FAR],
                     "discriminating": True, "undefined": None},
     bad(f"N=4: all equal inputs: {TOLD}")),
    (distributions, {**AT4, "distributions": [{**FAR, "outside": True}], "discriminating": False},
     bad(f"N=4: all equal inputs: {TOLD}", "hint")),
    (distributions, {**AT4, "distributions": [{**FAR, "distribution": "negative"}], "discriminating": False,
                     "undefined": None},
     bad("N=4: negative inputs: 3 of 4 elements wrong; at [1] expected 2, got nan")),
    (distributions, {**AT4, "distributions": [{**FAR, "distribution": "far_offset"}], "discriminating": False},
     bad("N=4: far offset inputs: 3 of 4 elements wrong; at [1] expected 2, got nan", "hint")),
    (distributions, {**AT4, "distributions": [NEAR], "discriminating": False},
     bad("N=4: all equal inputs: 3 of 4 elements wrong; at [1] expected 2, got 2.5; all within 10 times what they may "
         "be off, which rounding can explain", "hint")),
    (distributions, {**AT4, "not_asked": "too_large"},
     ("skip", None, "not asked: N=4: too large for many calls; a smaller shape in `others` would be asked", None,
      None)),
    (nonfinite, {**AT4, "not_asked": "unread"},
     ("skip", None, "not asked: N=4: the reference's result depends on none of the elements that were replaced", None,
      None)),
    (first_call, {"launches_first": 2, "launches_later": 2},
     ok("kernels launched by the first call: 2, by a later one: 2")),
    (first_call, {"launches_first": 3, "launches_later": 1, "left_out": ["a", "b"]},
     bad("kernels launched by the first call: 3, by a later one: 1; left out: a, b", "hint", shape=None)),
    (fresh_values, {"shapes": [{**LATER, **RIGHT}]}, ok("right in 1 later calls with other values")),
    (fresh_values, {"shapes": [{**LATER, "right_alone": False}, {**LATER, "shape": N8, "replayed": True,
                                                                 "right_alone": True}], "undefined": None},
     bad(f"N=8: whole numbers at the same addresses: {TOLD}; bit for bit the result of the first call; "
         "the same inputs come out right in a fresh process", shape=None)),
    (fresh_values, {"shapes": [{**LATER, "right_alone": False}], "undefined": "race: x"},
     bad(f"N=4: whole numbers at the same addresses: {TOLD}; alone too", "undefined", shape=None)),
    (fresh_values, {"shapes": [{**LATER, "right_alone": False, "outside": True}], "undefined": None},
     bad(f"N=4: whole numbers at the same addresses: {TOLD}; alone too; the task's own inputs keep to a range that "
         "this leaves", "hint", shape=None)),
    (fresh_values, {"shapes": [{**LATER, "right_alone": False, "tied": True}], "undefined": None},
     bad(f"N=4: whole numbers at the same addresses: {TOLD}; alone too; the right result hangs on equal numbers there, "
         "which the reference has a rule for", "hint", shape=None)),
    (fresh_values, {"shapes": [{**LATER, "right_alone": True, "tied": True}], "undefined": None},
     bad(f"N=4: whole numbers at the same addresses: {TOLD}; the same inputs come out right in a fresh process",
         shape=None)),
    (fresh_values, {"shapes": [{**LATER, "right_alone": False, "overflowed": 4096.0}], "undefined": None},
     bad(f"N=4: whole numbers at the same addresses: {TOLD}; alone too; the element was moved by 4096 steps until the "
         "right result showed it, and overflows", "hint", shape=None)),
    (fresh_values, {"shapes": [{**LATER, "right_alone": True, "overflowed": 4096.0}], "undefined": None},
     bad(f"N=4: whole numbers at the same addresses: {TOLD}; the same inputs come out right in a fresh process",
         shape=None)),
    (fresh_values, {"shapes": [{**LATER, "right_alone": False, "far": False}], "undefined": None},
     bad(f"N=4: whole numbers at the same addresses: {TOLD}; alone too; all within 10 times what they may be off, "
         "which rounding can explain", "hint", shape=None)),
    (fresh_values, {"shapes": [{**LATER, "right_alone": False, "far": True}], "undefined": None},
     bad(f"N=4: whole numbers at the same addresses: {TOLD}; alone too", shape=None)),
    (fresh_values, {"shapes": [{**LATER, "right_alone": True, "outside": True}], "undefined": None},
     bad(f"N=4: whole numbers at the same addresses: {TOLD}; the same inputs come out right in a fresh process",
         shape=None)),
    (inputs_intact, AT4, ok("N=4: inputs unchanged")),
    (inputs_intact, {**AT4, "inputs_changed": [0, 2]},
     bad("N=4: the call changed input 0, 2, which the reference leaves as it is")),
    (inputs_intact, {**AT4, "inputs_changed": [0, 2], "names": ["input_0_x", "input_1", "input_2_w_a", "input_2_w_b"]},
     bad("N=4: the call changed input 0 (x), 2, which the reference leaves as it is")),
    (inputs_intact, {**AT4, "left_in": [1]},
     bad("N=4: the call left something in input 1, a container of the caller's; timed calls get containers of their "
         "own", "hint")),
    (claimed_launches, LAUNCHES, ok("N=4, the claimed shape: a GPU takes every launch (2); no kernel was run")),
    (claimed_launches, {**LAUNCHES, "launches_in_all": 0},
     ok("N=4, the claimed shape: the host code launches no kernel")),
    (claimed_launches, {**LAUNCHES, **RAISED, "reads_back": False},
     bad("N=4, the claimed shape, is refused: RuntimeError: too large; N=2 comes back with a result", line=7)),
    (claimed_launches, {**LAUNCHES, **RAISED, "reads_back": True},
     bad("N=4, the claimed shape, is refused: RuntimeError: too large; N=2 comes back with a result", "hint", line=7)),
    (claimed_launches, {**LAUNCHES, "refused": REFUSED, "reads_back": False},
     bad("N=4, the claimed shape: launch of k refused: no blocks", line=9)),
    (claimed_launches, {**LAUNCHES, "refused": REFUSED, "reads_back": True},
     bad("N=4, the claimed shape: launch of k refused: no blocks", "hint", 9)),
    (claimed_blocks, {**PART, **RIGHT},
     ok("N=4, the claimed shape: 24 of 1,000 blocks run; right at the 2,000 elements they write")),
    *[(claimed_blocks, {**PART, **WRONG, "line": 9, "undefined": undefined, **more},
       bad("N=4, the claimed shape: 24 of 1,000 blocks run; 3 of 2,000 elements they write are wrong; "
           "at [1] expected 2, got nan", grade, 9))
      for undefined, more, grade in ((None, {}, "proved"), ("race: x", {}, "undefined"),
                                     (None, {"in_one_order": True}, "hint"),
                                     ("race: x", {"in_one_order": True}, "undefined"))],
    (claimed_blocks, {**PART, **WRONG, "line": 9, "undefined": "race: x", "in_every_order": False},
     bad("N=4, the claimed shape: 24 of 1,000 blocks run; 3 of 2,000 elements they write are wrong; at [1] expected 2, "
         "got nan", "undefined", 9)),
    (claimed_blocks, {**PART, **WRONG, "line": 9, "undefined": "race: x", "in_every_order": True},
     bad("N=4, the claimed shape: 24 of 1,000 blocks run; 3 of 2,000 elements they write are wrong; at [1] expected 2, "
         "got nan; beside undefined behaviour (race: x), but so in every order and fill", "proved", 9)),
    (claimed_blocks, {**PART, **WRONG, "line": 9, "undefined": None, "distribution": "constant_rows"},
     bad("N=4, the claimed shape, constant rows inputs: 24 of 1,000 blocks run; 3 of 2,000 elements they write are "
         "wrong; at [1] expected 2, got nan", "proved", 9)),
    (claimed_blocks, {**PART, **WRONG, "line": 9, "other_order": "random"},
     bad(f"N=4, the claimed shape: right in the order of blocks, in another (random) {TOLD}", "undefined", 9)),
    *[(claimed_blocks, {**PART, **RIGHT, "access": {"kind": "race-shared", "line": 9, "kernel": "k", "count": 2,
                                                    "message": "two writes", "grade": grade}},
       bad("N=4, the claimed shape, 4 blocks of each launch, every access checked: race-shared in line 9 of k "
           "(2 times): two writes", grade, 9)) for grade in ("undefined", "proved")],
    (claimed_blocks, {**PART, "right": False, "unwritten": 3, "elements": 4000, "line": 9},
     bad("N=4, the claimed shape: 24 of 1,000 blocks run; 3 of 4,000 elements are never written", "proved", 9)),
    (claimed_blocks, {**PART, **RIGHT, "graded_too": True},
     ok("N=4, the claimed shape: 24 of 1,000 blocks run; right at the 2,000 elements they write, for graded inputs "
        "too")),
    (claimed_blocks, {**PART, **RIGHT, "redrawn_too": True},
     ok("N=4, the claimed shape: 24 of 1,000 blocks run; right at the 2,000 elements they write, with fixed inputs "
        "redrawn too")),
    (claimed_blocks, {**PART, **WRONG, "line": 9, "undefined": None, "redrawn": True},
     bad("N=4, the claimed shape, fixed inputs redrawn: 24 of 1,000 blocks run; 3 of 2,000 elements they write are "
         "wrong; at [1] expected 2, got nan", "proved", 9)),
    (claimed_blocks, {**PART, **WRONG, "line": 9, "undefined": None, "graded": True, "orders": 3, "output": 1},
     bad("N=4, the claimed shape, graded inputs: 24 of 1,000 blocks run; 3 of 2,000 elements they write are wrong; at "
         "[1] of output 1 expected 2, got nan, and 10 times farther off than they may be in each of 3 orders",
         "proved", 9)),
    (claimed_blocks, {**AT4, "follows_fresh_shared": 3, "line": 9},
     bad("N=4, the claimed shape: elements of the result that follow what shared memory held before the kernel wrote "
         "it, or a lane that takes no part: 3", "undefined", 9)),
    *[(claimed_blocks, {**AT4, "returned": [2], "due": [4], "reads_back": reads_back},
       bad("N=4, the claimed shape: expected a tensor of shape [4], got one of shape [2]", grade))
      for reads_back, grade in ((False, "proved"), (True, "hint"))],
    (claimed_blocks, {**AT4, **RIGHT}, ok("N=4, the claimed shape: all 4 elements right")),
    (claimed_blocks, {**AT4, **WRONG}, bad(f"N=4, the claimed shape: {TOLD}")),
    (claimed_blocks, {**AT4, **WRONG, "launches_nothing": True},
     bad(f"N=4, the claimed shape, at which the host code launches no kernel: {TOLD}")),
]  # fmt: skip


@pytest.mark.parametrize(("probe", "seen", "expected"), CASES, ids=[f"{p.NAME}-{i}" for i, (p, *_) in enumerate(CASES)])
def test_a_conclusion_follows_from_observations_in_json(probe: Probe, seen: Observed, expected: Expected) -> None:
    found = answer.finding(probe.NAME, "claimed", json.loads(json.dumps(seen)), probe.conclude)
    assert (found.outcome, found.grade, found.summary, found.line, found.shape) == expected


def test_a_changed_setting_has_nothing_to_do_with_sizes() -> None:
    assert backend_flags.conclude({**AT4, "changed_by_loading": ["tf32"], "changed_by_calls": []}).anywhere
