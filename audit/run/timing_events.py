"""The keys of timing-session events with their bounds; `session_events` has the others."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from audit.model.record import MOST_SAMPLES
from audit.run.session_events import Count, Digest, Duration, Event, Name, Numbers, Real, Shape, Sizes, Text

OURS = ("baseline:", "control:", "ceiling:", "profiler")
"""The prefixes of the kit's own names in a timing session."""
MOST_ROWS = 1 << 23
Samples = Annotated[list[Duration], Field(max_length=MOST_SAMPLES)]


class Gpu(Event):
    """See `timing`: the GPU, and the work of the claimed shape."""

    gpu: Name
    cost: Numbers


class IndependentClock(Event):
    """See `other_clocks.between_messages`."""

    independent_clock: Name
    at: Literal["begin", "end"]
    calls: Count


class Part(Event):
    """See `timing`: the duration of a part of a session."""

    part: Name
    seconds: Duration


class Trying(Event):
    """A callable about to be loaded."""

    trying: Name


class Failed(Event):
    """A callable that cannot be timed."""

    failed: Name
    why: Text


class Skipped(Event):
    """A timing function that this machine lacks."""

    skipped: Literal["triton.testing.do_bench"]
    why: Text


class Loaded(Event):
    """A callable whose first call returned."""

    loaded: Name
    seconds: Duration


class Warmed(Event):
    """See `blocks`."""

    warmed: Name
    calls: Count
    stable: bool
    first_ms: Duration
    last_ms: Duration


class State(Event):
    """See `other_clocks.watch`."""

    block: Count
    sm_mhz: Real | None = None
    memory_mhz: Real | None = None
    power_w: Real | None = None
    temperature_c: Real | None = None
    reasons: Annotated[int, Field(ge=0, lt=2**64)] | None = None
    processes: Count | None = None


class States(Event):
    """The driver's state at each block."""

    states: Annotated[list[State], Field(max_length=MOST_SAMPLES)]


class Interleaved(Event):
    """The samples of a callable by one clock."""

    variant: Name
    how: Literal["cold", "hot", "host", "seen"]
    samples_ms: Samples
    blocks: Annotated[list[Count], Field(max_length=MOST_SAMPLES)]
    positions: Annotated[list[Count], Field(max_length=MOST_SAMPLES)]


class Plain(Event):
    """Samples of one protocol, or of a control or ceiling with a shape of its own."""

    variant: Name
    samples_ms: Samples
    protocol: Name | None = None
    shape: Shape | None = None


class Ended(Event):
    """How the blocks ended."""

    blocks: Count
    seconds: Duration
    tight: bool
    left_out: Count = 0


class Session(Event):
    """See `blocks`."""

    session: Ended


class Kept(Event):
    """See `outputs`."""

    variant: Name
    inputs: Count
    block: Count
    whole: Sizes
    rows: Annotated[list[Count], Field(max_length=MOST_ROWS)] | None
    dtype: Name
    file: Annotated[str, Field(pattern=r"^timed[0-9]{1,6}\.bin$")]
    shape: Sizes
    digest: Digest


class NoTensor(Event):
    """See `outputs`."""

    variant: Name
    inputs: Count
    block: Count
    no_tensor: Name


class FirstWrong(Event):
    """See `answers`: the first timed call whose result was wrong."""

    block: Count
    drawn: bool
    why: Name | None = None
    elements_wrong: Count | None = None
    elements: Count | None = None


class Answered(Event):
    """See `answers`: counts of the timed calls of one callable."""

    answered: Name
    calls: Count
    wrong: Count
    drawn: Count
    drawn_wrong: Count
    first: FirstWrong | None


class About(Event):
    """See `answers`: how far the contents distinguish results."""

    mixed: bool
    told_apart: Annotated[float, Field(ge=0.0, le=1.0)] | None
    slack: Real
    need: Real | None


class Contents(Event):
    """See `contents`."""

    contents: About


class Contrast(Event):
    """See `stopwatch`."""

    contrast: Shape
    cold_ms: Samples
    hot_ms: Samples


class Profiled(Event):
    """See `other_clocks`."""

    profiled: Name
    busy_ms: Samples
    span_ms: Samples
    kernels: Count


TimingEvent = (
    Gpu
    | Part
    | Trying
    | Failed
    | Skipped
    | Loaded
    | Warmed
    | States
    | Interleaved
    | Plain
    | Session
    | Kept
    | NoTensor
    | Answered
    | Contents
    | Contrast
    | Profiled
)
PublishedEvent = Trying | Failed | Skipped | Loaded | Plain
"""Events of a process in which claimed code is timed alone, unverified."""
AloneEvent = Trying | Failed | Loaded | IndependentClock
"""Events of a process whose parent times its calls."""
