"""Many calls in a row: contents that take turns at one address, results compared with the first for the same ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

import pytest
import torch

from audit.run.calls.arguments import Arguments
from audit.run.calls.raw_memory import LEAST_FLUSH_BYTES, SLEEP_CYCLES
from audit.run.devices.device import SessionDevice
from audit.run.sessions.call_patterns import OF_A_PRIORITY, PRIORITIES, InTurn, occupy_streams

ORDER = [0, 0, 0, 1, 0, 1, 0]


class Host:
    """Stands for a device, one that takes checksums or one that does not; keeps what was uploaded."""

    def __init__(self, sums: bool) -> None:
        self.uploaded: list[torch.Tensor] = []
        self._sums = sums

    def upload(self, tensor: torch.Tensor) -> torch.Tensor:
        self.uploaded.append(tensor)
        return tensor

    def checksum(self, tensor: torch.Tensor) -> int | None:
        return hash(tensor.numpy().tobytes()) if self._sums else None

    def before_call(self, output_bytes: tuple[int, ...]) -> None:
        assert output_bytes == (16,)

    def after_call(self) -> None:
        """Nothing to wait for."""


@pytest.fixture(params=[True, False], ids=["checksums", "copies"])
def sums(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def turn(call: Callable[..., Any], sums: bool = False) -> tuple[dict[str, Any], object, InTurn, Host]:
    host = Host(sums)
    cases = [Arguments([torch.full((4,), value)], torch.clone, checksum=host.checksum) for value in (1.0, 2.0)]
    made = InTurn(call, cast(SessionDevice, host), cases=cases, into=cases[0], output_bytes=(16,))
    event, kept = made.run(ORDER, flush_from=3)
    return event, kept, made, host


def test_results_that_follow_their_contents_differ_nowhere(sums: bool) -> None:
    event, kept, made, host = turn(lambda x: 2 * x, sums)
    assert event == {"differing": [], "kept": len(ORDER) - 1}
    assert torch.equal(cast(torch.Tensor, kept), torch.full((4,), 2.0))
    assert {case: one.data.view(torch.float32)[0].item() for case, one in made.firsts.items()} == {0: 2.0, 1: 4.0}
    assert len(host.uploaded) == 1
    assert made._flush(None).numel() == LEAST_FLUSH_BYTES


def test_a_replay_differs_where_it_is_of_other_contents(sums: bool) -> None:
    answers: list[torch.Tensor] = []

    def replayed(x: torch.Tensor) -> torch.Tensor:
        answers.append(2 * x if len(answers) < 4 else answers[3])
        return answers[-1]

    event, kept, *_ = turn(replayed, sums)
    assert event == {"differing": [4, 6], "kept": 6}
    assert torch.equal(cast(torch.Tensor, kept), torch.full((4,), 4.0))


@pytest.mark.parametrize("result", [None, 3.0])
def test_no_tensor_differs_in_every_call(result: object, sums: bool) -> None:
    event, _, made, _ = turn(lambda _: result, sums)
    assert (event["differing"], made.firsts) == (list(range(len(ORDER))), {})


def test_what_a_call_changes_is_put_back(sums: bool) -> None:
    event, *_ = turn(lambda x: x.mul_(2).clone(), sums)
    assert event["differing"] == []


def test_each_stream_of_torch_sleeps_longer_than_the_default_one(monkeypatch: pytest.MonkeyPatch) -> None:
    handed, slept, now = dict.fromkeys(PRIORITIES, 0), dict[str, int](), [""]

    def stream(priority: int) -> str:
        handed[priority] += 1
        return f"{priority}: {handed[priority] % OF_A_PRIORITY}"

    @contextmanager
    def on(one: str) -> Iterator[None]:
        now[0] = one
        yield

    monkeypatch.setattr(torch.cuda, "Stream", stream)
    monkeypatch.setattr(torch.cuda, "stream", on)
    monkeypatch.setattr(torch.cuda, "_sleep", lambda cycles: slept.update({now[0]: cycles}))
    occupy_streams()
    assert len(slept) == 2 * OF_A_PRIORITY
    assert min(slept.values()) > SLEEP_CYCLES
