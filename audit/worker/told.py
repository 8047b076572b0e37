"""The events of sessions, key by key, with their bounds. What they mean is said where they are told."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

OPTIONS = ("into", "fresh", "layout", "stream", "snapshot", "times", "hold", "of")
OURS = ("baseline:", "control:", "ceiling:", "profiler")
"""What names of ours begin with in a timing session."""
MOST = 2**53
MOST_SAMPLES, MOST_LISTED, MOST_ROWS = 100_000, 500_000, 1 << 23
Text = Annotated[str, Field(max_length=100_000)]
Name = Annotated[str, Field(max_length=1000)]
Count = Annotated[int, Field(ge=0, le=MOST)]
Whole = Annotated[int, Field(ge=-MOST, le=MOST)]
Real = Annotated[FiniteFloat, Field(ge=-1e300, le=1e300)]
Duration = Annotated[FiniteFloat, Field(ge=0.0, le=1e9)]
Sizes = Annotated[list[Count], Field(max_length=64)]
Counts = Annotated[list[Count], Field(max_length=MOST_LISTED)]
Names = Annotated[list[Name], Field(max_length=1000)]
Samples = Annotated[list[Duration], Field(max_length=MOST_SAMPLES)]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Numbers = Annotated[dict[Name, Real], Field(max_length=100)]
Shape = Annotated[dict[Name, Count], Field(max_length=100)]
PerFormat = Annotated[dict[Name, Real | None], Field(max_length=20)]


class Told(BaseModel):
    """No other keys, no conversions: `1` is no text and `true` no number."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Trial(Told):
    """See `containment.trial`."""

    walls: Annotated[dict[Name, Name], Field(max_length=50)]


class Launch(Told):
    """See the emulated runtime's launches and `kernel_trace`."""

    kernel: Text
    line: Whole | None
    grid: Sizes | None
    block: Sizes | None
    refused: Text | None
    dynamic_shared_bytes: Count | None = None
    static_shared_bytes: Count | None = None
    threads: Count | None = None
    shared_bytes: Real | None = None
    registers: Real | None = None
    stream: Real | None = None
    microseconds: Duration | None = None


class Report(Told):
    """See the emulated runtime's reports and `sanitizer_log`."""

    kind: Name
    message: Text
    kernel: Text
    line: Whole | None
    library_offset: Count | None
    count: Count = 1


class Step(Told):
    """See `session`: the step as asked, and what came of it."""

    step: Count
    run: Literal["claim", "reference", "plant", "held"]
    case: Count
    into: Count | None = None
    fresh: bool | None = None
    layout: Name | None = None
    stream: Name | None = None
    snapshot: bool | None = None
    times: Count | None = None
    hold: bool | None = None
    of: Count | None = None
    raised: Text | None = None
    seconds: Duration = 0.0
    returned: Name = ""
    changed: Names = []
    threads: Count = 0
    children: Count = 0
    late: Count = 0
    bytes_changed: Counts = []
    aliases: Counts = []
    differing: Counts = []
    shape: Sizes = []
    dtype: Name = ""
    device: Name = ""
    strides: Annotated[list[Whole], Field(max_length=64)] = []
    digest: Digest = ""
    most_writes: Count = 0
    launches: Annotated[list[Launch], Field(max_length=MOST_LISTED)] = []
    reports: Annotated[list[Report], Field(max_length=MOST_LISTED)] = []
    loaded: Names = []
    replaced: Names = []


class Cost(Told):
    """See `oracle`."""

    cost: Numbers


class Case(Told):
    """See `oracle`."""

    case: Count
    shape: Shape
    expected_shape: Sizes
    expected_dtype: Name
    expected_at: Count


class Varied(Told):
    """See `variations`: a case itself."""

    of: Count
    bits: PerFormat
    first_input: Count | None


class Variation(Told):
    """See `variations`: one variation of a case."""

    of: Count
    variation: Name
    group: Name
    headroom: PerFormat
    stem: Text
    expected_shape: Sizes
    expected_dtype: Name
    expected_at: Count


class Gpu(Told):
    """See `timing`: where it runs, and the work of the claimed shape."""

    gpu: Name
    cost: Numbers


class Witness(Told):
    """See `witness`."""

    witness: Name
    at: Literal["begin", "end"]
    calls: Annotated[int, Field(ge=1, le=10_000)]


class Part(Told):
    """See `timing`: how long a part of a session took."""

    part: Name
    seconds: Duration


class Trying(Told):
    """A callable about to be loaded."""

    trying: Name


class Failed(Told):
    """A callable that cannot be timed."""

    failed: Name
    why: Text


class Loaded(Told):
    """A callable that answered its first call."""

    loaded: Name
    seconds: Duration


class Warmed(Told):
    """See `blocks`."""

    warmed: Name
    calls: Count
    stable: bool
    first_ms: Duration
    last_ms: Duration


class State(Told):
    """See `nvml`."""

    block: Count
    sm_mhz: Real | None = None
    memory_mhz: Real | None = None
    power_w: Real | None = None
    temperature_c: Real | None = None
    reasons: Annotated[int, Field(ge=0, lt=2**64)] | None = None
    processes: Count | None = None


class States(Told):
    """The driver's view, block by block."""

    states: Annotated[list[State], Field(max_length=MOST_SAMPLES)]


class Interleaved(Told):
    """The samples of a callable by one clock."""

    variant: Name
    how: Literal["cold", "hot", "host"]
    samples_ms: Samples
    blocks: Annotated[list[Count], Field(max_length=MOST_SAMPLES)]
    positions: Annotated[list[Count], Field(max_length=MOST_SAMPLES)]


class Plain(Told):
    """Samples of one protocol, or of a control or ceiling with a shape of its own."""

    variant: Name
    samples_ms: Samples
    protocol: Name | None = None
    shape: Shape | None = None


class Ended(Told):
    """How the blocks ended."""

    blocks: Count
    seconds: Duration
    tight: bool


class Session(Told):
    """See `blocks`."""

    session: Ended


class Kept(Told):
    """See `kept_outputs`."""

    variant: Name
    inputs: Count
    block: Count
    whole: Sizes
    rows: Annotated[list[Count], Field(max_length=MOST_ROWS)] | None
    dtype: Name
    file: Annotated[str, Field(pattern=r"^timed[0-9]{1,6}\.bin$")]
    shape: Sizes
    digest: Digest


class NoTensor(Told):
    """See `kept_outputs`."""

    variant: Name
    inputs: Count
    block: Count
    no_tensor: Name


class Contrast(Told):
    """See `stopwatch`."""

    contrast: Shape
    cold_ms: Samples
    hot_ms: Samples


class Profiled(Told):
    """See `kernel_time`."""

    profiled: Name
    busy_ms: Samples
    span_ms: Samples
    kernels: Count


Timing = (
    Gpu
    | Part
    | Witness
    | Trying
    | Failed
    | Loaded
    | Warmed
    | States
    | Interleaved
    | Plain
    | Session
    | Kept
    | NoTensor
    | Contrast
    | Profiled
)
