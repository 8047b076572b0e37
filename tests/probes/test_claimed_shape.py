"""What is asked at a claimed shape that a device cannot run: which answers count, which calls cannot be asked so."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
import torch

from audit.build.settings import Configuration, EmulatedSettings
from audit.model import Harness, Tolerance
from audit.model.errors import Unsupported
from audit.probes import claimed_blocks, claimed_launches
from audit.probes.concluding import answer, block_inputs, block_results
from audit.probes.concluding.behaviour import WITHIN_A_WARP
from audit.probes.observing import block_calls, claimed_shape
from audit.probes.observing.called import Call, SessionBroken
from audit.probes.observing.cases import Case
from audit.probes.observing.claimed_shape import Launched
from audit.probes.observing.references import References
from audit.probes.observing.target import Target
from audit.run.calls.arguments import as_bytes
from audit.run.messages.results import digest_of
from audit.run.sessions.launches import write_described

CONFIGURATION = Configuration(
    allocator="plain",
    thread_order="forward",
    block_order="forward",
    seed=0,
    checker=False,
    compute_capability=75,
    shared_word=0,
    lane_word=0,
    kernel_seconds=1.0,
)
SETTINGS = EmulatedSettings(
    library=Path("k"), header_set="h", runtime=Path("r"), digests={}, configuration=CONFIGURATION
)
SHAPE = {"N": 4096}
CASE = Case(SHAPE, Path("x"), np.zeros(4), "float32", scope="claimed")
LAST = {"kernel": "k", "line": 9, "grid": [100, 1, 1], "block": [32, 1, 1], "blocks_run": 24, "atomics": False,
        "refused": None, "dynamic_shared_bytes": 0, "seconds": 1.0}  # fmt: skip
WHOLE = {**LAST, "blocks_run": 100}
EVENT: dict[str, Any] = {"raised": None, "reports": [], "shape": [4], "launches": [LAST], "blanked": True,
                         "seconds": 1.0}  # fmt: skip


def target(tmp_path: Path, source: str, *, cases: tuple[Case, ...] = ()) -> Target:
    (tmp_path / "claimed.cu").write_text(source, encoding="utf-8")
    made = SimpleNamespace(
        claim=SimpleNamespace(shapes=SimpleNamespace(claimed=SHAPE, emulated_by="claim", others=(), module=())),
        variant=SimpleNamespace(name="claimed", file="claimed.cu"),
        built=SimpleNamespace(tensor_device="cpu", settings=lambda **_: None),
        reference=tmp_path / "reference.py",
        cases=cases,
    )
    return cast(Target, made)


def asked(monkeypatch: pytest.MonkeyPatch, made: Target, launch: dict[str, Any], raised: str | None = None) -> Any:
    monkeypatch.setattr(claimed_shape, "launched", lambda *_: [Launched(SHAPE, raised, [launch], [])])
    return answer.ask(claimed_launches, made)


REFUSED = {**LAST, "refused": "the GPU refuses this launch: grid (0, 1, 1) has no blocks"}


@pytest.mark.parametrize(
    ("source", "grade"),
    [
        ("k<<<n * n, 1>>>(x);", "proved"),
        ("int n = counts.item<int>(); k<<<n, 1>>>(x);", "hint"),
        ("cudaMemcpy(&n, d, 4, cudaMemcpyDeviceToHost); k<<<n, 1>>>(x);", "hint"),
        ("auto n = sizes.cpu(); k<<<n, 1>>>(x);", "hint"),
    ],
)
def test_a_refused_launch_at_the_claimed_shape(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, grade: str
) -> None:
    found = asked(monkeypatch, target(tmp_path, source), REFUSED)
    assert (found.outcome, found.grade, found.shape, found.claimed, found.line) == ("fail", grade, SHAPE, True, 9)
    assert "grid (0, 1, 1) has no blocks" in found.summary


def test_launches_that_a_gpu_takes_pass_and_host_code_that_raises_is_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert asked(monkeypatch, target(tmp_path, ""), LAST).outcome == "pass"
    with pytest.raises(Unsupported, match="the host code raised RuntimeError: no"):
        asked(monkeypatch, target(tmp_path, ""), LAST, "RuntimeError: no")


CHECK = 'void f() {\n  TORCH_CHECK(A.size(0) <= MOST, "matrix is larger than the constant memory");\n}'


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (CHECK, 2),
        ('if (n > MOST) {\n throw std::invalid_argument("matrix is larger than the constant memory");\n}', 1),
        ('TORCH_CHECK(cudaGetLastError() == cudaSuccess, "matrix is larger than the constant memory");', None),
        ('TORCH_CHECK(properties.major >= 8, "matrix is larger than the constant memory");', None),
        ('TORCH_CHECK(ids.max().item<int>() < n, "matrix is larger than the constant memory");', None),
        ('TORCH_CHECK(buffer, "matrix is larger than the constant memory");', None),
    ],
)
def test_an_exception_is_a_refusal_where_the_source_says_it_behind_a_condition_about_sizes(
    source: str, line: int | None
) -> None:
    raised = "RuntimeError: matrix is larger than the constant memory"
    assert claimed_launches.refusing_line(raised, source) == line


@pytest.mark.parametrize(("more", "grade"), [("", "proved"), ("x.item<int>();", "hint")])
def test_a_check_of_sizes_that_refuses_the_claimed_shape_fails_where_another_one_came_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: str, grade: str
) -> None:
    case = Case({"N": 16}, Path("x"), np.zeros(4), "float32")
    made = target(tmp_path, CHECK + more, cases=(case,))
    made.middle = case  # type: ignore[misc]
    monkeypatch.setattr(claimed_shape, "needed", lambda _: SHAPE)
    found = asked(monkeypatch, made, LAST, "RuntimeError: matrix is larger than the constant memory")
    assert (found.outcome, found.grade, found.line, found.shape) == ("fail", grade, 2, SHAPE)
    assert "N=16 comes back with a result" in found.summary
    with pytest.raises(Unsupported, match="the host code raised RuntimeError: no"):
        asked(monkeypatch, made, LAST, "RuntimeError: no")


def test_it_is_not_asked_where_the_claimed_shape_itself_is_run(tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match="this device runs it"):
        claimed_shape.needed(target(tmp_path, "", cases=(CASE,)))
    assert claimed_shape.needed(target(tmp_path, "")) == SHAPE


def test_a_python_source_without_kernels_is_not_asked(tmp_path: Path) -> None:
    made = target(tmp_path, "")
    made.variant.file = "claimed.py"  # type: ignore[misc]
    (tmp_path / "claimed.py").write_text("def forward(x):\n    return x @ x\n")
    with pytest.raises(Unsupported, match="a source that runs no kernel of its own"):
        claimed_shape.needed(made)
    built = "load_inline('m', '', '__global__ void k() {}', functions=['k'])\n"
    (tmp_path / "claimed.py").write_text(f"from torch.utils.cpp_extension import load_inline\n{built}")
    with pytest.raises(Unsupported, match="a source that runs no kernel of its own"):
        claimed_shape.needed(made)
    text = f"@triton.jit\n{'def k(x): ...'}\n"
    (tmp_path / "claimed.py").write_text(f"import triton\n{text}def forward(x):\n    return x\n")
    assert claimed_shape.needed(made) == SHAPE


class Ended:
    """Workers whose process ends in one way; `asked` holds the limits of the calls."""

    def __init__(self, ending: str, detail: str) -> None:
        self.reply = SimpleNamespace(ending=ending, finished=False, events=[], detail=detail)
        self.asked: list[float] = []

    def call(self, *_: Any, limit_s: float) -> Any:
        self.asked.append(limit_s)
        return self.reply


def target_with(folder: Path, workers: Ended) -> Any:
    made = target(folder, "")
    made.folder, made.workers, made.references, made.violations = folder, workers, References(), []  # type: ignore[misc, assignment]
    made.claim.entry_of, made.claim.harness = lambda _: "forward", Harness()  # type: ignore[method-assign, misc]
    made.built.limit_s = 60.0  # type: ignore[misc]
    made.settings = lambda *_: SETTINGS  # type: ignore[method-assign]
    return made


def test_memory_that_this_machine_lacks_is_an_error_that_says_so(tmp_path: Path) -> None:
    made = target_with(tmp_path, Ended("raised", "RuntimeError: std::bad_alloc"))
    with pytest.raises(SessionBroken, match="needs more memory than this machine has"):
        claimed_shape._asked(made, [(SHAPE, tmp_path)], {"blocks": 0})


def test_host_code_that_does_not_come_back_in_time_is_no_answer_and_is_asked_once(tmp_path: Path) -> None:
    slow = Ended("timed out", "late")
    made = target_with(tmp_path, slow)
    for _ in range(2):
        with pytest.raises(Unsupported, match="a call of that size within 60 s"):
            claimed_shape._asked(made, [(SHAPE, tmp_path)], {"blocks": 0})
    assert slow.asked == [60.0]


@pytest.mark.parametrize(
    ("launches", "seconds"),
    [
        ([WHOLE], 1.0),
        ([{**LAST, "blocks_run": 25}], 1.0 + 3 * 1.0),
        ([{**LAST, "blocks_run": 25, "seconds": 0.001}, {**WHOLE, "seconds": 0.9}], 1.0 + 3 * 0.001),
        ([{**LAST, "refused": "too many threads"}], math.inf),
        ([], 1.0),
    ],
)
def test_all_blocks_take_as_long_as_those_of_each_launch_say(launches: list[dict[str, Any]], seconds: float) -> None:
    """The time of the host's part, of memory and of whole launches is there once, however many blocks were left out."""
    assert block_calls.whole_s({**EVENT, "launches": launches}) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"raised": "RuntimeError: no"}, "RuntimeError: no"),
        ({"shape": None}, "no tensor of the shape"),
        ({"launches": [LAST, WHOLE]}, "build on each other"),
        ({"launches": [LAST, LAST]}, "build on each other"),
        ({"launches": [{**LAST, "atomics": True}]}, "add into memory together"),
        ({"blanked": False}, "which elements"),
        ({"reports": [{"kind": "time-limit", "message": "too long"}]}, "too long"),
    ],
)
def test_calls_of_which_a_few_blocks_say_nothing(changed: dict[str, Any], why: str) -> None:
    assert why in (block_calls.why_not({**EVENT, **changed}, CASE) or "")


