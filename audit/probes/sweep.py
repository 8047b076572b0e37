"""At which sizes around the claim's is the kernel right, and at which not?

Sizes are changed one at a time: by one, to primes, to multiples of exactly one power of two up to 256, to numbers in
the source, and to grids of 65,535 blocks along y or z and one beyond. A size that the kernel refuses by an exception is
no failure. One that the task's own reference does not take is not of the task, nor is one where the right result is NaN
wherever the kernel is wrong. Further sizes are those that would refute the rules that fit, and a rule is stated only
where no other is left. A failure is always a hint: a claim need not cover these sizes. So there is no control for this
question, and no other variant is asked.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from audit.claims.shapes.counting import counts
from audit.claims.shapes.numbers import named
from audit.claims.shapes.sweep import Sizes, sizes
from audit.claims.shapes.telling import MOST_TELLING, Results, established, telling
from audit.model import Shape
from audit.model.claim import Shapes
from audit.probes.concluding.answer import Answer, Observed, failed, label, passed, skipped
from audit.probes.observing.sized import MOST_WORK, At, called, launched
from audit.probes.observing.target import Target

NAME = "sweep"
FAILED = ("wrong", "launch_refused")
ANSWERED = ("right", "wrong")
NO_OTHER, MODULE = "no other size has an answer", "all sizes are those of its module"
FEWEST = 3
"""The least sizes with an answer that allow a comparison."""
EVERYWHERE = 2
"""Numbers up to this one are in most sources; a line with one explains no sizes."""
ROUNDS, LESS_WORK = 3, 2
"""Times that further sizes are asked, each with at most that part of the first sizes' work."""
TESTED = "rules_tested"
"""Key of evidence whose rules were asked to be refuted; an older record has the simplest rule that fits its sizes."""


def observe(target: Target) -> Observed:
    """Make one call at each size around the smallest tested shape, with checked accesses on the emulated device."""
    source = (target.reference.parent / target.variant.file).read_text(encoding="utf-8")
    numbers = named([source])
    around = base_of(target, numbers)
    module = target.claim.shapes.module
    if not (of_a_call := _of_a_call(around, module)):
        return {"around": dict(around), "none_because": MODULE}
    found = called(target, [around, *({**around, **shape} for shape in sizes(of_a_call, numbers))])
    base = next((at for at in found if at.shape == around), None)
    if base is None or base.result not in ANSWERED or sum(at.result in ANSWERED for at in found) < FEWEST:
        why = "a call is too much work here" if base is None else next((at.reason for at in found if at.why), NO_OTHER)
        return {"around": dict(around), "none_because": why}
    found += _told_apart(target, found, numbers)
    found += launched(target, base, found)
    return seen_at(found, numbers=numbers, source=source, claimed=target.claim.shapes)


