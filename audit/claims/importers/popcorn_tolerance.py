"""The tolerance that a leaderboard's `reference.py` states in code: the arguments of the comparisons in its check."""

from __future__ import annotations

import ast
from typing import Any

from audit.claims.importers import published, sizes
from audit.claims.importers.imported import RMS, Tolerance
from audit.claims.importers.popcorn_cases import MAKER, REFERENCE, Cases
from audit.claims.importers.python_text import PythonText, last_name, parsed
from audit.review.python_constants import Constants, NotConstant

CHECK = "check_implementation"
DEFAULTS = {"rtol": 1e-5, "atol": 1e-8}
"""Of `match_reference` in the leaderboards' `utils.py`."""
ONE_RESULT = {"cholesky", "cholesky_ex"}
EXACT, CLOSE = ("verbose_allequal",), ("verbose_allclose", "allclose", "assert_close")


def stated(text: PythonText, cases: Cases | None) -> Tolerance | None:
    """Return the arguments of `make_match_reference`, with its defaults for the rest, or those of the comparisons in
    `check_implementation`; None where neither tells. One that grows with the size is that at the claimed shape."""
    call = next((call for name in ("make_match_reference", "match_reference") for call in text.calls(name)), None)
    if call is None:
        return _of_comparisons(text)
    elements = _elements(text, cases)
    grows = any(text.value(one.value) is None for one in call.keywords if one.arg == "rtol")
    given = {one.arg: _value(text, one.value, elements) for one in call.keywords if one.arg in DEFAULTS}
    used = {name: given.get(name, value) for name, value in DEFAULTS.items()}
    if not published.positive(used["rtol"]):
        return None
    sentence = f"the leaderboard's own, rtol = {used['rtol']}, atol = {used['atol']}"
    default = "" if "rtol" in given else ", the defaults of its utils.py"
    size = f" for the {elements:,} elements of the claimed shape" if grows else ""
    return Tolerance(float(used["rtol"]), f"{sentence}{default}{size}; {RMS}")


def of_a_property(text: PythonText) -> bool:
    """Return whether the check never calls the reference, so that more than one result may be right.

    A matrix has one Cholesky factor with a positive diagonal, so of a reference that computes it and nothing else the
    result is the only one.
    """
    check, reference = (text.functions.get(name) for name in (CHECK, REFERENCE))
    calls = [one for one in ast.walk(reference) if isinstance(one, ast.Call)] if reference is not None else []
    only = bool(calls) and {last_name(one.func) for one in calls} <= ONE_RESULT
    return check is not None and REFERENCE not in text.reached(check) and not only


def _of_comparisons(text: PythonText) -> Tolerance | None:
    """Return the finest relative tolerance that `check_implementation` compares with `ref_kernel` by."""
    nodes = list(ast.walk(text.functions[CHECK])) if CHECK in text.functions else []
    compared = [node for node in nodes if isinstance(node, ast.Call) and last_name(node.func) in (*EXACT, *CLOSE)]
    if not compared or of_a_property(text):
        return None
    values = [
        0.0 if last_name(call.func) in EXACT else {one.arg: text.value(one.value) for one in call.keywords}.get("rtol")
        for call in compared
    ]
    known = [float(one) for one in values if isinstance(one, float | int) and 0 <= one < 1]
    if len(known) < len(values):
        return None
    reason = f"the comparisons of {CHECK}, rtol = {min(known):g}" if any(known) else f"{CHECK} asks for equal values"
    return Tolerance(min(known), f"{reason}; {RMS.replace('the absolute', 'an absolute')}")


def _elements(text: PythonText, cases: Cases | None) -> int | None:
    """Return the elements of an input at the claimed shape, where one size is all that every input is made of."""
    maker = text.functions.get(MAKER)
    calls = [node for node in ast.walk(maker) if isinstance(node, ast.Call)] if maker is not None else []
    made = [call.args for call in calls if last_name(call.func) in sizes.MAKERS and call.args]
    if cases is None or len(cases.claimed) != 1 or cases.options or not made:
        return None
    ((name, size),) = cases.claimed.items()
    return size if all(len(args) == 1 and last_name(args[0]) == name for args in made) else None


def _value(text: PythonText, node: ast.expr, elements: int | None) -> Any:
    """Return the value of an argument in the check, where `x.numel()` stands for the elements of an input, if known."""
    if elements is None or CHECK not in text.functions:
        return text.value(node)
    tree = _Counted(elements).visit(parsed(text.text))
    check = next(one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == CHECK)
    try:
        return Constants(tree, within=[check]).value(node)
    except (NotConstant, RecursionError, ValueError, OverflowError):
        return None


class _Counted(ast.NodeTransformer):
    """Puts the number of elements in the place of every `x.numel()`."""

    def __init__(self, elements: int) -> None:
        self._elements = elements

    def visit_Call(self, node: ast.Call) -> ast.AST:  # the parser's name
        """Return the number, where a call asks for it."""
        asks = isinstance(node.func, ast.Attribute) and node.func.attr == "numel" and not node.args
        return ast.Constant(self._elements) if asks else self.generic_visit(node)
