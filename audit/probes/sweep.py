"""At which sizes around the claim's is the kernel right, and at which not?

Sizes are changed one at a time: by one, to primes, to multiples of 2 to 256 and of no more, to numbers that the source
names, and to grids of 65,535 blocks along y or z and one beyond. A size that the kernel refuses by an exception is no
failure, and one that the task's own reference does not take is none of the task's. A failure is a hint whatever it
shows: a claim need not speak of these sizes. So no control is made for this question, and no other variant is asked it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from pydantic import JsonValue

from audit.claims.shapes.counting import counts
from audit.claims.shapes.numbers import named
from audit.claims.shapes.sweep import Rule, explanation, sharper, sizes
from audit.model import Finding, Shape
from audit.probes.answer import answer
from audit.probes.sized import At, called, launched
from audit.probes.target import Target

NAME = "sweep"
MECHANISMS = ("hard-coded shapes", "missing last tile", "missing bounds", "misaligned vectors", "launch limits")
FAILED = ("wrong", "launch_refused")
ANSWERED = ("right", "wrong")
NO_OTHER = "no other size has an answer"
FEWEST = 3
"""Sizes with an answer, below which there is nothing to tell apart."""
Rules = Sequence[Rule]


def run(target: Target) -> Finding:
    """One call at each size around the smallest tested shape, with every access checked on the emulated device."""
    source = (target.reference.parent / target.variant.file).read_text(encoding="utf-8")
    numbers = named([source])
    around = base_of(target, numbers)
    found = called(target, [around, *sizes(around, numbers)])
    base = next((at for at in found if at.shape == around), None)
    if base is None or base.result not in ANSWERED or sum(at.result in ANSWERED for at in found) < FEWEST:
        why = "a call is too much work here" if base is None else next((at.said for at in found if at.why), NO_OTHER)
        return answer(NAME, target, "skip", f"not asked: {At(around).label}: no sizes around it: {why}")
    known = [at.shape for at in found]
    more = sharper(around, [*wrong_at(found, numbers), *refused_at(found, numbers)], numbers)
    if more := [shape for place, shape in enumerate(more) if shape not in [*known, *more[:place]]]:
        found += called(target, more)
    found += launched(target, base, found)
    return _finding(target, source, found, numbers)


def base_of(target: Target, numbers: Collection[int]) -> Shape:
    """The smallest shape that counts for the claim and has no size of 1, as far as there is one; a GPU, whose shapes
    are large, may take one of those for the emulated device."""
    known = [case.shape for case in target.cases]
    if target.built.tensor_device == "cuda":
        known += target.claim.shapes.emulated
    claimed = target.claim.shapes
    order = [(1 in one.values(), not counts(one, claimed, numbers), math.prod(one.values())) for one in known]
    return known[order.index(min(order))]


def wrong_at(found: Iterable[At], numbers: Collection[int]) -> Rules:
    """Where the kernel is wrong, by rules; none where there are none."""
    results = [(at.shape, at.result == "right") for at in found if at.result in ANSWERED]
    return explanation(results, numbers) or ()


def refused_at(found: Iterable[At], numbers: Collection[int]) -> Rules:
    """Where it raises, by rules; none where there are none."""
    results = [(at.shape, at.result != "refused") for at in found if at.case]
    return explanation(results, numbers) or ()


def sentence(found: Sequence[At], numbers: Collection[int], line: int | None) -> str:
    """Where the kernel is right, wrong, and refuses; the base is the first of those found."""
    base, counts = found[0], Counter(at.result for at in found)
    asked = counts["right"] + counts["wrong"]
    told = [f"right at all {asked} sizes asked around {base.label}"]
    if wrong := [at for at in found if at.result == "wrong"]:
        rules = " or ".join(map(str, wrong_at(found, numbers)))
        text = f"wrong at {len(wrong)} of {asked} sizes asked around {base.label}"
        text += f", exactly where {rules}" if rules else ", by no single rule"
        told = [text if counts["right"] else f"wrong at all {asked} sizes asked around {base.label}"]
        told = [*([f"right at {base.label}"] if base.result == "right" else []), *told]
        told += [*([f"see line {line}"] if line else []), f"{wrong[0].label}: {wrong[0].said}"]
    told += [f"{at.label}, no kernel run: {at.said}" for at in found if at.result == "launch_refused"][:1]
    if counts["refused"]:
        rules = " or ".join(map(str, refused_at(found, numbers)))
        text = f"refused by an exception at {counts['refused']} more"
        told.append(text + (f", exactly where {rules}" if rules else ""))
    told += [f"not of the task: {counts['not_taken']} more"] if counts["not_taken"] else []
    return "; ".join(told)


def _finding(target: Target, source: str, found: Sequence[At], numbers: Collection[int]) -> Finding:
    failed, rules = [at for at in found if at.result in FAILED], wrong_at(found, numbers)
    seen = Counter(at.line for at in failed if at.line)
    line = seen.most_common(1)[0][0] if seen else line_of((rule.number for rule in rules), source)
    text = sentence(found, numbers, line)
    evidence: dict[str, JsonValue] = {
        "around": dict(found[0].shape),
        "rule": " or ".join(map(str, rules)) or None,
        "sizes": [at.evidence() for at in found],
    }
    if not failed:
        return answer(NAME, target, "pass", text, evidence=evidence)
    claimed = any(counts(at.shape, target.claim.shapes, numbers) for at in failed)
    text = text if claimed else "; ".join([text, "none of these sizes is claimed"])
    told = answer(NAME, target, "fail", text, grade="hint", evidence=evidence, shape=failed[0].shape, line=line)
    return told.model_copy(update={"claimed": claimed})


def line_of(numbers: Iterable[int], source: str) -> int | None:
    """The first line of code that holds the first of the numbers: as a divisor or a vector's length, else anywhere."""
    code = re.sub(r"//[^\n]*|/\*.*?\*/", lambda comment: re.sub(r"[^\n]", " ", comment[0]), source, flags=re.DOTALL)
    for number in numbers:
        vector = rf"\b(?:float|double|int|uint|half|short|char|uchar){number}\b"
        for pattern in (rf"[%/]\s*{number}\b", vector, rf"(?<![\w.]){number}(?![\w.])"):
            for place, text in enumerate(code.splitlines(), 1):
                if re.search(pattern, text):
                    return place
    return None
