"""Operations of Triton's interpreter that are repeated for other data: no answer may be that of the data recorded."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from audit.run.devices.triton.replay import Recorder, Replayed
from audit.run.processes.pool import Workers
from tests.run.test_python_session import asked, value
from tests.run.test_python_triton import LAUNCH, STORE, source

OF = "v = tl.load(x + index, mask=index < n)\n    w = tl.load(x + n - 1 - index, mask=index < n)\n    "
STORED = "tl.store(y + index, {}, mask=index < n)"
OTHER = "o = tl.load(x + tl.program_id(0))\n    s = tl.load(x + n, mask=tl.program_id(0) > 5, other=o)\n    "


@pytest.mark.parametrize(
    ("body", "due"),
    [
        (OF + STORED.format("v * v + v * w"), [5.0 * x for x in range(6)]),
        (OF + STORED.format("v * w + v * v"), [5.0 * x for x in range(6)]),
        (OF + STORED.format("(v + 1) + (v + 1.0) + (v + 2)"), [3.0 * x + 4 for x in range(6)]),
        (OF + STORED.format("v + tl.program_id(0)"), [0.0, 1, 2, 3, 5, 6]),
        (OTHER + STORED.format("s"), [0.0, 0, 0, 0, 1, 1]),  # Triton's front end asks whether `other` is zero
        (
            OF + "for k in range(0, tl.program_id(0) + 1):\n        v += k\n    " + STORED.format("v"),
            [0.0, 1, 2, 3, 5, 6],
        ),
        (OF + STORED.format("tl.where(index > 3, v, -v)"), [0.0, -1, -2, -3, 4, 5]),
    ],
)
def test_programs_after_the_first_compute_with_their_own_data(
    workers: Workers, tmp_path: Path, body: str, due: list[float]
) -> None:
    reply = asked(workers, tmp_path, source(LAUNCH).replace(STORE, body))
    assert reply.finished and "raised" not in reply.events[0], reply
    assert value(tmp_path) == due


class Handle:
    def __init__(self, data: Any) -> None:
        self.data = data


class Tensor:
    """A tensor whose front end counts its calls."""

    def __init__(self, handle: Handle, kind: Any) -> None:
        self.handle, self.type = handle, kind


def language(calls: list[str]) -> tuple[Replayed, Any]:
    builder = SimpleNamespace(
        create_add=lambda a, b: Handle(a.data + b.data), get_one=lambda: Handle(calls.append("one") or 1)
    )
    names = SimpleNamespace(tensor=Tensor, constexpr=Ellipsis, tuple=tuple, dtype=str)
    interpreter = SimpleNamespace(
        tl=names, interpreter_builder=builder, interpreter_semantic=SimpleNamespace(builder=builder),
        TensorHandle=Handle, BlockPointerHandle=Handle, TensorDescHandle=Handle,
    )  # fmt: skip
    return Replayed(interpreter), interpreter


def test_a_repeated_operation_asks_the_front_end_once() -> None:
    calls: list[str] = []
    replayed, _ = language(calls)
    kind = SimpleNamespace(scalar=None)

    def next_one(x: Tensor, _semantic: Any) -> Tensor:
        calls.append("front end")
        return Tensor(_semantic.builder.create_add(x.handle, _semantic.builder.get_one()), x.type)

    def outside(x: Tensor, _semantic: Any) -> Tensor:
        calls.append("front end")
        return Tensor(Handle(2 * x.handle.data), x.type)  # by no call of the builder

    operation, other = replayed.operation(next_one), replayed.operation(outside)
    assert [operation(Tensor(Handle(data), kind)).handle.data for data in (1, 5, 7)] == [2, 6, 8]
    assert calls == ["front end", "one"]
    assert [other(Tensor(Handle(data), kind)).handle.data for data in (1, 5)] == [2, 10]
    assert calls == ["front end", "one", "front end", "front end"]


def test_an_operation_whose_values_decide_is_not_repeated() -> None:
    replayed, interpreter = language([])
    kind = SimpleNamespace(scalar=None)

    def positive(x: Tensor, _semantic: Any) -> Tensor:
        replayed.decides(x)
        return x if x.handle.data > 0 else Tensor(_semantic.builder.create_add(x.handle, x.handle), x.type)

    operation = replayed.operation(positive)
    assert [operation(Tensor(Handle(data), kind)).handle.data for data in (1, -5, 3)] == [1, -10, 3]
    assert Recorder(interpreter, []).recorded(None) is not None
