"""Is the result as precise as the declared precision: how many bits of it agree with float64?

Effective bits are log2(rms(right) / rms(result - right)) over all elements. The yardsticks are the reference in its own
type, and the float64 oracle on inputs rounded to TF32, fp16 and bf16. A claim that declares float32 fails only
if it has no more bits than rounded inputs leave, at a case where the reference has far more. Whether the values are
right within the tolerance is the question of `agreement`; the evidence has its answer for this case.

A source that names no narrower format, no approximation and no bits of a number may have another number in it than the
task, 0.299 for 0.2989 for instance: what it loses so is a hint.

Without a GPU `tl.dot` rounds float32 to TF32 where the claim names a GPU that does. Where it names none, what such a
source keeps of declared float32 is no answer, nor is what one keeps that allows a library fewer bits.
"""

from __future__ import annotations

import re

import numpy as np

from audit.build.settings import LEAST_TF32, EmulatedPythonSettings
from audit.model.errors import Unsupported
from audit.probes.concluding.answer import Answer, Observed, failed, label, passed
from audit.probes.observing.battery import at_largest, premise
from audit.probes.observing.called import value_calls
from audit.probes.observing.target import Target
from audit.probes.observing.variations import wanted
from audit.review.cuda_source import parse
from audit.review.token_scan import blanked
from audit.run.calls import correctness

NAME = "precision"
MARGIN_BITS = 1.5
"""The distance of a class from the yardstick below it."""
LEAST_GAP_BITS = 6.0
"""Closer yardsticks cannot be distinguished: long sums in another order lose some bits too."""
MOST_BITS = {"float16": 11.0, "bfloat16": 8.0}
FLOAT32_BITS = 24.0
"""The most bits of the reference's yardstick, by the type of the result: a reference that casts to that type even on
float64 inputs is its own oracle, and agrees with it in more."""
RANK = {"bf16": 0, "fp16": 1, "tf32": 1, "fp32": 2}
"""TF32 and fp16 have the same 11 bits and differ in range only. Split fp16 must reach float32 at standard inputs."""
_LESS_ON_A_GPU = re.compile(
    r"\b(?:tl|language)\s*\.\s*dot_scaled\b|allow_?tf32|set_float32_matmul_precision"
    r"|\bCUBLAS_(?:TF32_)?TENSOR_OP_MATH\b|\bCUBLAS_COMPUTE_32F_FAST_\w+",
    re.IGNORECASE,
)
"""Code whose float32 has fewer bits on a GPU than on a processor."""
_NARROWER = re.compile(
    r"half|float16|fp16|bf16|bfloat|tf32|mma|\bdot\b|fp8|float8|e[45]m[23]|u?int(?:8|16)|\bu?short|\bu?char|math_?mode"
    r"|math_precision|approx|bit_cast|__float_as_|reinterpret_cast<(?:const )?u|0x[0-9a-f]{8}"
    r"|\b__(?:exp|log|sin|cos|tan|pow|fdivide)\w*\(",
    re.IGNORECASE,
)
"""Code that may round a number: formats of fewer bits, approximations, bits of a number."""
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_DOT = re.compile(r"\b(?:tl|language)\s*\.\s*dot\b")


def observe(target: Target) -> Observed:
    """Measure the effective bits of one call at the largest case, with standard inputs."""
    first, bits = at_largest(target)["first"], wanted(target).largest.bits
    value_calls([first.call], [first.case.expected])
    case = first.case
    got, want = first.call.values().astype(np.float64).reshape(case.expected.shape), case.expected
    found = correctness.effective_bits(case.level(got), case.level(want))
    known = {name: value for name, value in bits.items() if value is not None and name in RANK}
    if found is None or set(known) != set(RANK) or found < known["bf16"] - MARGIN_BITS:
        if (skipped := premise(target, first)) is not None:  # wrong by more than any rounding
            return skipped
        raise Unsupported("effective bits of a result that is zero, or not finite once its inputs are rounded")
    kind = class_of(found, known, most=MOST_BITS.get(case.dtype, FLOAT32_BITS))
    if kind in (None, "fp32") and not _shown(target):
        raise Unsupported("TF32, which a GPU may take for float32 in this source")
    return {
        "shape": dict(first.case.shape),
        "bits": round(found, 2),
        "bits_of": {name: round(value, 2) for name, value in known.items()},
        "class": kind,
        "declared": target.variant.precision,
        "within_tolerance": first.compared(target).right,
        "rounds": target.is_reference or any(map(_may_round, [_code(target), *_headers(target)])),
    }


def conclude(seen: Observed) -> Answer:
    """Pass where the class is the declared one, or better."""
    of, kind, declared = seen["bits_of"], seen["class"], seen["declared"]
    text = f"{label(seen['shape'])}: {seen['bits']:.1f} effective bits"
    text += f" (reference {of['fp32']:.1f}, TF32 {of['tf32']:.1f})"
    if kind is None:
        return passed(f"{text}; the precisions cannot be told apart here")
    if RANK[kind] < RANK.get(declared, RANK["fp32"]):
        text = f"{text}: {_named(kind)} accuracy, declared {declared}"
        return failed(text) if seen.get("rounds", True) else failed(f"{text}; the source names no such format", "hint")
    return passed(f"{text}: {_named(kind)} accuracy")


def _shown(target: Target) -> bool:
    """Return whether the device has the bits that a GPU's float32 would have in this source."""
    if target.built.tensor_device == "cuda" or target.is_reference or target.variant.precision != "fp32":
        return True
    source = _code(target)
    if _LESS_ON_A_GPU.search(source):
        return False
    return not _DOT.search(source) or _rounds_factors(target)


def _code(target: Target) -> str:
    """Return the source; of a `.cu` without the other kernels of the file, which may have fewer bits."""
    source = (target.reference.parent / target.variant.file).read_text(encoding="utf-8")
    if not target.variant.file.endswith(".cu"):
        return source
    apart = parse(source).apart_from(target.claim.entry_of(target.variant))
    return blanked(source, [(each.start, each.end) for each in apart])


def _may_round(source: str) -> bool:
    return _NARROWER.search(_COMMENT.sub("", source)) is not None


def _headers(target: Target) -> list[str]:
    """Return the texts of the claim's other files that went into the build."""
    folder, name = target.reference.parent, target.variant.file
    files = [folder / one.file for one in target.built.note.reads if one.file != name]
    return [one.read_text(encoding="utf-8", errors="replace") for one in files]


def _rounds_factors(target: Target) -> bool:
    """Return whether `tl.dot` rounds here as it does on the GPU that the claim names."""
    settings = target.built.settings(memory="plain", order="forward", check=False)
    return isinstance(settings, EmulatedPythonSettings) and settings.configuration.compute_capability >= LEAST_TF32


def class_of(bits: float, yardsticks: dict[str, float], *, most: float = FLOAT32_BITS) -> str | None:
    """Return the precision class of a result by its effective bits and the yardsticks: fp32, tf32 (which equals fp16)
    or bf16; None where the yardsticks are too close. `most` are the bits that its type holds."""
    half, brain = min(yardsticks["tf32"], yardsticks["fp16"]), yardsticks["bf16"]
    if min(yardsticks["fp32"], most) - max(yardsticks["tf32"], yardsticks["fp16"]) < LEAST_GAP_BITS:
        return None
    if bits > half + MARGIN_BITS:
        return "fp32"
    return "tf32" if bits > brain + MARGIN_BITS else "bf16"


def _named(kind: str) -> str:
    return {"fp32": "float32", "tf32": "TF32 or fp16", "bf16": "bf16"}[kind]
