"""The keys of sessions' events with their bounds, a model an event. Their senders define their meaning."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, create_model

from audit.model.record import MOST_SAMPLES

OURS = ("baseline:", "control:", "ceiling:", "profiler")
"""The prefixes of the kit's own names in a timing session."""
MOST_PIECES = 1024
"""The most pieces of neighbouring rows that are kept of an output, see `outputs`."""
MOST = 2**53
MOST_LISTED = 500_000
Text = Annotated[str, Field(max_length=100_000)]
Name = Annotated[str, Field(max_length=1000)]
Count = Annotated[int, Field(ge=0, le=MOST)]
Whole = Annotated[int, Field(ge=-MOST, le=MOST)]
Real = Annotated[FiniteFloat, Field(ge=-1e300, le=1e300)]
Duration = Annotated[FiniteFloat, Field(ge=0.0, le=1e9)]
Sizes = Annotated[list[Count], Field(max_length=64)]
Piece = Annotated[list[Count], Field(min_length=2, max_length=2)]
Counts = Annotated[list[Count], Field(max_length=MOST_LISTED)]
Names = Annotated[list[Name], Field(max_length=1000)]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
Numbers = Annotated[dict[Name, Real], Field(max_length=100)]
Shape = Annotated[dict[Name, Count], Field(max_length=100)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
Size = Annotated[FiniteFloat, Field(ge=0.0)]
PerFormat = Annotated[dict[Name, Real | None], Field(max_length=20)]
Samples = Annotated[list[Duration], Field(max_length=MOST_SAMPLES)]
Numbered = Annotated[list[Count], Field(max_length=MOST_SAMPLES)]


class Event(BaseModel):
    """Refuses other keys and conversions: `1` is no text and `true` no number."""

    model_config = ConfigDict(extra="forbid", strict=True)


def event(name: str, base: type[Event] = Event, **keys: Any) -> type[Event]:
    """Return the model of an event with those keys: of each its type, or its type and the value where it is missing."""
    fields: dict[str, Any] = {key: kind if isinstance(kind, tuple) else (kind, ...) for key, kind in keys.items()}
    made: type[Event] = create_model(name, __base__=base, **fields)
    return made


class Launch(Event):
    """See the emulated runtime's launches and `cuda.launches_in`."""

    kernel: Text
    line: Whole | None
    grid: Sizes | None
    block: Sizes | None
    refused: Text | None
    dynamic_shared_bytes: Count | None = None
    static_shared_bytes: Count | None = None
    threads: Count | None = None
    blocks_run: Count | None = None
    seconds: Duration | None = None
    atomics: bool | None = None
    arguments: Annotated[list[Whole | None], Field(max_length=1000)] | None = None
    shared_bytes: Real | None = None
    registers: Real | None = None
    stream: Real | None = None
    microseconds: Duration | None = None


class Report(Event):
    """See the emulated runtime's reports and `sanitizer_log`."""

    kind: Name
    message: Text
    kernel: Text
    line: Whole | None
    library_offset: Count | None
    count: Count = 1
    tool: Name | None = None


class Tuned(Event):
    """See `tuned.taken`."""

    kernel: Name
    configuration: Name
    of: Count


Launches = Annotated[list[Launch], Field(max_length=MOST_LISTED)]
Reports = Annotated[list[Report], Field(max_length=MOST_LISTED)]


class Output(Event):
    """See `outputs.about`: one of several outputs."""

    shape: Sizes
    dtype: Name


Outputs = Annotated[list[Output], Field(max_length=100)]


class First(Event):
    """See `call_patterns`: the first result for a case's contents."""

    of: Count
    shape: Sizes
    dtype: Name
    outputs: Outputs = []
    digest: Digest


class StepEvent(Event):
    """See `session`: the result of the step of that index."""

    step: Count
    raised: Text | None = None
    seconds: Duration = 0.0
    returned: Name = ""
    changed: Names = []
    threads: Count = 0
    children: Count = 0
    late: Count = 0
    bytes_changed: Counts = []
    aliases: Counts = []
    same_address: Count = 0
    left_in: Counts = []
    differing: Counts = []
    kept: Count = 0
    firsts: Annotated[list[First], Field(max_length=1000)] = []
    shape: Sizes = []
    dtype: Name = ""
    outputs: Outputs = []
    sharing: Annotated[list[Annotated[list[Count], Field(min_length=2, max_length=2)]], Field(max_length=100)] = []
    device: Name = ""
    strides: Annotated[list[Whole], Field(max_length=64)] = []
    digest: Digest = ""
    most_writes: Count = 0
    launches: Launches = []
    reports: Reports = []
    tuned: Annotated[list[Tuned], Field(max_length=20)] = []
    loaded: Names = []
    replaced: Names = []


class RightOutput(Output):
    """See `Problem.expected`: one of several right outputs."""

    size: Size


class Right(Event):
    """The offsets of a right result and its alternatives in the reply's file; see `Problem.expected`."""

    expected_shape: Sizes
    expected_dtype: Name
    expected_outputs: Annotated[list[RightOutput], Field(max_length=100)] = []
    expected_at: Count
    also_at: Annotated[list[Count], Field(max_length=8)] = []


SandboxChecked = event("SandboxChecked", results=Annotated[dict[Name, Name], Field(max_length=50)])
"""See `sandbox.attempts`."""
Launched = event(
    "Launched", launched=Count, raised=Text | None, shared=bool, returned=Name, seconds=Duration,
    blanked=(bool | None, None), shape=Sizes | None, dtype=(Name, ""), outputs=(Outputs, []), digest=(Digest, ""),
    launches=Launches, reports=Reports,
)  # fmt: skip
"""See `launches`."""
Cost = event("Cost", cost=Numbers)
Case = event("Case", Right, case=Count, shape=Shape, size=(Size, 0.0), other=(Name, ""), bits=(PerFormat, {}))
Sized = event(
    "Sized", Right, sized=Count, raised=Text | None, expected_shape=(Sizes, []), expected_dtype=(Name, ""),
    expected_at=(Count, 0), size=(Size, 0.0),
)  # fmt: skip
Described = event("Described", described=Count, raised=Text | None, bytes=Count, fractions=bool)
Work = event("Work", weighed=Count, work=Count | None)
Varied = event("Varied", of=Count, bits=PerFormat, trivial=Shape, inputs=Names)
Variation = event(
    "Variation", Right, of=Count, variation=Name, group=Name, headroom=PerFormat, trivial=(Shape, {}),
    moved=(Count | None, None), how=(Name, ""), kind=(Name, ""), outside=bool, steps=(Size, 1.0),
    tied=(bool, False),
)  # fmt: skip
"""From `Cost` on: see `oracle`."""


class State(Event):
    """See `other_clocks.watch`."""

    block: Count
    sm_mhz: Real | None = None
    memory_mhz: Real | None = None
    power_w: Real | None = None
    temperature_c: Real | None = None
    reasons: Annotated[int, Field(ge=0, lt=2**64)] | None = None
    processes: Count | None = None


FirstWrong = event(
    "FirstWrong", block=Count, drawn=bool, why=(Name | None, None), elements_wrong=(Count | None, None),
    elements=(Count | None, None),
)  # fmt: skip
"""The first timed call whose result was wrong, see `answers`."""
Trying = event("Trying", trying=Name)
Failed = event("Failed", failed=Name, why=Text)
Loaded = event("Loaded", loaded=Name, seconds=Duration)
Skipped = event("Skipped", skipped=Literal["triton.testing.do_bench"], why=Text)
Plain = event("Plain", variant=Name, samples_ms=Samples, protocol=(Name | None, None), shape=(Shape | None, None))
"""Samples of one protocol, or of a control or ceiling with a shape of its own."""
Interleaved = event(
    "Interleaved", variant=Name, how=Literal["cold", "hot", "host", "seen"], samples_ms=Samples, blocks=Numbered,
    positions=Numbered,
)  # fmt: skip
"""The samples of a callable by one clock, see `blocks`."""
Kept = event(
    "Kept", variant=Name, inputs=Count, block=Count, whole=Sizes,
    rows=Annotated[list[Piece], Field(max_length=MOST_PIECES)] | None, dtype=Name,
    file=Annotated[str, Field(pattern=r"^timed[0-9]{1,6}\.bin$")], shape=Sizes, digest=Digest,
)  # fmt: skip
"""See `outputs`."""
TimingEvent = (
    event("Gpu", gpu=Name, cost=Numbers)
    | event("Part", part=Name, seconds=Duration)
    | Trying
    | Failed
    | Skipped
    | Loaded
    | event("Warmed", warmed=Name, calls=Count, stable=bool, first_ms=Duration, last_ms=Duration)
    | event("Shared", shared=Annotated[int, Field(ge=0, le=100)])
    | event("States", states=Annotated[list[State], Field(max_length=MOST_SAMPLES)])
    | Interleaved
    | Plain
    | event("Session", session=event("Ended", blocks=Count, seconds=Duration, tight=bool, left_out=(Count, 0)))
    | Kept
    | event("NoTensor", variant=Name, inputs=Count, block=Count, no_tensor=Name)
    | event(
        "Answered", answered=Name, calls=Count, wrong=Count, drawn=Count, drawn_wrong=Count, first=FirstWrong | None
    )
    | event("Contents", contents=event("About", mixed=bool, told_apart=Share | None, slack=Real, need=Real | None))
    | event("Contrast", contrast=Shape, cold_ms=Samples, hot_ms=Samples)
    | event("Profiled", profiled=Name, busy_ms=Samples, span_ms=Samples, kernels=Count)
)
"""See `timing`, `blocks`, `outputs`, `answers`, `stopwatch` and `other_clocks`."""
PublishedEvent = Trying | Failed | Skipped | Loaded | Plain
"""Events of a process in which claimed code is timed alone, unverified."""
IndependentClock = event("IndependentClock", independent_clock=Name, at=Literal["begin", "end"], calls=Count)
AloneEvent = Trying | Failed | Loaded | IndependentClock
"""Events of a process whose parent times its calls."""
