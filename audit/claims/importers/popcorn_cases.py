"""What a leaderboard states: tests and benchmarks of its `task.yml` as shapes, the tolerance in code of `reference.py`.

Integers of a test are sizes, all else are options: a bool, a text, a fraction, a zero or a list of these and integers.
A shape has sizes alone, so a claim speaks of one choice of options: that of the largest benchmark.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from audit.claims.importers import entries, published, sizes
from audit.claims.importers.facts import UP_TO, Original, Shapes, Tolerance
from audit.claims.importers.material import Material
from audit.claims.literal_sizes import MAKERS
from audit.claims.python_text import PythonText
from audit.claims.shapes.counting import beyond_limits
from audit.claims.shapes.numbers import named
from audit.model import python_text
from audit.model.errors import BadInput
from audit.review.python_constants import Constants, NotConstant
from audit.review.python_tree import last_name

MAKER, REFERENCE = "generate_input", "ref_kernel"
"""The functions of a leaderboard's `reference.py`."""
YAML_LIMIT_BYTES = 1_000_000
LARGEST_TEST = 1024
"""A test with a size above this is not proposed for the emulated device."""
LONGEST_TEXT, MOST_LISTED = 100, 64
CHECK = "check_implementation"
DEFAULTS = {"rtol": 1e-5, "atol": 1e-8}
"""Of `match_reference` in the leaderboards' `utils.py`."""
ONE_RESULT = {"cholesky", "cholesky_ex"}
SAME_DTYPE = {"allclose", "isclose", "assert_close", "equal"}
"""Functions of torch that refuse two tensors of different dtypes."""
EXACT, CLOSE = ("verbose_allequal",), ("verbose_allclose", "allclose", "assert_close")
_LARGEST = "shapes.claimed: the largest benchmark of task.yml, since the leaderboard ranks all of them together"
_SMALLEST = "shapes.emulated: the smallest tests of task.yml"
_LIMITS = "shapes.emulated: and the smallest case above the same numbers of the source as the claimed one"
MOST_ELEMENTS = 1 << 20
"""The product of a further case's sizes."""
Sizes = dict[str, int]


@dataclass(frozen=True)
class Cases:
    """The claimed shape, all shapes with its options, the options, and how many cases have other ones."""

    claimed: Sizes
    several: tuple[Sizes, ...]
    options: Mapping[str, Any]
    others: int


def chosen(listed: Mapping[str, Any], *, file: str) -> Cases | None:
    """Return the cases with the options of the largest benchmark; None where there are none. Raises BadInput: an
    argument is no size and no option."""
    tests, benchmarks = ([*_arguments(listed.get(key), file, key)] for key in ("tests", "benchmarks"))
    if not tests and not benchmarks:
        return None
    claimed, options = max(benchmarks or tests, key=lambda case: math.prod(case[0].values()))
    cases = [*tests, *benchmarks]
    alike = [shape for shape, own in cases if own == options and set(shape) == set(claimed)]
    several = tuple(dict(shape) for shape in dict.fromkeys(tuple(one.items()) for one in alike))
    return Cases(claimed, several, options, len(cases) - len(alike))


def beside(listed: Mapping[str, Any], fixed: Mapping[str, int]) -> dict[str, Any]:
    """Return tests and benchmarks with sizes that all of them have beside those listed."""
    return {
        key: [{**fixed, **case} if isinstance(case, dict) else case for case in cases]
        if key in ("tests", "benchmarks") and isinstance(cases, list)
        else cases
        for key, cases in listed.items()
    }


def shapes(cases: Cases, source: str) -> tuple[Shapes, list[str]]:
    """Return the cases as shapes, and what was chosen."""
    told = ", ".join(f"{name} = {value!r}" for name, value in cases.options.items())
    left = f"options: {told}, of the largest benchmark; {cases.others} tests and benchmarks with others are left out"
    choices = [_LARGEST, *([left] if cases.options else [])]
    if not cases.claimed:
        return Shapes(sizes.PLAIN, emulated=(sizes.PLAIN,), emulated_by="importer"), choices
    others = tuple(shape for shape in cases.several if shape != cases.claimed)
    smallest = sorted(cases.several, key=lambda shape: math.prod(shape.values()))[:2]
    small = tuple(shape for shape in smallest if max(shape.values()) <= LARGEST_TEST)
    if small:
        above = _beyond_limits(cases, small, source)
        return Shapes(cases.claimed, others, (*small, *above)), [*choices, _SMALLEST, *([_LIMITS] if above else [])]
    found, more = sizes.smaller(smallest[0], sources=[source])
    return replace(found, claimed=cases.claimed, others=others), [*choices, *more]