def _told_apart(target: Target, found: Sequence[At], numbers: Collection[int]) -> list[At]:
    """Return the results at sizes that tell apart the rules that fit, asked in a few rounds."""
    module, around, more = target.claim.shapes.module, found[0].shape, list[At]()
    asked = [_of_a_call(at.shape, module) for at in found]
    for _ in range(ROUNDS):
        known = [*found, *more]
        new = telling(_wrong(known, module), numbers, asked)
        new += telling(_refused(known, module), numbers, [*asked, *new])
        if not new:
            break
        asked += new[:MOST_TELLING]
        shapes = [{**around, **shape} for shape in new[:MOST_TELLING]]
        more += called(target, shapes, most=MOST_WORK[target.built.tensor_device] // LESS_WORK)
    return more


def conclude(seen: Observed) -> Answer:
    """Say where the kernel is right, is wrong, and refuses; the base is the first of the sizes."""
    if "none_because" in seen:
        return skipped(f"not asked: {label(seen['around'])}: no sizes around it: {seen['none_because']}")
    text, at = "; ".join(_described(seen)), seen["sizes"]
    failing = next((one for one in at if one["result"] in FAILED), None)
    if failing is None:
        return passed(text)
    text = text if seen["claimed"] else "; ".join([text, "none of these sizes is claimed"])
    return failed(text, "hint", shape=failing["sizes"], line=seen["line"])._replace(claimed=seen["claimed"])


def seen_at(found: Sequence[At], *, numbers: Collection[int], source: str, claimed: Shapes) -> Observed:
    """Return the results of all sizes, the rules of the wrong and the refused ones, and the most likely line;
    `number_line` holds the number of the one rule of the wrong sizes."""
    failing = [at for at in found if at.result in FAILED]
    module = claimed.module
    wrong, refused = (established(of(found, module), numbers) for of in (_wrong, _refused))
    lines = Counter(at.line for at in [at for at in failing if at.result == "wrong"] or failing if at.line)
    of_rules = line_of((rule.number for rule in wrong if rule.number > EVERYWHERE), source)
    return {
        "around": dict(found[0].shape),
        TESTED: True,
        "rule": " or ".join(map(str, wrong)) or None,
        "refused_rule": " or ".join(map(str, refused)) or None,
        "line": lines.most_common(1)[0][0] if lines else of_rules,
        "number_line": of_rules if len(wrong) == 1 else None,
        "claimed": any(counts(at.shape, claimed, numbers) for at in failing),
        "sizes": [at.evidence() for at in found],
    }


def base_of(target: Target, numbers: Collection[int]) -> Shape:
    """Return the smallest shape that counts for the claim and has no size of 1, if there is one; a GPU, whose shapes
    are large, may get one of those for the emulated device with the same module."""
    known, claimed = [case.shape for case in target.cases], target.claim.shapes
    if target.built.tensor_device == "cuda":
        known += [shape for shape in claimed.emulated if claimed.has_the_module_of(shape)]
    order = [(1 in one.values(), not counts(one, claimed, numbers), math.prod(one.values())) for one in known]
    return known[order.index(min(order))]


def _of_a_call(shape: Sizes, module: Collection[str]) -> Shape:
    """Return the sizes of a shape that are none of its module."""
    return {name: size for name, size in shape.items() if name not in module}


def _wrong(found: Iterable[At], module: Collection[str]) -> Results:
    """Return the shapes with an answer, and whether the kernel is right there."""
    return [(_of_a_call(at.shape, module), at.result == "right") for at in found if at.result in ANSWERED]


def _refused(found: Iterable[At], module: Collection[str]) -> Results:
    """Return the shapes of calls, and whether the kernel takes them."""
    return [(_of_a_call(at.shape, module), at.result != "refused") for at in found if at.case]


def _where(seen: Observed) -> str:
    """Return at how many of the sizes it is wrong, with the rule if there is one."""
    counted = Counter(one["result"] for one in seen["sizes"])
    asked, base = counted["right"] + counted["wrong"], label(seen["around"])
    if not counted["right"]:
        return f"wrong at all {asked} sizes asked around {base}"
    no_rule = "" if TESTED in seen else ", by no single rule"
    where = f", exactly where {seen['rule']}" if seen["rule"] else no_rule
    return f"wrong at {counted['wrong']} of {asked} sizes asked around {base}{where}"


def _described(seen: Observed) -> Iterator[str]:
    at, base = seen["sizes"], label(seen["around"])
    counted = Counter(one["result"] for one in at)
    if not counted["wrong"]:
        yield f"right at all {counted['right']} sizes asked around {base}"
    else:
        yield from [f"right at {base}"] if at[0]["result"] == "right" else []
        yield _where(seen)
        yield from [f"see line {seen['line']}"] if seen["line"] else []
        yield _why(next(one for one in at if one["result"] == "wrong"), "")
    yield from [_why(one, ", no kernel run") for one in at if one["result"] == "launch_refused"][:1]
    if counted["refused"]:
        where = f", exactly where {seen['refused_rule']}" if seen["refused_rule"] else ""
        yield f"refused by an exception at {counted['refused']} more{where}"
    yield from [f"not of the task: {counted['not_taken']} more"] if counted["not_taken"] else []


def _why(one: Observed, how: str) -> str:
    return f"{label(one['sizes'])}{how}: {one.get('why', '')}"


def line_of(numbers: Iterable[int], source: str) -> int | None:
    """Return the first line of code with the first of the numbers: as a divisor or a vector's length, else anywhere."""
    code = re.sub(r"//[^\n]*|/\*.*?\*/", lambda comment: re.sub(r"[^\n]", " ", comment[0]), source, flags=re.DOTALL)
    for number in numbers:
        vector = rf"\b(?:float|double|int|uint|half|short|char|uchar){number}\b"
        for pattern in (rf"[%/]\s*{number}\b", vector, rf"(?<![\w.]){number}(?![\w.])"):
            for line, text in enumerate(code.splitlines(), 1):
                if re.search(pattern, text):
                    return line
    return None
