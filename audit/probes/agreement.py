"""Is every element what a float64 oracle says, on fresh inputs, at every shape, in every thread order?

Fresh memory holds NaN here, so an element nobody writes cannot look right. A case wrong in every order is proved wrong;
wrong only in some orders, or beside a race or a misuse of lanes, is undefined behaviour that hardware may hide.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pydantic import JsonValue

from audit.model import Finding
from audit.probes.answer import answer
from audit.probes.called import Case, SessionBroken, value_calls
from audit.probes.compare import Comparison, compare
from audit.probes.target import Target
from audit.probes.undefined import undefined_beside

NAME = "agreement"
MECHANISMS = ("wrong numbers", "missing last tile", "hard-coded shapes", "size dispatch", "tolerance abuse")


def run(target: Target) -> Finding:
    """One session an order, every case in each."""
    results: list[tuple[str, Case, Comparison]] = []
    for order in target.built.orders:
        session = target.session(["claim"], cases=target.cases, memory=target.built.nan_memory, order=order)
        value_calls(session, [case.expected for case in target.cases])
        results += [
            (order, case, compare(call.values(), case.expected, target.tolerance))
            for call, case in zip(session, target.cases, strict=True)
        ]
    return _finding(target, results)


def right_at(cases: Sequence[Case], found: Iterable[Finding]) -> list[bool]:
    """Whether each case was right in every order, by this probe's finding among those.

    Raises:
        SessionBroken: this probe gave no answer.
    """
    told = next((one.evidence.get("shapes") for one in found if one.probe == NAME), None)
    if not isinstance(told, list):
        raise SessionBroken(f"{NAME} gave no answer")
    answers = [each for each in told if isinstance(each, dict)]
    return [all(bool(each["right"]) for each in answers if each["shape"] == dict(case.shape)) for case in cases]


def _finding(target: Target, results: list[tuple[str, Case, Comparison]]) -> Finding:
    evidence: dict[str, JsonValue] = {
        "tolerance": target.tolerance.relative,
        "shapes": [
            {"shape": dict(case.shape), "order": order, **comparison.evidence()} for order, case, comparison in results
        ],
    }
    wrong = [(case, comparison) for _, case, comparison in results if not comparison.right]
    if not wrong:
        text = f"right at {_counted(target.cases, 'shape')} in {_counted(target.built.orders, 'thread order')}"
        return answer(NAME, target, "pass", text, evidence=evidence)
    case, comparison = max(wrong, key=lambda pair: pair[1].elements_wrong)
    text = f"{case.label}: {comparison.sentence()}"
    if undefined := undefined_beside(target, case):
        text += f"; beside undefined behaviour ({undefined}), so a GPU may differ"
        return answer(NAME, target, "fail", text, grade="undefined", evidence=evidence)
    if _right_somewhere(results):
        text += "; right in another thread order, so it depends on a race"
        return answer(NAME, target, "fail", text, grade="undefined", evidence=evidence)
    return answer(NAME, target, "fail", text, evidence=evidence)


def _counted(things: Sequence[object], name: str) -> str:
    return f"{len(things)} {name}{'s' * (len(things) != 1)}"


def _right_somewhere(results: list[tuple[str, Case, Comparison]]) -> bool:
    """True if no case is wrong in every order."""
    orders = {order for order, _, _ in results}
    wrong = [case.label for _, case, comparison in results if not comparison.right]
    return all(wrong.count(label) < len(orders) for label in wrong)