def _beyond_limits(cases: Cases, small: Sequence[Sizes], source: str) -> list[Sizes]:
    """Return the smallest case of few elements, but the claimed one, that lies above the same numbers of the source;
    none where a small one does."""
    numbers = named([source])
    few = (one for one in cases.several if one != cases.claimed and math.prod(one.values()) <= MOST_ELEMENTS)
    above = sorted(
        (one for one in few if beyond_limits(one, cases.claimed, numbers)), key=lambda one: math.prod(one.values())
    )
    return [] if any(one in above for one in small) else above[:1]


def _arguments(cases: Any, file: str, key: str) -> Iterator[tuple[Sizes, dict[str, Any]]]:
    """Yield sizes and options of every case without its seed."""
    for number, case in enumerate(cases if isinstance(cases, list) else [], start=1):
        where = f"{file}: {key} {number}"
        if not isinstance(case, dict):
            raise BadInput(f"{where}: no mapping but {type(case).__name__}")
        given = {str(name): value for name, value in case.items() if name != "seed"}
        for name, value in given.items():
            if not entries.plain_name(name) or (type(value) is int and value < 0):
                raise BadInput(f"{where}: {name} = {str(value)[:20]}; a shape has positive integers only")
            if not _is_option(value):
                raise BadInput(f"{where}: {name} = {str(value)[:20]}; an option is a number, a text or a list of these")
        found = {name: value for name, value in given.items() if type(value) is int and value > 0}
        options = {name: value for name, value in given.items() if name not in found}
        if given:
            yield found, options


def _is_option(value: Any, *, listed: bool = False) -> bool:
    if isinstance(value, list) and not listed:
        return len(value) <= MOST_LISTED and all(_is_option(one, listed=True) for one in value)
    if isinstance(value, str):
        return len(value) <= LONGEST_TEXT and value.isprintable()
    return isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value))


def stated(material: Material) -> tuple[list[Original], dict[str, Any]]:
    """Return the file that states tests and benchmarks, if there is one, and what stands in it."""
    names = material.named("task.yml", "task.yaml")
    if not names:
        return [], {}
    original = material.original(names[0], file="task.yml")
    return [original], _yaml(original)


def largest_seed(cases: Mapping[str, Any]) -> int | None:
    """Return the largest seed of a test or a benchmark; None where they state none."""
    listed = [case for key in ("tests", "benchmarks") if isinstance(cases.get(key), list) for case in cases[key]]
    seeds = [case.get("seed") for case in listed if isinstance(case, dict)]
    return max((seed for seed in seeds if type(seed) is int and seed >= 0), default=None)


def _yaml(original: Original) -> dict[str, Any]:
    try:
        import yaml  # only this format needs it
    except ImportError as error:
        raise BadInput(f"{original.published_as}: YAML is read by PyYAML; pip install pyyaml") from error
    if len(original.data) > YAML_LIMIT_BYTES:
        raise BadInput(
            f"{original.published_as}: {len(original.data):,} bytes; a task has at most {YAML_LIMIT_BYTES:,}"
        )
    try:
        loaded = yaml.load(original.data, Loader=_plain_loader(yaml))
    except (yaml.YAMLError, ValueError, TypeError, AttributeError) as error:
        place = getattr(error, "problem_mark", None)
        where = f"line {place.line + 1}: " if place else ""
        raise BadInput(f"{original.published_as}: {where}broken YAML ({type(error).__name__})") from error
    if not isinstance(loaded, dict):
        raise BadInput(f"{original.published_as}: no YAML mapping but {type(loaded).__name__}")
    return loaded


