"""A published claim, as `kernels/<claim>/claim.toml` states it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field, NonNegativeFloat, model_validator

from audit.model.base import Frozen

MOST_SIZE = 1 << 40
"""No size of a shape is larger."""
Shape = dict[str, Annotated[int, Field(gt=0, le=MOST_SIZE)]]
"""Named sizes of one problem, for example `{"N": 4096}`."""

FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_]+\.(cu|py)$")]
OriginalName = Annotated[str, Field(pattern=r"^original/[A-Za-z0-9_][A-Za-z0-9_.-]*$")]
Role = Literal["claimed", "base", "ablation", "no_op", "repair", "lesson", "known_bad", "known_good"]
"""`base` is the kernel before a change of which the claimed one is the result; see `audit pr`. A `lesson` is a right
kernel that audits leave out, as `claims.load` does unless told otherwise."""
Published = Annotated[float, Field(ge=1e-9, le=1e12)]
"""A time or a ratio somebody published; what lies outside is neither, and would overflow a quotient."""
Precision = Literal["fp32", "split_fp16", "tf32", "fp16", "bf16"]
"""Of the arithmetic, finest first; `split_fp16` is float32 split in fp16 parts: 22 bits, in fp16's range alone."""
Dtype = Literal["float32", "float16", "bfloat16"]
Position = Annotated[int, Field(ge=0, lt=1000)]
"""The place of an argument of the entry, from 0."""
Keyword = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,60}$")]
"""The name of an argument of the entry."""


class Source(Frozen):
    """Where the claim was published; cited, never quoted. An imported claim may not tell when."""

    title: str
    authors: str
    published: Annotated[str, Field(pattern=r"^(unknown|\d{4}(-\d{2}(-\d{2})?)?)$")]
    url: str
    fidelity: Literal["verbatim", "given", "reconstruction"]
    note: str


class Speedup(Frozen):
    """A published ratio baseline time / kernel time on one GPU; `about` marks a rounded figure.

    It speaks of `shape` alone; absent, of the claimed one. `by` names who states it and `url` where; absent, the
    authors and the address of the source.
    """

    gpu: str
    ratio: Published
    shape: Shape | None = None
    about: bool = False
    by: str | None = None
    url: str | None = None


class Observation(Frozen):
    """Times published for the claimed kernel and its baseline on one GPU, in milliseconds.

    `by` names who states them and `url` where, as of a speedup; `note` says where they stood and what tells their unit.
    """

    gpu: str
    kernel_ms: Published
    baseline_ms: Published
    by: str | None = None
    url: str | None = None
    note: str = ""


def include_folders(flags: Sequence[str]) -> tuple[str, ...]:
    """Return the folders of `-I` among a compiler's flags, in order."""
    return tuple(flag.removeprefix("-I") for flag in flags if flag.startswith("-I"))


class Protocol(Frozen):
    """How the claim says it was evaluated, step by step, and the flags the kernel was compiled with.

    `-I` in them names a folder of the claim. `timed_mean`: the evaluation timed `.mean()` of the one result too, as a
    second time.
    """

    steps: tuple[str, ...]
    flags: tuple[str, ...] = ()
    timed_mean: bool = False

    @property
    def of_the_text(self) -> tuple[str, ...]:
        """The flags without which a source is another text: its macros and include folders."""
        return tuple(flag for flag in self.flags if flag.startswith(("-I", "-D", "-U")))


class Harness(Frozen):
    """What the published harness does with the reference and the kernel alike; `keywords` are names of the last
    arguments, by which the entry gets them."""

    mode: Literal["train", "eval"] = "train"  # of a module: left as it is made, or `eval()` is called on it
    dtype: Dtype | None = None  # what it casts a module's parameters and every argument of fractions to
    destination: Position | None = None  # the argument it hands for the result to be written into
    host: tuple[Position, ...] = ()  # arguments it leaves in the host's memory; other tensors lie on the device
    keywords: Annotated[tuple[Keyword, ...], Field(max_length=100)] = ()
    any_dtype: bool = False  # its check compares values alone: a result of another type of numbers is taken


MOST_ABSOLUTE = 0.01
"""The part of a result's rms up to which an absolute tolerance counts: with more, zeros could be right."""


class Tolerance(Frozen):
    """An element is right when |got - want| <= relative * (|want| + rms(want)); the reason says why this number.

    `absolute` is that part of a published check: where it is larger than relative * rms(want), it counts up to a
    hundredth of rms(want), so that no small result is right whatever it is. Zero asks for the nearest number of the
    result's type; `audit.run.calls.correctness` says how fine a type can be held.
    """

    relative: NonNegativeFloat
    absolute: NonNegativeFloat = 0.0
    reason: str

    @property
    def widest(self) -> float:
        """The relative tolerance that allows at least as much whatever the rms."""
        return max(self.relative, MOST_ABSOLUTE) if self.absolute else self.relative


