"""The requests to sessions, one model each; `timing_requests` has those to timing sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, Self

from audit.build.settings import Configuration, DeviceSettings, EmulatedPythonSettings, EmulatedSettings, TensorDevice
from audit.model import Harness
from audit.model.base import Frozen
from audit.sandbox.attempts import Targets

Sizes = dict[str, int]
PLANTED_BYTES = (0x71, 0x7B)
"""The range of the random bytes of the steps `plant` and `spoiled`."""


class Folders(Frozen):
    """The folders of a process that serves several sessions."""

    reads: tuple[Path, ...]
    results: Path
    caches: Path


class Request(Frozen):
    """The keys of every request. The sandbox opens the files named here, those of a build and those of the system.

    Attributes:
        reference: the claim's reference.py, whose folder may be read.
        inputs: files of arguments.
        folder: gets the files that a session writes.
        caches: the folder for compilers to write to.
        limit_s: seconds, see `processes.Deadline`; set by the pool, as are the next two.
        keep: whether the process serves further sessions.
        shared_folders: the folders of such a process, which replace `inputs`, `folder` and `caches` in its sandbox.
    """

    reference: Path | None = None
    inputs: tuple[Path, ...] = ()
    folder: Path | None = None
    caches: Path | None = None
    limit_s: float = 0.0
    keep: bool = False
    shared_folders: Folders | None = None

    @property
    def writes(self) -> tuple[Path, ...]:
        """The folders that a session in a process of its own writes to."""
        return () if self.folder is None else (self.folder,)

    @property
    def devices(self) -> tuple[DeviceSettings, ...]:
        """The settings of every device that the session opens."""
        device: DeviceSettings | str | None = getattr(self, "device", None)  # a text where torch alone computes there
        return () if device is None or isinstance(device, str) else (device,)


class Release(Request):
    """End a kept process."""

    kind: Literal["release"] = "release"


class SandboxCheck(Request):
    """Try each part of the sandbox from inside; see `sandbox.attempts`."""

    kind: Literal["sandbox_check"] = "sandbox_check"
    targets: Targets
    folder: Path


class Step(Frozen):
    """One call of a session, or an earlier result.

    Attributes:
        run: the claimed function, the reference, `plant` (a call that plants values in blocks of the result's size),
            `held` (the result of an earlier step with `hold`), or `spoiled` (the same, with random values in some
            elements; it is dropped then).
        case: the index of its arguments.
        mode: the index of the configuration from this step on; before any, that of the device.
        into: the case whose buffers get the values: the same addresses, other values.
        fresh: new buffers; at the addresses of an earlier such step where those are free again, which the event counts
            as `same_address`.
        layout: the inputs as views of that layout, one of `arguments.LAYOUTS`.
        stream: the inputs are still being written on that stream when the call starts, see `call_patterns`.
        snapshot: the output is a copy made right after the call; `late` counts the bytes that differ later.
        order: one call for each of these cases, written into the same buffers; see `call_patterns.InTurn`.
        flush_from: the index in `order` from which on the cache is flushed before a call.
        hold: keep the result for a later step.
        of: the index of the step whose result `held` or `spoiled` returns.
    """

    run: Literal["claim", "reference", "plant", "held", "spoiled"]
    case: int
    mode: int | None = None
    into: int | None = None
    fresh: bool | None = None
    layout: Literal["offset", "padded", "transposed"] | None = None
    stream: Literal["default", "other"] | None = None
    snapshot: bool | None = None
    order: Sequence[int] | None = None
    flush_from: int | None = None
    hold: bool | None = None
    of: int | None = None


class Session(Request):
    """Calls of one variant in a given order; see `session`.

    Attributes:
        device: the build to load and the configuration of memory.
        entry: the claimed function; None loads no claimed code.
        harness: the claim's.
        output_bytes: the sizes of the right outputs, for each case.
        steps: the calls.
        modes: configurations of an emulated device that steps select.
        shape: that of the cases, for the reference.
    """

    kind: Literal["session"] = "session"
    device: DeviceSettings
    entry: str | None
    harness: Harness = Harness()
    folder: Path
    output_bytes: tuple[tuple[int, ...], ...]
    steps: tuple[Step, ...]
    modes: tuple[Configuration, ...] = ()
    shape: Sizes | None = None


class Launches(Request):
    """The launches of a claimed function at sizes too large to run, in `calls` calls of each; see `launches`.

    With `described` no argument has values: its memory is reserved and not touched.
    """

    kind: Literal["launches"] = "launches"
    device: EmulatedSettings | EmulatedPythonSettings
    entry: str
    harness: Harness = Harness()
    folder: Path
    calls: int = 1
    described: bool = False


class OracleRequest(Request):
    """A request to the process of `reference.py`; `results` is its descriptor for right results."""

    reference: Path
    results: int = -1

    @property
    def varied(self) -> tuple[Path, ...]:
        """The files of arguments that it reads, in folders that it writes to."""
        return ()

    def into(self, folders: Mapping[Path, Path]) -> Self:
        """Return the request with other folders in the place of those that it writes to."""
        return self if self.folder is None else self.model_copy(update={"folder": folders[self.folder]})


class Cases(OracleRequest):
    """The inputs and right results of cases, one for each of `shapes` and `seeds`, and the cost of one shape.

    `device` computes them; `baselines` are names that reference.py must have. With `others`, the claim's tolerance,
    each case has more events with other inputs, see `other_inputs.OTHERS`, or in place of its own inputs those of that
    `distribution`. With `bits` a case of float32 has the effective bits of each format.
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
    """A case whose inputs are varied: its file, its sizes, names of `other_inputs.GROUPS`."""

    inputs: Path
    shape: Sizes
    groups: tuple[str, ...]

    def beside(self, variation: str) -> Path:
        """Return the file of the arguments of a variation."""
        return self.inputs.with_name(f"{self.inputs.name.removesuffix('.inputs.pt')}.{variation}.inputs.pt")


class Variations(OracleRequest):
    """Other inputs for cases, written to the same folders; `relative` is the claim's tolerance."""

    kind: Literal["variations"] = "variations"
    device: TensorDevice
    relative: float
    vary: tuple[Vary, ...]

    @property
    def writes(self) -> tuple[Path, ...]:
        """See `Request`."""
        return tuple(dict.fromkeys(one.inputs.parent for one in self.vary))

    @property
    def varied(self) -> tuple[Path, ...]:
        """See `OracleRequest`."""
        return tuple(one.inputs for one in self.vary)

    def into(self, folders: Mapping[Path, Path]) -> Self:
        """See `OracleRequest`."""
        files = [folders[one.inputs.parent] / one.inputs.name for one in self.vary]
        vary = tuple(one.model_copy(update={"inputs": file}) for one, file in zip(self.vary, files, strict=True))
        return self.model_copy(update={"vary": vary})


class Work(OracleRequest):
    """The work of an imported task, up to `most`, at shapes in descending order."""

    kind: Literal["work"] = "work"
    shapes: tuple[Sizes, ...]
    most: int


class Described(OracleRequest):
    """Files of arguments without values, for `launches`."""

    kind: Literal["described"] = "described"
    shapes: tuple[Sizes, ...]
    folder: Path


class Sized(OracleRequest):
    """Cases of shapes that the task may refuse, as far as their total work is within `most`."""

    kind: Literal["sized"] = "sized"
    device: TensorDevice
    shapes: tuple[Sizes, ...]
    seed: int
    most: int
    relative: float
    folder: Path
