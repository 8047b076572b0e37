"""All rules asked about one source text: the static-analysis hints by line, and the same as findings of the record.

An audit asks in one process with limits of its own: a source that breaks it breaks nothing else. `python -m
audit.review.hints SECONDS BYTES` reads lists of sources as JSON from standard input, a list a line. It prints the
findings of each source on a line, or the changes that repair it where its failures stand beside it.
"""

from __future__ import annotations

import json
import resource
import signal
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from pydantic import JsonValue

from audit.model import Change, Finding
from audit.review import reach, reviewer, rules
from audit.review.cuda_reading import CudaReading
from audit.review.cuda_source import CudaSource, parse
from audit.review.python_reading import PythonReading
from audit.review.repairs import propose, propose_python
from audit.review.rule import Rule, Spot

GEOMETRY = "launch_geometry"
REVIEW = "review"


@dataclass(frozen=True)
class Hint:
    """A static-analysis hint: one line that one rule points at, and the kernels that it is part of, where the rule can
    be the cause of behaviour in them alone."""

    rule: Rule[Any]
    spot: Spot
    kernels: tuple[str, ...] = ()


def of_cuda(source: str | CudaSource) -> list[Hint]:
    """Return the hints of the CUDA rules; never fails, since code that cannot be read is left out."""
    reading = CudaReading(parse(source) if isinstance(source, str) else source)
    found = [(rule, spot) for rule in rules.CUDA for spot in rule.find(reading)]
    return _sorted([Hint(rule, spot, _kernels(reading, spot.line) if rule.kinds else ()) for rule, spot in found])


def _kernels(reading: CudaReading, line: int) -> tuple[str, ...]:
    """Return the kernels that are on that line or reach the function that is."""
    source = reading.source
    holder = next((one for one in source.functions if one.line <= line <= source.line_of(one.end)), None)
    if holder is None or holder in reading.kernels:
        return () if holder is None else (holder.name,)
    return tuple(one.name for one in reading.kernels if holder not in source.apart_from(one.name))


def of_python(text: str) -> list[Hint]:
    """Return the hints of the Python rules, and those of the CUDA rules about CUDA sources in string constants. Raises
    SyntaxError: the text is not Python."""
    reading = PythonReading(text)
    found = [Hint(rule, spot) for rule in rules.PYTHON for spot in rule.find(reading)]
    for source in reading.embedded:
        inner = of_cuda(source.text)
        places = [Spot(source.line(each.spot.line), each.spot.message) for each in inner]
        found += [replace(each, spot=spot) for each, spot in zip(inner, places, strict=True)]
    return _sorted(found)


def _sorted(found: list[Hint]) -> list[Hint]:
    """By line, then in the order of the tables; each once."""
    order = {name: place for place, name in enumerate(rules.RULES)}
    return sorted(dict.fromkeys(found), key=lambda hint: (hint.spot.line, order[hint.rule.name], hint.spot.message))


@dataclass(frozen=True)
class Source:
    """One source to review, of the variant `target`, in CUDA or in Python.

    Rules about rounding speak only where the declared `precision` is fp32, and in CUDA of functions that the claimed
    one, the `entry`, reaches. `advice` is also what a sound kernel may do without, e.g. on which stream it launches.
    Hints point at the first `lines` alone, where others follow that are not the author's.
    """

    text: str
    target: str
    python: bool = False
    precision: str = "fp32"
    advice: bool = False
    entry: str = ""
    lines: int | None = None


def reviewed(source: Source) -> list[Finding]:
    """Ask the rules about one source, of Python also the CUDA rules about the CUDA sources in its strings.

    One finding answers for each rule that points at a line, of CUDA one for launch geometry too; if none does, one says
    so. One more says where the source reaches the process that checks it. What is not Python is skipped: nothing is
    known about it.
    """
    return _of_python_source(source) if source.python else _of_cuda_source(source)


def _of_cuda_source(one: Source) -> list[Finding]:
    source = parse(one.text)
    apart = {line for each in source.apart_from(one.entry) for line in range(each.line, source.line_of(each.end) + 1)}
    found = [each for each in of_cuda(source) if not (each.rule.precise and each.spot.line in apart)]
    result = _described(found, one)
    geometry = [each for each in result if each.rule.name == GEOMETRY]
    findings = [_failure(geometry, one.target) if geometry else _geometry(len(source.launches), one.target)]
    reached = reach.finding_cuda(source, target=one.target)
    findings += [reached] if reached else []
    return findings + _of_rules([each for each in result if each.rule.name != GEOMETRY], one.target)