def test_a_few_blocks_that_are_stopped_are_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped = {**EVENT, "shape": None, "reports": [{"kind": "time-limit", "message": "too long"}]}
    made = target(tmp_path, "")
    made.variant.role, made.built.poisons = "claimed", ("first", "second")  # type: ignore[misc, assignment]
    made.is_reference, made.cases = False, ()  # type: ignore[misc]
    monkeypatch.setattr(claimed_shape, "launched", lambda *_: [Launched(SHAPE, None, [LAST], [])])
    monkeypatch.setattr(claimed_shape, "cases_of", lambda _: {claimed_shape.OWN: CASE})
    monkeypatch.setattr(claimed_shape, "parts", lambda *_, **__: (stopped, Call({}, tmp_path / "0.bin")))
    with pytest.raises(Unsupported, match="blocks of the claimed shape: too long"):
        answer.ask(claimed_blocks, made)


@pytest.mark.parametrize(
    ("value", "graded", "reference", "outcome", "inputs"),
    [
        (0.0, 0.0, True, "pass", ""),
        (9.0, 0.0, True, "fail", ""),
        (0.0, 9.0, True, "fail", ", graded inputs"),
        (0.0, 9.0, False, "pass", ""),
    ],
)
def test_a_smaller_shape_that_counts_is_run_whole_where_the_claimed_one_gives_no_answer(
    value: float, graded: float, reference: bool, outcome: str, inputs: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """The importer's first candidate has the residue and the divisors of the claimed size. Nothing follows from inputs
    at which the reference is wrong too."""
    shapes = {"claimed": {"N": 1 << 20}, "emulated_by": "importer", "emulated": ({"N": 4096}, {"N": 8}), "others": ()}
    shapes["module"] = ()
    made, asked = target(tmp_path, "k<<<1024, 4>>>(x);"), list[int]()
    made.claim.shapes, made.claim.variant = SimpleNamespace(**shapes), [made.variant]  # type: ignore[misc, assignment]
    made.variant.role, made.built.poisons = "claimed", {"first": 0.0, "second": 1.0}  # type: ignore[misc, assignment]
    made.is_reference, made.references = False, References()  # type: ignore[misc]
    made.tolerance = Tolerance(relative=1e-4, reason="a test")  # type: ignore[misc]
    made.relative = lambda _: 1e-4  # type: ignore[method-assign, misc, assignment]
    made.built.tensor_device = "cpu"  # type: ignore[misc]
    smaller, other = (
        Case({"N": 4096}, Path(name), np.linspace(1.0, 2.0, 4), "float32", scope="kept") for name in ("own", "graded")
    )

    def parts(_: Target, case: Case, *__: Any, blocks: int) -> Any:
        asked.append(blocks)
        off = {smaller.inputs: value, other.inputs: graded}[case.inputs]
        call = SimpleNamespace(values=lambda: case.expected + off, holding=lambda _: np.zeros(4, dtype=bool))
        return {**EVENT, "launches": [WHOLE]}, call

    def cases(*_: Any, scope: str, distribution: str | None, others: bool) -> Any:
        assert others
        every = {claimed_shape.OWN: smaller, "graded": other} if distribution is None else {}
        return every if scope == "kept" else ""

    def late(*_: Any) -> Any:
        raise Unsupported("a call of that size within 60 s")

    monkeypatch.setattr(claimed_shape, "launched", late)
    monkeypatch.setattr(claimed_shape, "_cases", cases)
    monkeypatch.setattr(claimed_shape, "parts", parts)
    monkeypatch.setattr(claimed_blocks, "at_middle", lambda _: {})
    monkeypatch.setattr(block_inputs, "_reference_is_right", lambda *_, **__: reference)
    found = answer.ask(claimed_blocks, made)
    assert (found.outcome, found.claimed, asked) == (outcome, True, [-1] if value else [-1, -1])
    assert f"N=4096, a smaller shape that counts for the claim{inputs}: 100 of 100 blocks run" in found.summary


def test_what_a_launch_leaves_that_ended_in_a_fault_is_no_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = {"kind": "illegal-address", "message": "an illegal access", "kernel": "k", "line": 3, "count": 1}
    seen = {"shape": {"N": 4096}, "fault": {**fault, "proof": "the device", "grade": "proved"}}
    event = {**EVENT, "launches": [WHOLE], "reports": [fault]}
    monkeypatch.setattr(claimed_blocks, "of_blocks", lambda *_, **__: SimpleNamespace(evidence=lambda: seen["fault"]))
    monkeypatch.setattr(block_calls, "called", lambda *_, **__: (-1, [(event, Call({}, tmp_path / "0.bin"))]))
    assert claimed_blocks._asked(target(tmp_path, ""), replace(CASE, shape={"N": 4096}), 1) == seen
    found = claimed_blocks.conclude(seen)
    assert (found.outcome, found.grade, found.line) == ("fail", "proved", 3)
    assert found.summary == "N=4096, the claimed shape: illegal-address in line 3 of k: an illegal access"


RACE = {"kind": "race-global", "message": "reads a word that another thread of the launch writes", "kernel": "k",
        "line": 3, "count": 2}  # fmt: skip


@pytest.mark.parametrize(
    ("blocks", "run", "sparing", "words"),
    [
        (100, 100, False, "N=4096, the claimed shape, every access checked: race-global in line 3 of k (2 times)"),
        (1000, 4, True, None),
    ],
)
def test_races_between_blocks_count_where_every_block_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, blocks: int, run: int, sparing: bool, words: str | None
) -> None:
    launch, made = {**LAST, "grid": [blocks, 1, 1], "blocks_run": run}, target(tmp_path, "")
    made.built.checks_accesses, made.built.nan_memory, made.built.located = True, "nan", list
    given: list[Any] = []

    def parts(*_: Any, **options: Any) -> Any:
        given.append(options["sparing"])
        return {**EVENT, "launches": [launch], "reports": [RACE]}, None

    monkeypatch.setattr(claimed_shape, "parts", parts)
    found = block_calls.undefined_access(made, CASE, [launch])
    assert given == [sparing]
    assert (found is None) == (words is None)
    monkeypatch.setattr(claimed_shape, "parts", lambda *_, **__: ({**EVENT, "launches": [launch], "reports": []}, None))
    assert block_calls.undefined_access(made, CASE, [launch]) == (None if words is None else {})
    if words is not None:
        seen = {"shape": SHAPE, "right": True, "access": found}
        answered = claimed_blocks.conclude(seen)
        assert answered.grade == "undefined"
        assert answered.summary.startswith(words)


