"""Which timed calls are kept, and that what is written is what was returned."""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from pathlib import Path

import numpy as np
import torch

from audit.run.calls import outputs
from audit.run.calls.outputs import KeptOutputs
from audit.run.messages.results import digest_of


def written(file: Path, tensor: torch.Tensor) -> str:
    data = tensor.numpy().tobytes()
    file.write_bytes(data)
    return digest_of(data)


def test_every_timed_call_has_the_same_chance() -> None:
    counts: Counter[int] = Counter()
    for seed in range(600):
        kept = KeptOutputs(Path(), each=2, choice=random.Random(seed), write=written)
        last: dict[int, int] = {}
        for group in range(5):
            for place, slot in kept.wanted("claim", 4).items():
                last[slot] = 4 * group + place
        counts.update(last.values())
    assert sum(counts.values()) == 1200
    assert set(counts) == set(range(20))
    assert min(counts.values()) > 30, "60 are expected for each"


def test_a_small_output_is_kept_whole_and_a_large_one_in_rows(tmp_path: Path) -> None:
    kept = KeptOutputs(tmp_path, each=1, choice=random.Random(3), write=written)
    small, large = torch.randn(3, 5), torch.randn(8192, 1024)
    kept.keep("small", 0, small, inputs=1, block=4)
    kept.keep("large", 0, large, inputs=0, block=9)
    one, other = kept.written()
    assert (one["variant"], one["inputs"], one["block"], one["rows"], one["whole"]) == ("small", 1, 4, None, [3, 5])
    assert np.array_equal(np.fromfile(tmp_path / one["file"], np.float32).reshape(one["shape"]), small.numpy())
    assert sum(end - first for first, end in other["rows"]) * 1024 == outputs.MOST_ELEMENTS
    part = np.fromfile(tmp_path / other["file"], np.float32).reshape(other["shape"])
    assert np.array_equal(part, np.concatenate([large.numpy()[first:end] for first, end in other["rows"]]))


def test_the_kept_rows_of_a_long_vector_are_few_pieces(tmp_path: Path) -> None:
    kept = KeptOutputs(tmp_path, each=1, choice=random.Random(3), write=written)
    gate, up = torch.randn(2500, 1000), torch.randn(3_000_001)
    kept.keep("claim", 0, (gate, up), inputs=0, block=0)
    (event,) = kept.written()
    assert len(json.dumps(event)) < 32 << 10, "a session may send 64 MiB in all"
    edges = list(itertools.chain(*event["rows"]))
    assert edges == sorted(edges)
    assert edges[-1] <= event["whole"][0] == 5_500_001
    assert event["shape"][0] > 0.99 * outputs.MOST_ELEMENTS
    right = np.concatenate([gate.numpy().ravel(), up.numpy()])
    part = np.fromfile(tmp_path / event["file"], np.float32)
    assert np.array_equal(part, np.concatenate([right[first:end] for first, end in event["rows"]]))


def test_what_is_no_tensor_is_told() -> None:
    kept = KeptOutputs(Path(), each=1, choice=random.Random(3), write=written)
    kept.keep("claim", 0, 3.5, inputs=0, block=0)
    assert kept.written() == [{"variant": "claim", "inputs": 0, "block": 0, "no_tensor": "float"}]


def test_a_tensor_that_may_compute_when_it_is_read_is_none() -> None:
    class Lazy(torch.Tensor):
        def detach(self) -> torch.Tensor:
            return torch.ones(3)

    kept = KeptOutputs(Path(), each=1, choice=random.Random(3), write=written)
    kept.keep("claim", 0, torch.zeros(3).as_subclass(Lazy), inputs=0, block=0)
    assert kept.written() == [{"variant": "claim", "inputs": 0, "block": 0, "no_tensor": "Lazy"}]
