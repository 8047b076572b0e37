"""Plain calls are made once for all probes, in as few sessions as the device allows."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from audit import claims
from audit.build.device import BuiltVariant
from audit.build.settings import Configuration, EmulatedSettings
from audit.model.errors import Unsupported
from audit.probes import agreement, coverage, kernels_ran
from audit.probes.observing.called import Call, Mode, SessionBroken
from audit.probes.observing.cases import Case
from audit.probes.observing.target import Target
from audit.run.processes.pool import Workers

CLAIM = claims.load("triangular_mm").claim
assert CLAIM.claimed is not None
CLAIMED = CLAIM.claimed
CASES = tuple(Case({"N": size}, Path(f"{size}.inputs.pt"), np.ones(size), "float32") for size in (2, 8, 4))
NAN, NUMBER = Mode("poison_nan"), Mode("poison_number", "reverse")
PATTERNS = {"poison_nan": b"nan!", "poison_number": b"big!"}
CRASHES, NEEDS_NEWER_GPU = "8", "0"


class Recorded(Target):
    """A target whose sessions are written down; the call at N=8 ends its process or needs a newer GPU if so asked."""

    def _ask(self, steps: Sequence[Any], *, cases: Sequence[Case], modes: Sequence[Mode], **more: Any) -> None:
        now = 0
        asked: list[tuple[str, int]] = []
        self._answers.setdefault("sessions", []).append(asked)
        for place, step in enumerate(steps):
            now = step.get("mode", now)
            size = cases[step["case"]].shape["N"]
            asked.append((modes[now].memory, size))
            if size == 8 and self.violations == [CRASHES]:
                raise SessionBroken(f"crashed after {place} of {len(steps)} calls")
            newer = size == 8 and self.violations == [NEEDS_NEWER_GPU]
            reports = [{"kind": "needs-newer-gpu", "message": "big", "line": 3}] if newer else []
            more["calls"].append(Call({"step": place, "raised": None, "reports": reports}, Path()))

    @property
    def sessions(self) -> list[list[tuple[str, int]]]:
        found: list[list[tuple[str, int]]] = self._answers["sessions"]
        return found


def target(device: str = "cpu", *, ends: str | None = None) -> Recorded:
    emulated = device == "cpu"
    facts = {
        "nan_memory": "poison_nan" if emulated else "filled_nan",
        "orders": ("forward", "reverse") if emulated else ("forward",),
        "poisons": PATTERNS,
        "tensor_device": device,
        "traced_memory": "poison_nan" if emulated else "traced",
        "checks_accesses": True,
    }
    built = cast(BuiltVariant, SimpleNamespace(**facts))
    violations = [ends] if ends else []
    return Recorded(CLAIM, CLAIMED, built, CASES, cast(Workers, None), Path("r.py"), Path(), violations=violations)


def test_one_session_makes_the_calls_of_several_modes_on_the_emulated_device() -> None:
    made = target()
    made.ask_ahead([(NAN, CASES[0]), (NUMBER, CASES[1]), (NAN, CASES[0])])
    assert made.sessions == [[("poison_nan", 2), ("poison_number", 8)]]
    made.calls([CASES[0]], NAN)
    made.call(CASES[1], NUMBER)
    assert len(made.sessions) == 1


def test_a_gpu_keeps_to_one_mode_a_session() -> None:
    made = target("cuda")
    made.ask_ahead([(NAN, CASES[0]), (NUMBER, CASES[1]), (NAN, CASES[1])])
    assert made.sessions == [[("poison_nan", 2), ("poison_nan", 8)], [("poison_number", 8)]]


def test_a_session_that_breaks_keeps_the_calls_it_came_to() -> None:
    made = target(ends=CRASHES)
    made.ask_ahead((NAN, case) for case in CASES)
    assert made.sessions == [[("poison_nan", 2), ("poison_nan", 8)]]
    assert made.call(CASES[0], NAN).raised is None
    with pytest.raises(SessionBroken, match="crashed after 0 of 1 calls"):
        made.call(CASES[1], NAN)
    made.call(CASES[2], NAN)
    assert made.sessions[1:] == [[("poison_nan", 8)], [("poison_nan", 4)]]


def test_a_session_that_breaks_is_the_last_one_asked_ahead() -> None:
    made = target("cuda", ends=CRASHES)
    made.ask_ahead([(NAN, CASES[1]), (NUMBER, CASES[0])])
    assert made.sessions == [[("poison_nan", 8)]]


def test_a_limit_of_one_call_is_no_limit_of_the_others() -> None:
    made = target(ends=NEEDS_NEWER_GPU)
    made.ask_ahead((NAN, case) for case in CASES)
    assert made.call(CASES[0], NAN).reports == []
    with pytest.raises(Unsupported, match="big"):
        made.call(CASES[1], NAN)


def test_a_second_build_is_asked_anew() -> None:
    made = target()
    made.call(CASES[0], NAN)
    other = replace(made)
    other.call(CASES[0], NAN)
    assert (made.sessions, other.sessions) == ([[("poison_nan", 2)]], [[("poison_nan", 2)]])


@pytest.mark.parametrize(("device", "more"), [("cpu", set()), ("cuda", {"poison_nan", "poison_number", "traced"})])
def test_probes_that_look_at_plain_calls_look_at_the_same_ones(device: str, more: set[str]) -> None:
    made = target(device)
    own = {mode for mode, _ in agreement.needs(made)}
    others = {mode for probe in (coverage, kernels_ran) for mode, _ in probe.needs(made)}
    assert {mode.memory for mode in others - own if mode.order == "forward"} == more
    assert len({mode.memory for mode in coverage.modes(made)}) == 2


class Answering:
    """Workers that keep the limit of each session; a call takes the seconds they are made with."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.limits = seconds, list[float]()

    def call(self, request: Any, *, limit_s: float) -> Any:
        self.limits.append(limit_s)
        events = [{"step": place, "raised": None, "seconds": self.seconds} for place in range(len(request.steps))]
        return SimpleNamespace(ending="finished", finished=True, events=events, detail="")


