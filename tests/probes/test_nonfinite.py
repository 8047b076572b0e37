"""A NaN and an infinity are asked where the reference reads the element that they replace, else skipped."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from audit.probes import nonfinite
from audit.probes.observing.cases import Case
from audit.probes.observing.planned import Asked
from audit.probes.observing.target import Target


def observed(monkeypatch: pytest.MonkeyPatch, own: list[float], there: list[float], here: list[float]) -> Any:
    """Return what is observed where `own` is right, with a NaN `there`, and the kernel returns `here`."""

    def asked(name: str, expected: list[float]) -> Asked:
        call = SimpleNamespace(raised=None, violations=(), values=lambda: np.array(here))
        return Asked(name, Case({"N": 2}, Path(name), np.array(expected), "float32"), cast(Any, call))

    first = asked("first", own)
    monkeypatch.setattr(nonfinite, "at_middle", lambda _: {"first": first})
    monkeypatch.setattr(nonfinite, "premise", lambda *_: None)
    monkeypatch.setattr(nonfinite, "too_large", lambda *_: None)
    monkeypatch.setattr(nonfinite, "value_calls", lambda *_: None)
    monkeypatch.setattr(nonfinite, "views", lambda _: {"padded": first, "nan": asked("nan", there)})
    return nonfinite.observe(cast(Target, SimpleNamespace(relative=lambda _: 1e-4)))


def test_an_element_that_the_reference_does_not_read_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    holes = [1.0, np.nan]
    assert observed(monkeypatch, holes, holes, here=[np.nan, np.nan]) == {"shape": {"N": 2}, "not_asked": "unread"}


@pytest.mark.parametrize(("here", "lost"), [([np.nan, 2.0], 0), ([1.0, 2.0], 1)])
def test_one_that_it_reads_is_asked(monkeypatch: pytest.MonkeyPatch, here: list[float], lost: int) -> None:
    (found,) = observed(monkeypatch, [1.0, 2.0], [np.nan, 2.0], here)["inputs"]
    assert found == {"value": "nan", "wrong": 0, "lost": lost, "more": 0, "right": not lost}