class Shapes(Frozen):
    """The shape the claim speaks of, others it must be right for, and the few small ones for the emulated device.

    `emulated_by` tells who chose the small ones. Those of the `claim` are its own, and it must be right for them too.
    Those of the `importer` are candidates, the most faithful first: the first whose work fits the device is run, and
    a failure there is one of the claim only where `audit.claims.shapes` says that the shape counts. `module` names the
    sizes that a `ModelNew` is made with; another one is made for a shape with other ones of these.
    """

    claimed: Shape
    others: tuple[Shape, ...]
    emulated: tuple[Shape, ...] = Field(min_length=1)
    emulated_by: Literal["claim", "importer"] = "claim"
    module: tuple[str, ...] = ()

    def has_the_module_of(self, shape: Shape) -> bool:
        """Return whether the sizes of the module are the claimed ones at that shape."""
        return all(shape.get(name) == self.claimed[name] for name in self.module)


class Variant(Frozen):
    """One `.cu` or `.py` file of the claim folder.

    `changes` names what an ablation changes against the claimed kernel; `probe` names the probe a control is for;
    `entry` is the function that is called where it is another one than the claim's;
    `compute_capability` is the least the file runs on (75 is a T4); `tolerance` is for a declared lower precision.
    """

    file: FileName
    role: Role
    technique: str
    entry: str | None = None
    precision: Precision = "fp32"
    compute_capability: Annotated[int, Field(gt=0, le=1000)] = 75
    changes: tuple[str, ...] = ()
    probe: str | None = None
    tolerance: Tolerance | None = None
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None

    @property
    def name(self) -> str:
        """The file name without its suffix."""
        return self.file.rpartition(".")[0]


class Original(Frozen):
    """A file or cell of somebody else's, kept byte for byte in `original/`; `published_as` says where it stood."""

    file: OriginalName
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    published_as: str


class Claim(Frozen):
    """Everything `claim.toml` says; the one ordered list of variants is `variant`.

    `gpus` names GPUs that the kernel is for, without a number.
    """

    name: Annotated[str, Field(pattern=r"^[a-z0-9_]+$")]
    title: str
    task: str
    dtype: Dtype
    entry: str = "forward"
    baseline: str
    baselines: tuple[str, ...] = ("eager",)
    source: Source
    protocol: Protocol
    harness: Harness = Harness()
    tolerance: Tolerance
    shapes: Shapes
    gpus: tuple[str, ...] = ()
    speedup: tuple[Speedup, ...] = ()
    observation: tuple[Observation, ...] = ()
    variant: tuple[Variant, ...] = Field(min_length=1, max_length=80)
    original: tuple[Original, ...] = Field(default=(), max_length=400)

    @model_validator(mode="after")
    def _files_differ(self) -> Claim:
        names = [variant.name for variant in self.variant]
        twice = sorted({variant.file for variant in self.variant if names.count(variant.name) > 1})
        if twice:
            raise ValueError(f"variant files named twice: {', '.join(twice)}")
        if "reference" in names:
            raise ValueError("reference.py is the reference, no variant")
        return self

    @model_validator(mode="after")
    def _sizes_are_named(self) -> Claim:
        known = set(self.shapes.claimed)
        if others := [name for name in self.shapes.module if name not in known]:
            raise ValueError(f"shapes.module names {', '.join(others)}; the shapes name {', '.join(sorted(known))}")
        for one in self.speedup:
            if one.shape is not None and set(one.shape) != known:
                raise ValueError(f"a speedup names {', '.join(one.shape)}; the shapes name {', '.join(sorted(known))}")
        return self

    @property
    def ratios(self) -> tuple[Speedup, ...]:
        """The ratios that speak of the claimed shape, at which times are taken."""
        return tuple(one for one in self.speedup if one.shape in (None, self.shapes.claimed))

    @property
    def other_ratios(self) -> tuple[Speedup, ...]:
        """The ratios that speak of another shape; no time is taken there."""
        return tuple(one for one in self.speedup if one not in self.ratios)

    @property
    def claimed(self) -> Variant | None:
        """The variant that reconstructs or holds the published kernel; a folder of controls has none."""
        return next((variant for variant in self.variant if variant.role == "claimed"), None)

    def known_as(self, variant: Variant) -> str:
        """Return the name of the file that a variant is, by what the user calls it, else the variant's own name.

        That is the one original with the same content; or else the only C++ or CUDA source among them, behind whose
        lines an import adds a binding.
        """
        sources = ("cu", "cpp", "cc", "cuh", "h", "hpp", "inl")
        same = {one.published_as for one in self.original if one.sha256 == variant.sha256}
        alike = [one.published_as for one in self.original if one.published_as.rpartition(".")[2] in sources]
        if variant.role == "claimed" and not same and variant.file.endswith(".cu") and len(alike) == 1:
            same = {*alike}
        return same.pop() if len(same) == 1 else variant.file

    def entry_of(self, variant: Variant) -> str:
        """Return the function of that variant that is called."""
        return variant.entry or self.entry

    def stated_by_authors(self, number: Speedup | Observation) -> bool:
        """Return whether the claim's own authors state that number, as far as the claim file tells."""
        return number.by in (None, self.source.authors)

    def tolerance_of(self, variant: Variant) -> Tolerance:
        """Return the variant's own tolerance where it declares a lower precision, else the claim's."""
        return variant.tolerance or self.tolerance