@pytest.mark.parametrize(
    ("seconds", "limit_s"), [(0.1, 30.0), (0.5, 3 * 40 * 0.5), (20.0, 300.0)], ids=["short", "long", "too long"]
)
def test_a_session_of_many_calls_may_take_as_long_as_one_call_says(
    seconds: float, limit_s: float, tmp_path: Path
) -> None:
    workers, plain = Answering(seconds), target()
    configuration = EmulatedSettings.model_construct(configuration=Configuration.model_construct())
    facts = {**vars(plain.built), "limit_s": 30.0, "settings": lambda **_: configuration}
    built = cast(BuiltVariant, SimpleNamespace(**facts))
    inputs = Case({"N": 2}, tmp_path / "0.inputs.pt", np.ones(2), "float32")
    made = Target(CLAIM, CLAIMED, built, (inputs,), cast(Workers, workers), tmp_path / "r.py", tmp_path)
    made.call(inputs, NAN)
    made.steps([{"run": "claim", "case": 0, "order": [0] * 40, "flush_from": 20}], cases=[inputs], mode=NAN)
    made.steps([{"run": "claim", "case": 0}] * 40, cases=[inputs], mode=NAN._replace(check=True))
    assert workers.limits == [30.0, limit_s, 30.0]


@pytest.mark.parametrize(("by", "decides"), [("order", True), ("memory", False), ("chance", False)])
def test_only_first_calls_over_the_same_memory_show_that_the_order_decides(
    by: str, decides: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, case, chance = target(), CASES[0], itertools.cycle((False, True))
    answers = {
        ("poison_nan", "forward"): False,
        ("poison_nan", "reverse"): by == "order",
        ("poison_number", "reverse"): True,
    }

    def session(_: object, __: Case, mode: Mode, *, fresh: bool) -> list[bool]:
        assert fresh
        if by == "chance":
            return [next(chance)]
        return [answers[mode.memory, mode.order]]

    monkeypatch.setattr(made, "session", session)
    monkeypatch.setattr(made, "compared", lambda right, _: SimpleNamespace(right=right))
    results = [cast(agreement.Result, SimpleNamespace(order=order, case=case)) for order in ("forward", "reverse")]
    assert agreement._by_order(made, results, case) is decides
