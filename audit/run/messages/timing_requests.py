"""The requests to timing sessions, one model each; `requests` has the others."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from audit.build.settings import DeviceSettings
from audit.model.base import Frozen
from audit.run.messages.requests import Request, Sizes

EMPTY = "control:empty kernel"
"""A callable of one tiny kernel."""
GRAPHED = "CUDA events, L2 cold, CUDA graph of the call"
"""The protocol of a variant's call captured as a CUDA graph, which is free of the host's launches."""
EMPTY_CALLS, READINGS = 1000, 5
"""Calls of the empty kernel between two messages, and pairs of messages about a callable that is timed alone."""


class Timed(Frozen):
    """A compiled variant and its function; `relative` is its tolerance where its results are compared."""

    name: str
    entry: str
    device: DeviceSettings
    relative: float | None = None


class Protocol(Frozen):
    """One timing by triton's do_bench; `of_mean` times `call().mean()` instead of `call()`."""

    name: str
    of_mean: bool
    warmup_ms: int
    rep_ms: int


class Timing(Request):
    """A timing session alone on the GPU; see `timing`. Each of `inputs` is one set of arguments."""

    reference: Path
    variants: tuple[Timed, ...] = ()
    compiled: tuple[str, ...] = ()
    folder: Path

    @property
    def devices(self) -> tuple[DeviceSettings, ...]:
        """See `Request`."""
        return tuple(one.device for one in self.variants)


class Interleaved(Timing):
    """Every passing variant and the baselines in interleaved blocks.

    Attributes:
        compiled: modes of torch.compile.
        relative: the tolerance of baselines, by their precision.
        baselines: names; None for all.
        budget_s: the seconds of the blocks.
        half_width: the half width of the ratios' intervals at which to stop.
        rounds: the least number of blocks; None for the default.
        seed: draws the orders and the calls whose outputs are kept.
        kept_calls: timed calls of each callable whose outputs are kept in `folder`.
        inductor: the cache of torch.compile, below `caches`.
        shape: the shape whose cost is reported.
        profile: profiled calls of each callable; 0 for none.
        published: protocols for the eager baseline, of which the first is for every callable; empty for none.
        ceilings: whether to measure this GPU's ceilings.
    """

    kind: Literal["interleaved"] = "interleaved"
    relative: dict[str, float]
    baselines: tuple[str, ...] | None
    budget_s: float
    half_width: float
    rounds: int | None = None
    seed: int
    kept_calls: int
    inductor: Path
    shape: Sizes
    profile: int
    published: tuple[Protocol, ...] = ()
    ceilings: bool


class Published(Timing):
    """Each variant, under each published protocol."""

    kind: Literal["published"] = "published"
    protocols: tuple[Protocol, ...]


class Alone(Timing):
    """One callable, the variant or else `baseline`, called `calls` times between messages that its parent stamps."""

    kind: Literal["alone"] = "alone"
    baseline: str | None = None
    calls: int
    seed: int
    inductor: Path


class Compiled(Timing):
    """The baselines `compiled`, compiled into the cache `inductor` by `compile_workers` processes."""

    kind: Literal["compiled"] = "compiled"
    compile_workers: int
    inductor: Path
