"""A published claim, as `kernels/<claim>/claim.toml` states it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, PositiveFloat, model_validator

from audit.model.base import Frozen

Shape = dict[str, Annotated[int, Field(gt=0, le=1 << 40)]]
"""Named sizes of one problem, for example `{"N": 4096}`."""

FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_]+\.(cu|py)$")]
OriginalName = Annotated[str, Field(pattern=r"^original/[A-Za-z0-9_][A-Za-z0-9_.-]*$")]
Role = Literal["claimed", "ablation", "thief", "repair", "rogue", "honest"]
Published = Annotated[float, Field(ge=1e-9, le=1e12)]
"""A time or a ratio somebody published; what lies outside is neither, and would overflow a quotient."""
Precision = Literal["fp32", "tf32", "fp16", "bf16"]


class Source(Frozen):
    """Where the claim was published; cited, never quoted. An imported claim may not tell when."""

    title: str
    authors: str
    published: Annotated[str, Field(pattern=r"^(unknown|\d{4}(-\d{2}(-\d{2})?)?)$")]
    url: str
    fidelity: Literal["verbatim", "reconstruction"]
    note: str


class Speedup(Frozen):
    """A published ratio baseline time / kernel time on one GPU; `about` marks a rounded figure."""

    gpu: str
    ratio: Published
    about: bool = False


class Observation(Frozen):
    """Times somebody published for the claimed kernel and its baseline on one GPU, in milliseconds."""

    gpu: str
    kernel_ms: Published
    baseline_ms: Published
    by: str


class Protocol(Frozen):
    """How the claim says it was evaluated, step by step, and the flags the kernel was compiled with."""

    steps: tuple[str, ...]
    flags: tuple[str, ...] = ()


class Tolerance(Frozen):
    """An element is right when |got - want| <= relative * (|want| + rms(want)); the reason says why this number."""

    relative: PositiveFloat
    reason: str


class Shapes(Frozen):
    """The shape the claim speaks of, others it must be right for, and the few small ones for the emulated device."""

    claimed: Shape
    others: tuple[Shape, ...]
    emulated: tuple[Shape, ...] = Field(min_length=1)


class Variant(Frozen):
    """One `.cu` or `.py` file of the claim folder.

    `changes` names what an ablation changes against the claimed kernel; `probe` names the probe a control is for;
    `compute_capability` is the least the file runs on (75 is a T4); `tolerance` is for a declared lower precision.
    """

    file: FileName
    role: Role
    technique: str
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
    """Everything `claim.toml` says; the one ordered list of variants is `variant`."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9_]+$")]
    title: str
    task: str
    dtype: Literal["float32", "float16", "bfloat16"]
    entry: str = "forward"
    baseline: str
    baselines: tuple[str, ...] = ("eager",)
    source: Source
    protocol: Protocol
    tolerance: Tolerance
    shapes: Shapes
    speedup: tuple[Speedup, ...] = ()
    observation: tuple[Observation, ...] = ()
    variant: tuple[Variant, ...] = Field(min_length=1)
    original: tuple[Original, ...] = ()

    @model_validator(mode="after")
    def _files_differ(self) -> Claim:
        names = [variant.name for variant in self.variant]
        twice = sorted({variant.file for variant in self.variant if names.count(variant.name) > 1})
        if twice:
            raise ValueError(f"variant files named twice: {', '.join(twice)}")
        if "reference" in names:
            raise ValueError("reference.py is the reference, no variant")
        return self

    @property
    def claimed(self) -> Variant | None:
        """The variant that reconstructs or holds the published kernel; a folder of controls has none."""
        return next((variant for variant in self.variant if variant.role == "claimed"), None)

    def tolerance_of(self, variant: Variant) -> Tolerance:
        """The variant's own tolerance where it declares a lower precision, else the claim's."""
        return variant.tolerance or self.tolerance
