"""The keys of session events with their bounds; `timing_events` has those of timing sessions.

Their senders define their meaning.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

MOST = 2**53
MOST_LISTED = 500_000
Text = Annotated[str, Field(max_length=100_000)]
Name = Annotated[str, Field(max_length=1000)]
Count = Annotated[int, Field(ge=0, le=MOST)]
Whole = Annotated[int, Field(ge=-MOST, le=MOST)]
Real = Annotated[FiniteFloat, Field(ge=-1e300, le=1e300)]
Duration = Annotated[FiniteFloat, Field(ge=0.0, le=1e9)]
Sizes = Annotated[list[Count], Field(max_length=64)]
Counts = Annotated[list[Count], Field(max_length=MOST_LISTED)]
Names = Annotated[list[Name], Field(max_length=1000)]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
Numbers = Annotated[dict[Name, Real], Field(max_length=100)]
Shape = Annotated[dict[Name, Count], Field(max_length=100)]
Also = Annotated[list[Count], Field(max_length=8)]
PerCandidate = Annotated[dict[Name, Count], Field(max_length=100)]
Size = Annotated[FiniteFloat, Field(ge=0.0)]
PerFormat = Annotated[dict[Name, Real | None], Field(max_length=20)]


class Event(BaseModel):
    """Refuses other keys and conversions: `1` is no text and `true` no number."""

    model_config = ConfigDict(extra="forbid", strict=True)


class SandboxChecked(Event):
    """See `sandbox.attempts`."""

    results: Annotated[dict[Name, Name], Field(max_length=50)]


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


class Step(Event):
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
    overlapping: Counts = []
    device: Name = ""
    strides: Annotated[list[Whole], Field(max_length=64)] = []
    digest: Digest = ""
    most_writes: Count = 0
    launches: Launches = []
    reports: Reports = []
    loaded: Names = []
    replaced: Names = []


class Cost(Event):
    """See `oracle`."""

    cost: Numbers


class RightOutput(Output):
    """See `Problem.expected`: one of several right outputs."""

    size: Size


class Right(Event):
    """The offsets of a right result and its alternatives in the reply's file; see `Problem.expected`."""

    expected_shape: Sizes
    expected_dtype: Name
    expected_outputs: Annotated[list[RightOutput], Field(max_length=100)] = []
    expected_at: Count
    also_at: Also = []


class Case(Right):
    """See `oracle`."""

    case: Count
    shape: Shape
    size: Size = 0.0
    other: Name = ""
    bits: PerFormat = {}


class Sized(Right):
    """See `oracle`: a case of a shape, or an exception; neither is there where too little work was left."""

    sized: Count
    raised: Text | None
    expected_shape: Sizes = []
    expected_dtype: Name = ""
    expected_at: Count = 0
    size: Size = 0.0


class Described(Event):
    """See `oracle`."""

    described: Count
    raised: Text | None
    bytes: Count


class Launched(Event):
    """See `launches`."""

    launched: Count
    raised: Text | None
    shared: bool
    seconds: Duration
    blanked: bool | None = None
    shape: Sizes | None
    dtype: Name = ""
    outputs: Outputs = []
    digest: Digest = ""
    launches: Launches
    reports: Reports


class Work(Event):
    """See `oracle`."""

    weighed: Count
    work: Count | None


class Varied(Event):
    """See `oracle`: a case whose inputs are varied."""

    of: Count
    bits: PerFormat
    trivial: PerCandidate
    inputs: Names


class Variation(Right):
    """See `oracle`: one variation of a case."""

    of: Count
    variation: Name
    group: Name
    headroom: PerFormat
    trivial: PerCandidate = {}
    moved: Count | None = None
    how: Name = ""
    kind: Name = ""
    outside: bool
    steps: Size = 1.0
