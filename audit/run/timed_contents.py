"""Runs in a child: the contents of a timing session, and what the results of its calls are held against."""

from __future__ import annotations

import random
import time
from functools import partial
from types import ModuleType

import torch

from audit.model import Harness
from audit.run.answers import Answers, needed_by
from audit.run.callables import on_gpu
from audit.run.contents import Contents
from audit.run.requests import Interleaved
from audit.run.stopwatch import synchronize


def contents_of(
    request: Interleaved, reference: ModuleType, *, harness: Harness, choice: random.Random
) -> tuple[Contents, Answers]:
    """Both for an interleaved request; to be made before claimed code is loaded.

    Args:
        request: its inputs, and the tolerances of variants and baselines.
        reference: the claim's `reference.py`.
        harness: the claim's.
        choice: draws contents and their order.
    """
    draws = [torch.load(file, weights_only=True) for file in request.inputs]
    free, _ = torch.cuda.mem_get_info()
    place = partial(on_gpu, harness=harness)
    contents = Contents(draws, place, reference.reference, choice=choice, free_bytes=free)
    need = needed_by(reference, contents)
    contents.spend(_milliseconds(reference, contents))
    contents.renew(contents.most)
    stated = {one.name: one.relative for one in request.variants if one.relative is not None}
    by_precision = request.relative

    def relative(name: str) -> float:
        return stated.get(name, by_precision.get(name.rpartition("_")[2], by_precision["fp32"]))

    return contents, Answers(contents, relative, need=need)


def _milliseconds(reference: ModuleType, contents: Contents) -> float:
    """How long a call of the reference takes by the host's clock."""
    synchronize()
    started = time.perf_counter()
    reference.reference(*contents.homes[0])
    synchronize()
    return 1e3 * (time.perf_counter() - started)
