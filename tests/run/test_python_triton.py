"""Triton kernels on the emulated device, through Triton's own interpreter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from audit.build.emulated.device import EmulatedDevice
from audit.build.settings import Configuration, EmulatedPythonSettings
from audit.model import Harness, Variant
from audit.run.devices.triton.interpreter import chosen
from audit.run.devices.triton.open_lanes import MESSAGES
from audit.run.messages.requests import Launches
from audit.run.processes.pool import Reply, Workers
from tests.run.test_python_session import REFERENCE, asked, value

HEAD = """
import torch
import triton
import triton.language as tl

{decorator}@triton.jit
def twice(x, y, n, block: tl.constexpr):
    index = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(y + index, 2 * tl.load(x + index, mask=index < n), mask=index < n)

def forward(x):
    y = torch.empty_like(x)
    {call}
    return y
"""
STORE = "tl.store(y + index, 2 * tl.load(x + index, mask=index < n), mask=index < n)"
LAUNCH = "twice[(triton.cdiv(x.numel(), 4),)](x, y, x.numel(), block=4)"
CONFIGURATION = Configuration(
    allocator="plain", thread_order="forward", block_order="forward", seed=0, checker=False, compute_capability=75,
    shared_word=0, lane_word=0, kernel_seconds=1.0,
)  # fmt: skip
CONFIGS = "triton.Config({'block': 4}), triton.Config({'block': 8})"


def source(call: str, decorator: str = "") -> str:
    return HEAD.format(call=call, decorator=decorator)


def apart(workers: Workers, folder: Path, text: str, x: torch.Tensor, *, blocks: int) -> Reply:
    """A call of which so many programs of a large grid are run."""
    (folder / "reference.py").write_text(REFERENCE)
    (folder / "claimed.py").write_text(text)
    torch.save([x], folder / "0.pt")
    variant = Variant(file="claimed.py", role="claimed", technique="t")
    built = EmulatedDevice().build(folder / "claimed.py", variant, optimisation="O2")
    settings = built.settings(memory="poison_nan", order="forward", check=False)
    assert isinstance(settings, EmulatedPythonSettings)
    configuration = settings.configuration.model_copy(update={"blocks": blocks, "seed": 7})
    request = Launches(
        device=settings.model_copy(update={"configuration": configuration}),
        entry="forward",
        harness=Harness(),
        inputs=(folder / "0.pt",),
        folder=folder,
    )
    return workers.call(request, limit_s=60.0)


def test_a_launch_is_told_with_its_grid_and_line(workers: Workers, tmp_path: Path) -> None:
    text = source(LAUNCH)
    reply = asked(workers, tmp_path, text)
    assert reply.finished, reply.detail
    assert value(tmp_path) == [0, 2, 4, 6, 8, 10]
    (launch,) = reply.events[0]["launches"]
    assert (launch["kernel"], launch["grid"][:1]) == ("twice", [2])
    assert text.splitlines()[launch["line"] - 1].strip() == LAUNCH


def test_autotuning_takes_a_configuration_without_a_gpu(workers: Workers, tmp_path: Path) -> None:
    call = "twice[lambda meta: (triton.cdiv(x.numel(), meta['block']),)](x, y, x.numel())"
    reply = asked(workers, tmp_path, source(call, f"@triton.autotune(configs=[{CONFIGS}], key=['n'])\n"))
    assert reply.finished, reply.detail
    assert value(tmp_path) == [0, 2, 4, 6, 8, 10]
    taken = {"kernel": "twice", "configuration": "block=4, num_warps=4, num_stages=3", "of": 2}
    assert [event["tuned"] for event in reply.events] == [[taken]]


AHEAD = """active = triton.runtime.driver.active
    assert x.device == active.get_active_torch_device() == torch.device("cuda:0")
    kernel = twice.warmup(x, y, x.numel(), block=4, num_warps=4, grid=(1,))
    kernel._init_handles()
    registers = active.utils.get_device_properties(x.device.index)["max_num_regs"]
    assert registers // kernel.n_regs > 0 < kernel.metadata.shared
    kernel[(2, 1, 1)](x, y, x.numel(){block})"""


@pytest.mark.parametrize("block", ["", ", 4"], ids=["without constants", "with constants"])
def test_a_kernel_that_was_built_ahead_is_launched(workers: Workers, tmp_path: Path, block: str) -> None:
    reply = asked(workers, tmp_path, source(AHEAD.format(block=block)))
    assert reply.finished, reply.detail
    assert value(tmp_path) == [0, 2, 4, 6, 8, 10]
    assert [launch["grid"] for launch in reply.events[0]["launches"]] == [[2, 1, 1]]


SUMS = "tl.atomic_add(y + index, 2 * tl.load(x + index, mask=index < n), mask=index < n)"


@pytest.mark.parametrize(
    ("reset", "first"), [("", 4.0), (", reset_to_zero=['y']", 2.0), (", restore_value=['y']", 2.0)]
)
def test_what_a_trial_of_the_autotuner_adds_stays_unless_it_is_reset(
    workers: Workers, tmp_path: Path, reset: str, first: float
) -> None:
    call = "twice[lambda meta: (triton.cdiv(x.numel(), meta['block']),)](x, y, x.numel())"
    text = source(call, f"@triton.autotune(configs=[{CONFIGS}], key=['n']{reset})\n")
    text = text.replace(STORE, SUMS).replace("empty_like", "zeros_like")
    reply = asked(workers, tmp_path, text, "claim", "claim")
    assert reply.finished, reply.detail
    assert [value(tmp_path, step)[1] for step in range(2)] == [first, 2.0]
    assert [len(event["launches"]) for event in reply.events] == [1, 1]  # a trial is no launch of the call's own


def test_a_grid_that_a_gpu_refuses_raises_as_triton_does(workers: Workers, tmp_path: Path) -> None:
    reply = asked(workers, tmp_path, source("twice[(1, 65536)](x, y, x.numel(), block=8)"))
    assert reply.finished, reply.detail
    (event,) = reply.events
    assert event["raised"] == "RuntimeError: Triton Error [CUDA]: invalid argument"
    assert "(1, 65536, 1) is over (2147483647, 65535, 65535)" in event["launches"][0]["refused"]
    assert event["reports"] == []


def test_a_grid_of_no_programs_is_not_launched(workers: Workers, tmp_path: Path) -> None:
    reply = asked(workers, tmp_path, source("twice[(0,)](x, y, x.numel(), block=8)").replace("empty_like", "ones_like"))
    assert reply.finished, reply.detail
    assert (reply.events[0]["launches"], value(tmp_path)) == ([], [1.0] * 6)


@pytest.mark.parametrize(("blocks", "written"), [(0, 0), (12, 12 * 64), (-1, 64 * 1000)])
def test_a_few_programs_of_a_large_grid_write_their_own_part(
    workers: Workers, tmp_path: Path, blocks: int, written: int
) -> None:
    text = source("twice[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), block=64)")
    reply = apart(workers, tmp_path, text, torch.ones(64 * 1000), blocks=blocks)
    assert reply.finished, reply.detail
    (launch,) = reply.events[0]["launches"]
    assert (launch["grid"], launch["blocks_run"], launch["atomics"]) == ([1000, 1, 1], written // 64, False)
    if blocks:
        assert value(tmp_path).count(2.0) == written


@pytest.mark.parametrize(
    ("output", "behind", "blanked"),
    [
        ("torch.empty_like(x)", "", True),
        ("torch.zeros_like(x)", "", True),
        ("x", "", True),
        ("torch.zeros_like(x)", "y.div_(y.sum())", False),  # reads what the blocks left out would have written
        ("x", "y += 1", False),
    ],
)
def test_a_result_that_torch_changes_behind_the_kernel_is_not_what_a_few_programs_write(
    workers: Workers, tmp_path: Path, output: str, behind: str, blanked: bool
) -> None:
    text = source("twice[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), block=64)\n    " + (behind or "pass"))
    text = text.replace("torch.empty_like(x)", output)
    reply = apart(workers, tmp_path, text, torch.ones(64 * 1000), blocks=12)
    assert reply.finished, reply.detail
    assert reply.events[0]["blanked"] is blanked


@pytest.mark.parametrize("grid", [(1000, 1, 1), (10, 20, 30), (65, 1, 1)])
def test_drawn_programs_hold_the_corners(grid: tuple[int, int, int]) -> None:
    few = [chosen(grid, CONFIGURATION.model_copy(update={"blocks": 24, "seed": seed})) for seed in (1, 2)]
    last = grid[0] * grid[1] * grid[2] - 1
    for drawn in few:
        assert len(set(drawn)) == len(drawn) == 24
        assert {0, last} <= set(drawn) <= set(range(last + 1))
    assert few[0] != few[1]
    assert chosen((8, 8, 1), CONFIGURATION.model_copy(update={"blocks": 24})) == list(range(64))


def test_a_kernel_the_interpreter_refuses_is_a_report_and_no_launch(workers: Workers, tmp_path: Path) -> None:
    call = "try:\n        twice[(1,)](x, y, x.numel(), block=3)\n    except Exception: return x * 2"
    reply = asked(workers, tmp_path, source(call))
    assert reply.finished, reply.detail
    (report,) = reply.events[0]["reports"]
    assert (report["kind"], report["kernel"], reply.events[0]["launches"]) == ("interpreter-failed", "twice", [])


IN_A_LOOP = """for start in range(0, n, block):
        at = start + tl.arange(0, block)
        tl.store(y + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)"""


def checked(workers: Workers, folder: Path, body: str, **more: str) -> tuple[list[tuple[Any, ...]], dict[str, Any]]:
    text = source(LAUNCH).replace(STORE, body)
    reply = asked(workers, folder, text, check=True, **more)
    assert reply.finished, reply.detail
    lines = text.splitlines()
    event = reply.events[0]
    reports = [one for one in event["reports"] if one["kind"] not in MESSAGES]
    return [(one["kind"], one["kernel"], lines[one["line"] - 1].strip()) for one in reports], event


def test_a_loop_over_an_argument_runs(workers: Workers, tmp_path: Path) -> None:
    assert checked(workers, tmp_path, IN_A_LOOP)[0] == []
    assert value(tmp_path) == [0, 2, 4, 6, 8, 10]


def test_a_float_is_a_scalar_of_float32_and_a_launch_has_what_wrappers_print(workers: Workers, tmp_path: Path) -> None:
    call = "with torch.cuda._DeviceGuard(x.device.index), torch.cuda.device_of(x):\n        "
    call += "k = twice[(2,)](x, y, 6, 0.1, block=4)\n    assert k.n_spills == 0"
    text = source(call).replace("n, block", "n, eps, block")
    reply = asked(workers, tmp_path, text.replace("2 *", "(1e9 * eps.to(tl.float64) - 1e8) *"))
    assert reply.finished, reply.detail
    assert value(tmp_path)[1] == pytest.approx(1e9 * float(torch.tensor(0.1)) - 1e8)


@pytest.mark.parametrize(
    ("body", "kinds"),
    [
        (STORE, []),
        ("tl.store(y + index, 2 * tl.load(x + index), mask=index < n)", ["out-of-bounds-read"]),
        ("tl.store(y + index, 2 * tl.load(x + index, mask=index < n))", ["out-of-bounds-write"]),
        ("tl.store(y + index - (1 << 28), tl.load(x + index, mask=index < n), mask=index < 0)", []),
        ("tl.store(y + index + (1 << 36), tl.load(x + index, mask=index < n), mask=index < n)", ["illegal-address"]),
        ("tl.store(y, tl.program_id(0) + 1.0)", ["race-global"]),
        ("tl.store(y, 1.0)", []),
        ("tl.atomic_add(y, 1.0)", ["uninitialised-read"]),
        ("tl.store(x, tl.load(x) + 1)", ["race-global"]),
        ("tl.atomic_add(x, 1.0)", []),
        ("tl.store(y + index, tl.load(y + index, mask=index < n), mask=index < n)", ["uninitialised-read"]),
    ],
)
def test_what_programs_touch_is_checked(workers: Workers, tmp_path: Path, body: str, kinds: list[str]) -> None:
    found, _ = checked(workers, tmp_path, body, memory="poison_nan")
    assert list(dict.fromkeys(found)) == [(kind, "twice", body) for kind in kinds]


def test_a_block_pointer_is_checked(workers: Workers, tmp_path: Path) -> None:
    """A boundary check masks lanes; without one they read and write behind the tensors."""
    body = """at = tl.program_id(0) * block
    source = tl.make_block_ptr(x, (n,), (1,), (at,), (block,), (0,))
    target = tl.make_block_ptr(y, (n,), (1,), (at,), (block,), (0,))
    tl.store(target, 2 * tl.load(source, boundary_check=(0,)), boundary_check=(0,))"""
    assert checked(workers, tmp_path, body)[0] == []
    assert value(tmp_path) == [0, 2, 4, 6, 8, 10]
    kinds = [kind for kind, _, _ in checked(workers, tmp_path, body.replace(", boundary_check=(0,)", ""))[0]]
    assert kinds == ["out-of-bounds-read", "out-of-bounds-write"]


def test_an_address_that_is_no_memory_ends_no_session(workers: Workers, tmp_path: Path) -> None:
    body = "tl.store(y + index, 2 * tl.load(x + index + (1 << 36), mask=index < n, other=1.0), mask=index < n)"
    reply = asked(workers, tmp_path, source(LAUNCH).replace(STORE, body))
    assert reply.finished, reply.detail
    assert [one["kind"] for one in reply.events[0]["reports"]] == ["illegal-address"]


@pytest.mark.parametrize(("order", "last"), [("forward", 2.0), ("reverse", 1.0), ("none", 0.0)])
def test_programs_run_in_the_order_asked_for(workers: Workers, tmp_path: Path, order: str, last: float) -> None:
    _, event = checked(workers, tmp_path, "tl.store(y, tl.program_id(0) + 1.0)", memory="zero", order=order)
    assert value(tmp_path)[0] == last
    assert [one["grid"] for one in event["launches"]] == [[2, 1, 1]]


def test_a_write_is_counted(workers: Workers, tmp_path: Path) -> None:
    assert checked(workers, tmp_path, STORE)[1]["most_writes"] == 1
    assert checked(workers, tmp_path, f"{STORE}\n    {STORE}")[1]["most_writes"] == 2


@pytest.mark.parametrize(
    ("computed", "wanted"),
    [
        ("a * b", lambda a, b: a * b),
        ("a - b * 3.0", lambda a, b: a - b * 3.0),
        ("tl.maximum(a, b)", torch.maximum),
        ("tl.where(a < b, a, b)", torch.minimum),
        ("tl.exp(b.to(tl.float32)).to(tl.bfloat16)", lambda _, b: b.exp()),
        ("(a * 1000).to(tl.int32).to(tl.bfloat16)", lambda a, _: (a * 1000).int().bfloat16()),
        ("a.to(tl.float16)", lambda a, _: a.half()),
        ("tl.sum(a, 0)[None] + b * 0", lambda a, b: a.float().sum().bfloat16() + b * 0),
        ("tl.max(a, 0)[None] + b * 0", lambda a, b: a.max() + b * 0),
        ("tl.cumsum(a, 0)", lambda a, _: a.float().cumsum(0)),
        ("tl.argmax(a, 0)[None] + b * 0", lambda a, b: a.argmax() + b * 0),
        ("tl.fma(a, b, b)", lambda a, b: (a.float() * b.float() + b.float()).bfloat16()),
        ("tl.sum(tl.dot(a[:, None] + b[None, :] * 0, b[None, :] + a[:, None] * 0), 1)",
         lambda a, b: (a.float()[:, None].expand(-1, 16) @ b.float()[None, :].expand(16, -1)).sum(1)),
    ],
)  # fmt: skip
def test_bfloat16_is_computed_as_numbers(workers: Workers, tmp_path: Path, computed: str, wanted: Any) -> None:
    """The interpreter keeps it as whole numbers, and by itself computes with those."""
    torch.manual_seed(1)
    a, b = torch.randn(16).bfloat16(), torch.randn(16).bfloat16()
    text = f"""
