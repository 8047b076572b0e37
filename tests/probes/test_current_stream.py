"""Which cases are asked while their inputs are still written, and what a result of another shape says there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from audit.model import Tolerance
from audit.probes import current_stream
from audit.probes.concluding.compare import Comparison
from audit.probes.observing.called import Call, SessionBroken
from audit.probes.observing.cases import Case
from audit.probes.observing.planned import Asked
from audit.probes.observing.target import Target
from audit.run.messages.results import digest_of

SMALL, LARGE = 4, 8
LEFT, RIGHT = 1.0, 2.0
"""The numbers that the buffers hold, and those that are written."""


@dataclass
class OnAGpu:
    """A target whose calls return literal numbers, those of `stale` streams the numbers that the buffers held;
    those of the stream `cut` lack an element, and so do plain calls if so asked."""

    folder: Path
    stale: Sequence[tuple[int, str]] = ()
    largest_right: bool = True
    cut: str | None = None
    cut_plainly: bool = False
    sessions: list[list[tuple[int, str | None]]] = field(default_factory=list)
    built: Any = field(default_factory=lambda: SimpleNamespace(tensor_device="cuda"))
    _compared: dict[tuple[object, ...], Comparison] = field(default_factory=dict)

    def once(self, question: str, _: object) -> dict[str, Asked]:
        size, good = (SMALL, True) if question == "middle" else (LARGE, self.largest_right)
        first, other = self.case(size, LEFT), self.case(size, RIGHT)
        return {
            "first": Asked("first", first, self.call(size, LEFT)),
            "other_values": Asked("other_values", other, self.call(size - self.cut_plainly, RIGHT if good else LEFT)),
        }

    def steps(self, steps: Sequence[Any], *, cases: Sequence[Case], **_: object) -> list[Call]:
        asked = [(cases[step["case"]].expected.size, step.get("stream")) for step in steps]
        self.sessions.append(asked)
        return [
            self.call(size - (stream == self.cut is not None), LEFT if (size, stream) in self.stale else RIGHT)
            for size, stream in asked
        ]

    def compared(self, call: Call, case: Case) -> Comparison:
        return Target.compared_within(cast(Target, self), Tolerance(relative=1e-3, reason="float32"), call, case)

    def case(self, size: int, value: float) -> Case:
        file = self.folder / f"{size}-{value}.pt"
        file.write_bytes(b"")
        return Case({"N": size}, file, np.full(size, value), "float32")

    def call(self, size: int, value: float) -> Call:
        data = np.full(size, value, np.float32).tobytes()
        file = self.folder / f"{size}-{value}.bin"
        file.write_bytes(data)
        return Call({"raised": None, "shape": [size], "dtype": "float32", "digest": digest_of(data)}, file)


def asked(target: OnAGpu) -> Any:
    return current_stream.observe(cast(Target, target))


BOTH = [(SMALL, None), (SMALL, "default"), (SMALL, "other"), (LARGE, "default"), (LARGE, "other")]


@pytest.mark.parametrize(
    ("stale", "outcome", "grade"),
    [((), "pass", None), (((LARGE, "default"),), "fail", "proved"), (((LARGE, "other"),), "fail", "hint")],
)
def test_a_result_that_is_stale_at_the_largest_case_alone(
    stale: Any, outcome: str, grade: str | None, tmp_path: Path
) -> None:
    target = OnAGpu(tmp_path, stale)
    found = current_stream.conclude(asked(target))
    assert (found.outcome, found.grade, found.shape) == (outcome, grade, {"N": LARGE} if stale else None)
    assert target.sessions == [BOTH]


@pytest.mark.parametrize(("right", "most_bytes"), [(False, 1 << 20), (True, 1)])
def test_a_largest_case_that_is_wrong_anyway_or_too_large_is_not_asked(
    right: bool, most_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(current_stream, "MOST_BYTES", most_bytes)
    target = OnAGpu(tmp_path, [(LARGE, "default")], largest_right=right)
    assert current_stream.conclude(asked(target)).summary == f"N={SMALL}: right on two streams"
    assert target.sessions == [BOTH[:3]]


@pytest.mark.parametrize(("stream", "grade"), [("default", "proved"), ("other", "hint")])
def test_a_result_of_another_shape_is_stale(stream: str, grade: str, tmp_path: Path) -> None:
    found = current_stream.conclude(asked(OnAGpu(tmp_path, cut=stream)))
    assert (found.outcome, found.grade) == ("fail", grade)
    assert found.summary.endswith("a result of shape [3], where [4] is right")


def test_a_result_whose_plain_call_has_another_shape_too_says_nothing(tmp_path: Path) -> None:
    with pytest.raises(SessionBroken, match=r"a tensor of shape \[3\], where \[4\] is right"):
        asked(OnAGpu(tmp_path, cut="default", cut_plainly=True))