def test_a_race_within_a_block_counts_where_the_written_elements_are_not_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A result that host code made by an operator cannot be blanked; what the checker saw in its blocks holds still."""
    made, race = target(tmp_path, ""), {**RACE, "kind": "race-shared"}
    made.built.checks_accesses, made.built.nan_memory, made.built.located = True, "nan", list
    event = {
        **EVENT,
        "blanked": False,
        "launches": [{**LAST, "grid": [1000, 1, 1], "blocks_run": 4}],
        "reports": [race],
    }
    monkeypatch.setattr(claimed_shape, "parts", lambda *_, **__: (event, None))
    found = block_calls.undefined_access(made, CASE, event["launches"])
    assert found is not None and found["kind"] == "race-shared"
    event["raised"] = "RuntimeError: no"
    assert block_calls.undefined_access(made, CASE, event["launches"]) is None


OUTSIDE = {"kind": "illegal-address", "message": "an illegal access", "kernel": "k", "line": 3, "count": 1}


@pytest.mark.parametrize(
    ("smaller", "launches", "found"), [([], [LAST], True), ([OUTSIDE], [LAST], False), ([], [LAST, LAST], False)]
)
def test_a_fault_on_zeros_counts_where_neither_values_nor_an_earlier_launch_can_be_its_cause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, smaller: list[Any], launches: list[Any], found: bool
) -> None:
    made = target(tmp_path, "")
    made.built.located = list
    events = {**EVENT, "reports": smaller}, {**EVENT, "reports": [OUTSIDE], "launches": launches}
    monkeypatch.setattr(claimed_shape, "without_values", lambda *_, **__: events)
    seen = block_calls.fault_without_values(made)
    assert (seen is not None and seen["grade"] == "proved") == found


TOO_LONG = {"kind": "time-limit", "message": "too long"}
FAULT = {"kind": "illegal-address", "message": "an illegal access"}


@pytest.mark.parametrize(
    ("launches", "reports", "asked", "kept"),
    [
        ([LAST], [], [24, 24], [24, 24]),
        ([{**LAST, "blocks_run": 50}], [], [24, 24, -1, -1], [-1, -1]),
        ([LAST, LAST], [], [12, -1, -1], [-1, -1]),
        ([{**LAST, "atomics": True}], [], [24, -1, -1], [-1, -1]),
        ([LAST, LAST], [TOO_LONG], [12, -1], [12]),
        ([LAST], [TOO_LONG], [24, 4, 4], [4, 4]),
        ([LAST], [FAULT], [24], [24]),
    ],
    ids=[
        "apart",
        "apart and few",
        "launches that build on each other",
        "sums",
        "too much work",
        "slow blocks",
        "fault",
    ],
)
def test_every_block_is_run_where_a_few_say_nothing_and_there_is_time(
    launches: list[dict[str, Any]], reports: list[Any], asked: list[int], kept: list[int],
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    made, blocks_asked = target(tmp_path, ""), list[int]()
    made.built.poisons, made.built.limit_s = ("first", "second"), 60.0  # type: ignore[misc, assignment]

    def parts(*_: Any, blocks: int) -> Any:
        blocks_asked.append(blocks)
        whole = [{**one, "blocks_run": 100} for one in launches]
        return {
            **EVENT,
            "launches": launches if blocks > 0 else whole,
            "reports": reports if blocks < 0 or (len(launches) == 1 and blocks > 4) else [],
        }, blocks

    monkeypatch.setattr(claimed_shape, "parts", parts)
    number, entries = block_calls.called(made, CASE, large=len(launches))
    assert [blocks for _, blocks in entries] == kept
    assert number == kept[0]
    assert blocks_asked == asked


@pytest.mark.parametrize("launches", [[LAST], [WHOLE, LAST], [WHOLE], [{**WHOLE, "atomics": True}, LAST]])
def test_calls_of_which_a_few_blocks_say_something(launches: list[dict[str, Any]]) -> None:
    blanked = launches[-1] is LAST
    assert block_calls.why_not({**EVENT, "launches": launches, "blanked": blanked}, CASE) is None


def left(folder: Path, name: str, values: list[float]) -> Call:
    """A call that left those numbers."""
    file = folder / f"{name}.bin"
    file.write_bytes(as_bytes(torch.tensor(values)).numpy().tobytes())
    return Call({"shape": [len(values)], "dtype": "float32", "digest": digest_of(file.read_bytes())}, file)


def test_what_no_block_writes_holds_the_pattern_of_each_call(tmp_path: Path) -> None:
    patterns = {"first": -7.0, "second": 9.0}
    poisons = {name: np.float32(value).tobytes() for name, value in patterns.items()}
    made = SimpleNamespace(built=SimpleNamespace(poisons=poisons))
    calls = [left(tmp_path, name, [1.0, value, value, -7.0]) for name, value in patterns.items()]
    assert block_results.unwritten(cast(Any, made), *calls) == 2


def test_elements_that_hang_on_fresh_memory_are_left_out(tmp_path: Path) -> None:
    values = {"one": [1.0, 2.0, float("nan"), 4.0], "other": [1.0, 2.0, -7.0, 4.0]}
    calls = [left(tmp_path, name, each) for name, each in values.items()]
    assert block_results.same(*calls).tolist() == [True, True, False, True]


@pytest.mark.parametrize(
    ("right_in", "seen", "there", "blocks", "wrong"),
    [
        (None, ["race-shared"], [], 24, True),
        ("lockstep", ["race-shared"], [], 24, False),
        ("full", ["race-shared"], [], 24, False),
        (None, ["warp-mask"], [], 24, False),
        (None, ["race-shared"], ["warp-mask"], 24, False),
        (None, ["race-global"], [], 24, False),
        (None, ["race-global"], [], -1, True),
        (None, ["race-shared"], ["race-shared"], 24, False),
        ("stopped", ["race-shared"], [], 24, False),
    ],
    ids=[
        "in all",
        "not in step",
        "not in a fill",
        "mask",
        "mask there",
        "other blocks",
        "all blocks",
        "lanes",
        "no answer",
    ],
)
def test_blocks_beside_undefined_behaviour_are_wrong_where_every_order_and_fill_says_so(
    right_in: str | None, seen: list[str], there: list[str], blocks: int, wrong: bool,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    made = target(tmp_path, "")
    pattern = np.float32(-7.0).tobytes()
    facts = {"poisons": {"first": pattern}, "nan_memory": "first", "orders": ("forward", "reverse"),
             "more_orders": ("lockstep",), "fills": ("zero", "full")}  # fmt: skip
    for name, value in facts.items():
        setattr(made.built, name, value)
    made.cases, made.middle = (CASE,), CASE  # type: ignore[misc]
    made.tolerance = Tolerance(relative=1e-4, reason="a test")  # type: ignore[misc]
    case = replace(CASE, expected=np.linspace(1.0, 2.0, 4))

    def parts(_: Target, __: Case, mode: Any, *, blocks: int) -> Any:
        reports = [{"kind": kind, "message": WITHIN_A_WARP} for kind in there] if mode.check else []
        reports += [TOO_LONG] if right_in == "stopped" and mode.order == "reverse" else []
        off = 0.0 if right_in in (mode.order, mode.fill) else 9.0
        written = np.array([True, True, False, False])  # the other two are those of other blocks
        call = SimpleNamespace(values=lambda: case.expected + off, holding=lambda _: ~written)
        return {**EVENT, "reports": reports}, call

    behaviour = SimpleNamespace(seen=[SimpleNamespace(kind=kind, message=kind) for kind in seen])
    monkeypatch.setattr(block_results, "checked", lambda *_: behaviour)
    monkeypatch.setattr(claimed_shape, "parts", parts)
    kept = np.array([True, True, True, False])
    assert block_results.wrong_in_every_order(made, case, blocks=blocks, kept=kept) is wrong


def test_described_arguments_take_no_room(tmp_path: Path) -> None:
    def inputs(shape: dict[str, int], generator: torch.Generator) -> list[Any]:
        return [torch.randn(shape["n"], 4, generator=generator), 3, torch.zeros(7, dtype=torch.int64)]

    (event,) = write_described([{"n": 1 << 20}], cast(Any, SimpleNamespace(inputs=inputs)), tmp_path)
    assert event == {"described": 0, "raised": None, "bytes": (16 << 20) + 56, "fractions": False}
    (file,) = tmp_path.glob("*.described.pt")
    assert file.stat().st_size < 10_000
    table, number, indices = torch.load(file, weights_only=True)
    assert (table.shape, number, indices.shape) == (torch.Size([1 << 20, 4]), 3, torch.Size([7]))
    assert indices.dtype == torch.int64


def test_arguments_that_need_values_are_drawn_and_those_that_cannot_be_made_say_why(tmp_path: Path) -> None:
    def drawn(shape: dict[str, int], generator: torch.Generator) -> list[Any]:
        x = torch.randn(shape["n"], generator=generator)
        return [x[x > 0.0], float(x.sum())]

    def refused(shape: dict[str, int], generator: torch.Generator) -> list[Any]:
        raise ValueError(f"no {shape['n']}")

    found = [
        next(write_described([{"n": 100}], cast(Any, SimpleNamespace(inputs=inputs)), tmp_path))
        for inputs in (drawn, refused)
    ]
    assert found[0]["raised"] is None
    assert 0 < found[0]["bytes"] < 400
    assert found[1]["raised"] == "ValueError: no 100"