import torch
import triton
import triton.language as tl

@triton.jit
def both(x, y, out):
    index = tl.arange(0, 16)
    a, b = tl.load(x + index), tl.load(y + index)
    tl.store(out + index, {computed})

def forward(_):
    a, b = torch.tensor({a.tolist()}).bfloat16(), torch.tensor({b.tolist()}).bfloat16()
    out = torch.empty(16)
    both[(1,)](a, b, out)
    return out
"""
    reply = asked(workers, tmp_path, text)
    assert reply.finished and "raised" not in reply.events[0], reply
    assert value(tmp_path) == pytest.approx(wanted(a, b).float().tolist(), rel=1e-6)


def test_an_atomic_operation_on_bfloat16_is_refused(workers: Workers, tmp_path: Path) -> None:
    text = source(LAUNCH.replace("(x, y,", "(x.bfloat16(), y.bfloat16(),")).replace(STORE, "tl.atomic_add(y, 1.0)")
    (event,) = asked(workers, tmp_path, text).events
    assert event["raised"].startswith("InterpreterError: NotImplementedError('an atomic operation on bfloat16')")


@pytest.mark.parametrize(
    ("word", "rounded"), [("", True), (", input_precision='tf32x3'", False), (", input_precision='ieee'", False)]
)
@pytest.mark.parametrize("capability", [75, 80])
def test_a_product_of_float32_has_the_bits_of_the_claims_gpu(
    workers: Workers, tmp_path: Path, word: str, rounded: bool, capability: int
) -> None:
    text = f"""
import torch
import triton
import triton.language as tl

@triton.jit
def product(x, out):
    index = tl.arange(0, 16)
    square = index[:, None] * 16 + index[None, :]
    tl.store(out + square, tl.dot(tl.load(x + square), tl.load(x + square){word}))

def forward(_):
    torch.manual_seed(1)
    x, out = torch.randn(16, 16), torch.empty(16, 16)
    product[(1,)](x, out)
    return out
"""
    reply = asked(workers, tmp_path, text, capability=capability)
    assert reply.finished and "raised" not in reply.events[0], reply
    torch.manual_seed(1)
    x = torch.randn(16, 16)
    off = (torch.tensor(value(tmp_path)).view(16, 16).double() - x.double() @ x.double()).abs().max()
    assert (1e-4 < off < 1e-2) if rounded and capability == 80 else off < 1e-5


def test_what_triton_raises_names_its_own_functions(workers: Workers, tmp_path: Path) -> None:
    text = source(LAUNCH).replace(STORE, "tl.store(y, tl.tensor(1.0))")
    (event,) = asked(workers, tmp_path, text).events
    assert "tensor.__init__() missing 1 required positional argument" in event["raised"]