def _of_python_source(one: Source) -> list[Finding]:
    try:
        found = of_python(one.text)
    except SyntaxError as error:
        text = f"not valid Python{f' (line {error.lineno})' if error.lineno else ''}: {error.msg}"
        return [Finding(probe=REVIEW, target=one.target, outcome="skip", summary=text)]
    reached = reach.finding(one.text, target=one.target, entry=one.entry)
    return [*_of_rules(_described(found, one), one.target), *([reached] if reached else [])]


def _described(found: list[Hint], source: Source) -> list[Hint]:
    return [
        each
        for each in found
        if (source.lines is None or each.spot.line <= source.lines)
        and (source.advice or each.rule.standing == "hint")
        and (source.precision == "fp32" or not each.rule.precise)
    ]


def _of_rules(found: list[Hint], target: str) -> list[Finding]:
    names = list(dict.fromkeys(each.rule.name for each in found))
    failures = [_failure([each for each in found if each.rule.name == name], target) for name in names]
    return failures or [Finding(probe=REVIEW, target=target, outcome="pass", summary="no source rule points at a line")]


def _failure(found: list[Hint], target: str) -> Finding:
    rule, spot = found[0].rule, found[0].spot
    lines: list[JsonValue] = [
        {"line": each.spot.line, "message": each.spot.message, **({"kernels": [*each.kernels]} if each.kernels else {})}
        for each in found
    ]
    kinds: dict[str, JsonValue] = {"kinds": [*rule.kinds]} if rule.kinds else {}
    return Finding(
        probe=GEOMETRY if rule.name == GEOMETRY else rule.probe,
        target=target,
        outcome="fail",
        grade="hint",
        summary=spot.message,
        line=spot.line,
        evidence={"confirm_with": rule.confirm_with, "standing": rule.standing, "hints": lines, **kinds},
    )


def _geometry(read: int, target: str) -> Finding:
    if not read:
        summary = "the source shows no kernel launch, so there is nothing to hold against its kernels"
        return Finding(probe=GEOMETRY, target=target, outcome="skip", summary=summary)
    summary = f"no launch is seen to miss an axis that its kernel indexes ({read} launch{'es' * (read > 1)} read)"
    return Finding(probe=GEOMETRY, target=target, outcome="pass", summary=summary)


SECONDS, BYTES = 20, 8 << 30
"""Of processor time for one source, and of address space: four million characters take less than half of either."""


def findings(sources: Sequence[Source]) -> list[list[Finding]]:
    """Return the findings of each source; one that says why where a source ended the process."""
    found: list[list[Finding]] = []
    while len(found) < len(sources):
        code, lines = reviewer.ask([asdict(one) for one in sources[len(found) :]], (SECONDS, BYTES))
        found += [[Finding.model_validate(each) for each in json.loads(line)] for line in lines]
        if len(found) < len(sources):
            found.append(_unreviewed(sources[len(found)], code))
    return found


def changes(text: str, proved: Sequence[Finding], *, python: bool = False) -> list[Change]:
    """Return the changes that may repair a source, see `repairs.propose`; none where it ended the process."""
    request = {"text": text, "python": python, "proved": [one.model_dump(mode="json") for one in proved]}
    _, lines = reviewer.ask([request], (SECONDS, BYTES))
    return [Change.model_validate_json(json.dumps(each)) for line in lines for each in json.loads(line)]


def _unreviewed(source: Source, code: int) -> list[Finding]:
    """Return the error of the review; of a Python source it is one of `reach` too, which blocks a verdict."""
    why = f"it takes more than {SECONDS} s" if -code == signal.SIGXCPU else f"its process ended with code {code}"
    text, names = f"the source could not be reviewed: {why}", (REVIEW, reach.NAME) if source.python else (REVIEW,)
    return [Finding(probe=name, target=source.target, outcome="error", summary=text) for name in names]


def _answered(request: dict[str, Any], seconds: int) -> Sequence[Finding | Change]:
    spent = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(spent.ru_utime + spent.ru_stime) + seconds + 1
    resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.getrlimit(resource.RLIMIT_CPU)[1]))
    if "proved" in request:
        proved = [Finding.model_validate_json(json.dumps(one)) for one in request["proved"]]
        return (propose_python if request["python"] else propose)(request["text"], proved)
    return reviewed(Source(**request))


def main(seconds: int, most_bytes: int) -> None:
    """Answers one request after another, each within the seconds, and all within the bytes of address space."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (most_bytes if hard < 0 else min(most_bytes, hard), hard))
    for line in sys.stdin:
        for request in json.loads(line):
            found = _answered(request, seconds)
            print(json.dumps([each.model_dump(mode="json") for each in found]), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