def _plain_loader(yaml: Any) -> Any:
    """Return the safe loader, which takes a tag it does not know, `!include` for one, as nothing."""
    loader: Any = type("PlainLoader", (yaml.SafeLoader,), {})
    loader.add_multi_constructor("!", lambda *_: None)
    return loader


def tolerance(text: PythonText, cases: Cases | None) -> Tolerance | None:
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
    absolute = float(used["atol"]) if published.positive(used["atol"]) else 0.0
    return Tolerance(float(used["rtol"]), f"{sentence}{default}{size}; {UP_TO}", absolute)


def of_a_property(text: PythonText) -> bool:
    """Return whether the check never calls the reference, so that more than one result may be right.

    A matrix has one Cholesky factor with a positive diagonal, so of a reference that computes it and nothing else the
    result is the only one.
    """
    check, reference = (text.functions.get(name) for name in (CHECK, REFERENCE))
    calls = [one for one in ast.walk(reference) if isinstance(one, ast.Call)] if reference is not None else []
    only = bool(calls) and {last_name(one.func) for one in calls} <= ONE_RESULT
    return check is not None and REFERENCE not in text.reached(check) and not only


def compares_dtypes(text: PythonText, others: Sequence[PythonText]) -> bool:
    """Return whether the check, with what it imports from others, tells the dtype of a result: it compares a `.dtype`
    or calls a function of torch that refuses two of them; also where there is no check.

    A reference may return float64 to be exact, where a submission returns float32 and the check takes it.
    """
    if not text.binds(CHECK):
        return True
    check = ast.Name(CHECK, ast.Load())
    own = [one for one in text.needed(check) if getattr(one, "name", "") not in (MAKER, REFERENCE)]
    return any(map(_tells_dtypes, [*own, *(one.tree for one in others)]))


def _tells_dtypes(tree: ast.AST) -> bool:
    nodes = [*ast.walk(tree)]
    compared = (each for one in nodes if isinstance(one, ast.Compare) for each in ast.walk(one))
    called = {last_name(one.func) for one in nodes if isinstance(one, ast.Call)}
    return bool(called & SAME_DTYPE) or any(isinstance(one, ast.Attribute) and one.attr == "dtype" for one in compared)


def _of_comparisons(text: PythonText) -> Tolerance | None:
    """Return the finest relative tolerance that `check_implementation` compares with `ref_kernel` by."""
    nodes = list(ast.walk(text.functions[CHECK])) if CHECK in text.functions else []
    compared = [node for node in nodes if isinstance(node, ast.Call) and last_name(node.func) in (*EXACT, *CLOSE)]
    if not compared or of_a_property(text):
        return None
    named = [{one.arg: text.value(one.value) for one in call.keywords} for call in compared]
    exact = [last_name(call.func) in EXACT for call in compared]
    values = [0.0 if equal else one.get("rtol") for equal, one in zip(exact, named, strict=True)]
    known = [float(one) for one in values if isinstance(one, float | int) and 0 <= one < 1]
    if len(known) < len(values):
        return None
    reason = f"the comparisons of {CHECK}, rtol = {min(known):g}" if any(known) else f"{CHECK} asks for equal values"
    absolute = min(float(one["atol"]) if published.positive(one.get("atol")) else 0.0 for one in named)
    return Tolerance(min(known), f"{reason}; {UP_TO.replace('the absolute', 'an absolute')}", absolute)


def _elements(text: PythonText, cases: Cases | None) -> int | None:
    """Return the elements of an input at the claimed shape, where one size is all that every input is made of."""
    maker = text.functions.get(MAKER)
    calls = [node for node in ast.walk(maker) if isinstance(node, ast.Call)] if maker is not None else []
    made = [call.args for call in calls if last_name(call.func) in MAKERS and call.args]
    if cases is None or len(cases.claimed) != 1 or cases.options or not made:
        return None
    ((name, size),) = cases.claimed.items()
    return size if all(len(args) == 1 and last_name(args[0]) == name for args in made) else None


def _value(text: PythonText, node: ast.expr, elements: int | None) -> Any:
    """Return the value of an argument in the check, where `x.numel()` stands for the elements of an input, if known."""
    if elements is None or CHECK not in text.functions:
        return text.value(node)
    tree = _Counted(elements).visit(python_text.module(text.text))
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
