"""Elements of a load in Triton to which the source gives no value: what they hold, and which results depend on them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from audit import claims
from audit.build.emulated.device import EmulatedDevice
from audit.device_run import DeviceRun
from audit.probes import memory_access
from audit.probes.concluding.answer import Answer
from audit.probes.observing.target import Target
from audit.run.processes.pool import Workers
from tests.run.test_python_session import asked, value
from tests.run.test_python_triton import LAUNCH, STORE, source

STORED = "tl.store(y + index, {load}, mask=index < n)"
CONTROL, SOURCE = "controls_python_rows", "triton_sum_good.py"
LOAD = "tl.load(x + row * cols + index, mask=index < cols, other=0.0)"
OPEN = LOAD.replace(", other=0.0", "")


@pytest.mark.parametrize(
    ("load", "held"),
    [
        ("tl.load(x + index, mask=index < 2)", [0, 1, 40, 40, 40, 40]),
        ("tl.load(x + index, index < 2)", [0, 1, 40, 40, 40, 40]),
        ("tl.load(x + index, mask=index < 2, other=0.0)", [0, 1, 0, 0, 0, 0]),
        ("tl.load(x + index, mask=index < 2, other=0)", [0, 1, 0, 0, 0, 0]),
        ("tl.load(x + 1, mask=n < 0, other=0)", [0, 0, 0, 0, 0, 0]),  # a scalar, which Triton's code takes for none
        ("tl.load(x + 1, mask=n < 0)", [40, 40, 40, 40, 40, 40]),
        ("tl.load(x + index)", [0, 1, 2, 3, 4, 5]),
        ("tl.load(tl.make_block_ptr(x, (2,), (1,), (0,), (4,), (0,)), boundary_check=(0,))", [0, 1, 40, 40, 0, 1]),
    ],
)
def test_an_element_without_a_value_holds_the_fill(
    workers: Workers, tmp_path: Path, load: str, held: list[float]
) -> None:
    text = source(LAUNCH).replace(STORE, STORED.format(load=load))
    assert asked(workers, tmp_path, text, fill="large").finished
    assert value(tmp_path) == held
    assert asked(workers, tmp_path, text, fill="negative").finished
    assert value(tmp_path) == [-one if one == 40 else one for one in held]
    assert asked(workers, tmp_path, text).finished
    assert value(tmp_path) == [0 if one == 40 else one for one in held]


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float64", "int32", "int8", "float8_e5m2", "float8_e4m3fn"])
def test_the_fill_is_one_number_in_every_type(workers: Workers, tmp_path: Path, kind: str) -> None:
    text = source(LAUNCH.replace("(x, y,", f"(x.to(torch.{kind}), y,")).replace(
        STORE, STORED.format(load="tl.load(x + index, mask=index < 2).to(tl.float32)")
    )
    reply = asked(workers, tmp_path, text, fill="large")
    assert reply.finished and "raised" not in reply.events[0], reply
    assert value(tmp_path) == [0, 1, 40, 40, 40, 40]


def test_a_fill_can_be_that_of_one_line(workers: Workers, tmp_path: Path) -> None:
    body = "a = tl.load(x + index, mask=index < 2)\n    b = tl.load(x + index, mask=index < 2)\n    "
    text = source(LAUNCH).replace(STORE, body + STORED.format(load="a - b"))
    line = 1 + next(at for at, one in enumerate(text.splitlines()) if one.strip().startswith("b ="))
    assert asked(workers, tmp_path, text, fill=f"large {line}").finished
    assert value(tmp_path) == [0, 0, -40, -40, -40, -40]


def about(workers: Workers, folder: Path, *changes: tuple[str, str]) -> tuple[Answer, list[str]]:
    """What `memory_access` says of the kernel of a control, changed, and the lines of the source."""
    copy = Path(shutil.copytree(claims.KERNELS / CONTROL, folder / CONTROL))
    text = (copy / SOURCE).read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (copy / SOURCE).write_text(text, encoding="utf-8")
    claim, device = claims.load(str(copy)), EmulatedDevice()
    device_run = DeviceRun(claim, device, workers=workers, scratch=folder, keep=lambda _: None)
    device_run.make_cases(entropy=11)
    variant = next(one for one in claim.claim.variant if one.file == SOURCE)
    built = device.build(copy / SOURCE, variant, optimisation="O2")
    target = Target(claim.claim, variant, built, tuple(device_run.cases), workers, claim.reference, folder)
    return memory_access.conclude(memory_access.observe(target)), text.splitlines()


@pytest.mark.parametrize(
    "load",
    [
        LOAD,
        f"tl.where(index < cols, {OPEN}, 0.0)",
        f"{OPEN} * (index < cols)",
        f"{OPEN} * {LOAD} / {LOAD.replace('0.0', '1.0')}",
    ],
)
def test_a_load_whose_open_elements_decide_nothing_passes(workers: Workers, tmp_path: Path, load: str) -> None:
    answer, _ = about(workers, tmp_path, (LOAD, load))
    assert answer.outcome == "pass", answer.summary


def test_a_sum_over_open_elements_is_a_hint_at_the_line_of_its_load(workers: Workers, tmp_path: Path) -> None:
    answer, lines = about(workers, tmp_path, (LOAD, f"{OPEN} + 0 * tl.where(index < cols, {OPEN}, 0.0)"))
    assert (answer.outcome, answer.grade) == ("fail", "hint")
    assert "masked-lane-read in line" in answer.summary
    assert answer.line is not None and OPEN in lines[answer.line - 1]


def test_of_two_loads_the_one_that_decides_is_named(workers: Workers, tmp_path: Path) -> None:
    other = f"dropped = {OPEN}\n        total += tl.where(index < cols, dropped, 0.0) * 0"
    answer, lines = about(workers, tmp_path, (f"total += {LOAD}", f"{other}\n        total += {OPEN}"))
    assert answer.line is not None and lines[answer.line - 1].strip() == f"total += {OPEN}"
