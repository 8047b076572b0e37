"""The requests that a session answers, one model each; those of timing sessions stand in `timing_requests`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from audit.build.settings import Configuration, DeviceSettings, EmulatedPythonSettings, EmulatedSettings, TensorDevice
from audit.model import Harness
from audit.model.base import Frozen
from audit.sandbox.attempts import Targets

Sizes = dict[str, int]


class Place(Frozen):
    """The folders of a process that serves several sessions, which hold for all of them."""

    reads: tuple[Path, ...]
    results: Path
    caches: Path


class Request(Frozen):
    """The keys of every request. The files named here are all that the sandbox opens beside a build and the system.

    Attributes:
        reference: the claim's reference.py, whose folder may be read.
        inputs: files of arguments.
        folder: takes the files that a session writes.
        caches: where compilers may write.
        limit_s: seconds, see `processes.Deadline`, filled in by the pool like what follows.
        keep: the process serves further sessions.
        place: its folders, which stand for `inputs`, `folder` and `caches`.
    """

    reference: Path | None = None
    inputs: tuple[Path, ...] = ()
    folder: Path | None = None
    caches: Path | None = None
    limit_s: float = 0.0
    keep: bool = False
    place: Place | None = None

    @property
    def writes(self) -> tuple[Path, ...]:
        """The folders that a session of its own writes to."""
        return () if self.folder is None else (self.folder,)

    @property
    def devices(self) -> tuple[DeviceSettings, ...]:
        """The settings of every device that the session opens."""
        return ()


class Release(Request):
    """End the process that was kept."""

    kind: Literal["release"] = "release"


class SandboxCheck(Request):
    """Try each rule of the sandbox from inside; see `sandbox.attempts`."""

    kind: Literal["sandbox_check"] = "sandbox_check"
    targets: Targets
    folder: Path


class Step(Frozen):
    """One call of a session, or a look at an earlier result.

    Attributes:
        run: the claimed function, the reference, `plant` (a call that leaves its values in blocks of the result's
            size), `held` (the result that an earlier step kept), or `spoiled` (that, with random values in some
            elements; it is kept no longer).
        case: the index of its arguments.
        mode: the index of the configuration that holds from this step on; at first the device's own holds.
        into: the case whose buffers take the values: the same addresses, other values.
        fresh: buffers of their own, at addresses where no case's buffers lie; where those of an earlier such step are
            free again, at those, which the event counts as `same_address`.
        layout: the inputs as views of that layout, one of `arguments.LAYOUTS`.
        stream: the inputs are still being written on that stream when the call starts, one of `call_patterns.STREAMS`.
        snapshot: the output is a copy made right behind the call; `late` counts the bytes that differ later.
        order: one call for each of these cases, written into the same buffers; see `call_patterns.InTurn`.
        flush_from: the place in `order` from which on the cache is flushed before a call.
        hold: the result lives on for a later step `held`.
        of: the index of the step whose result `held` or `spoiled` looks at.
    """

    run: Literal["claim", "reference", "plant", "held", "spoiled"]
    case: int
    mode: int | None = None
    into: int | None = None
    fresh: bool | None = None
    layout: str | None = None
    stream: str | None = None
    snapshot: bool | None = None
    order: Sequence[int] | None = None
    flush_from: int | None = None
    hold: bool | None = None
    of: int | None = None


class Session(Request):
    """Calls of one variant in a given order; see `session`.

    Attributes:
        device: what to load and how memory behaves.
        entry: the claimed function; None loads no claimed code.
        harness: the claim's.
        output_bytes: the sizes of the right outputs, for each case.
        steps: the calls.
        modes: configurations of an emulated device between which steps change.
    """

    kind: Literal["session"] = "session"
    device: DeviceSettings
    entry: str | None
    harness: Harness = Harness()
    folder: Path
    output_bytes: tuple[tuple[int, ...], ...]
    steps: tuple[Step, ...]
    modes: tuple[Configuration, ...] = ()

    @property
    def devices(self) -> tuple[DeviceSettings, ...]:
        """See `Request`."""
        return (self.device,)


class Launches(Request):
    """The launches of a claimed function at sizes too large to run, in so many `calls` of each; see `launches`."""

    kind: Literal["launches"] = "launches"
    device: EmulatedSettings | EmulatedPythonSettings
    entry: str
    harness: Harness = Harness()
    folder: Path
    calls: int = 1

    @property
    def devices(self) -> tuple[DeviceSettings, ...]:
        """See `Request`."""
        return (self.device,)


class OracleRequest(Request):
    """A question to the process of `reference.py`; `results` is the descriptor that takes right results there."""

    reference: Path
    results: int = -1


class Cases(OracleRequest):
    """The inputs and right results of cases, one for each of `shapes` and `seeds`, and the cost of one shape.

    `device` is where to compute; `baselines` are names that reference.py must have. With `others`, the claim's
    tolerance, each case is given again with other inputs, see `oracle.OTHERS`, or with those of that `distribution`.
    With `bits` the effective bits of each format come with a case of float32.
    """

    kind: Literal["cases"] = "cases"
    device: TensorDevice
    baselines: tuple[str, ...] = ()
    shapes: tuple[Sizes, ...]
    seeds: tuple[int, ...]
    cost_shape: Sizes
    folder: Path
    others: float | None = None
    distribution: str | None = None
    bits: bool = False


class Vary(Frozen):
    """A case whose inputs are varied: its file, its sizes, names of `variations.GROUPS`."""

    inputs: Path
    shape: Sizes
    groups: tuple[str, ...]


class Variations(OracleRequest):
    """Other inputs for cases, written beside those; `relative` is the claim's tolerance."""

    kind: Literal["variations"] = "variations"
    device: TensorDevice
    relative: float
    vary: tuple[Vary, ...]

    @property
    def writes(self) -> tuple[Path, ...]:
        """See `Request`."""
        return tuple(dict.fromkeys(one.inputs.parent for one in self.vary))


class Work(OracleRequest):
    """The work of an imported task at shapes, each as large as the next one or larger, up to `most`."""

    kind: Literal["work"] = "work"
    shapes: tuple[Sizes, ...]
    most: int


class Described(OracleRequest):
    """Files of arguments without values, for `launches`."""

    kind: Literal["described"] = "described"
    shapes: tuple[Sizes, ...]
    folder: Path


class Sized(OracleRequest):
    """Cases of shapes that the task may not take, of those whose work is within `most` together."""

    kind: Literal["sized"] = "sized"
    device: TensorDevice
    shapes: tuple[Sizes, ...]
    seed: int
    most: int
    relative: float
    folder: Path
