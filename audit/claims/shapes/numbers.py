"""The whole numbers that a source names: literals, macros, constants, template arguments, and their products.

A kernel that is right at one size may rest on any of them: a tile's width, the elements a block takes, a threshold
between two kernels. Too many numbers only make a smaller shape larger; a missing one could fail a right kernel.
"""

from __future__ import annotations

import ast
import itertools
import math
import operator
import re
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from audit.model import Claim, python_text
from audit.review.python_constants import INTEGERS, computed

LARGEST = 1 << 16
"""No tile, block or vector is larger; beyond stand masks, seeds and limits of a grid."""
LONGEST = 200_000
"""Characters of a source that are read; published kernels have a tenth of this."""
MOST_VALUES = 12
"""Of one name."""
MOST_FACTORS = 4
"""Of one product."""
_DEPTH = 5
_HIDDEN = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_FRACTION = re.compile(r"(?<!\w)(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?[fFlL]?")
_NUMBER = re.compile(r"(?<![\w.])(0[xX][0-9a-fA-F]+|\d+)[uUlL]*(?![\w.])")
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+([^\n]+)", re.MULTILINE)
_BOUND = re.compile(r"\b([A-Za-z_]\w*)\s*[={]\s*([\w\s()*+/<-]{1,80}?)\s*(?=[;,)}>\n])")
_PARAMETERS = re.compile(r"\btemplate\s*<([^<>;{}]{1,400})>[^;{}]{0,400}?\b(\w+)\s*\(")
_ARGUMENTS = re.compile(r"\b(\w+)\s*<([^<>;{}()]{1,200})>\s*(?:<<<|\()")
_LAUNCH = re.compile(r"<<<([^;{}]{1,600}?)>>>")
_DIM3 = re.compile(r"\bdim3\b[^;({]{0,60}[({]([^;{}]{1,200}?)[)}]")
_CHECK = re.compile(r"\b(?:\w*CHECK\w*|assert|if)\b([^;{}]{1,400})")
_MULTIPLE = re.compile(r"%\s*(\w+)\s*(?:[=!]=\s*0\b|\))")
_EQUAL = re.compile(r"[=!]=\s*(\w+)(?![\w.(])")
_CHAIN = re.compile(r"(?<![\w.])[\w.]+(?:\s*(?:\*|<<(?!<))\s*[\w.]+)+")


def _shifted(one: int, by: int) -> int:
    return one << by if 0 <= by < 32 else 0


_OPERATIONS = INTEGERS | {ast.FloorDiv: lambda one, other: one // other if other else 0, ast.LShift: _shifted}


def named(sources: Iterable[str]) -> frozenset[int]:
    """Return the numbers from 2 to LARGEST that CUDA C++ or Python sources name, and the products written of them."""
    codes = [code for text in sources for code in _codes(text[:LONGEST])]
    values = _Values(codes)
    found = {_whole(match[1]) for code in codes for match in _NUMBER.finditer(code)}
    found |= {value for name in values.names for value in values.of(name)}
    found |= {value for code in codes for match in _CHAIN.finditer(code) for value in values.of_product(match[0])}
    return frozenset(value for value in found if 2 <= value <= LARGEST)


def of_claim(claim: Claim, folder: Path) -> frozenset[int]:
    """Return the numbers that the sources of a claim in that folder name, see `named`."""
    return named((folder / one.file).read_text(encoding="utf-8", errors="replace") for one in claim.variant)


class Demanded(NamedTuple):
    """Numbers that checks of a source demand: sizes that are `multiples` of some, and sizes `equal` to others."""

    multiples: frozenset[int] = frozenset()
    equal: frozenset[int] = frozenset()


NOTHING = Demanded()


def demanded(sources: Iterable[str]) -> Demanded:
    """Return what the checks of CUDA C++ or Python sources compare sizes with, see `Demanded`."""
    codes = [code for text in sources for code in _codes(text[:LONGEST])]
    values, checks = _Values(codes), [match[1] for code in codes for match in _CHECK.finditer(code)]

    def found(pattern: re.Pattern[str]) -> frozenset[int]:
        terms = {match[1] for check in checks for match in pattern.finditer(check)}
        return frozenset(value for term in terms for value in values.of_term(term) if 2 <= value <= LARGEST)

    return Demanded(found(_MULTIPLE), found(_EQUAL))


def _whole(digits: str) -> int:
    return int(digits, 16) if digits[:2] in ("0x", "0X") else int(digits[:20])


def _codes(text: str) -> Iterator[str]:
    """Yield the texts that are compiled: of a Python source itself without texts, then each text in it as CUDA C++."""
    try:
        with warnings.catch_warnings(action="ignore"):
            tree = python_text.module(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        tree = ast.Module(body=[], type_ignores=[])
    if not tree.body:  # to Python the preprocessor's lines are comments
        yield _FRACTION.sub(" ", _HIDDEN.sub(" ", text))
        return
    found = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node not in found:
                yield _FRACTION.sub(" ", _HIDDEN.sub(" ", node.value))
            node.value = ""
    yield _FRACTION.sub(" ", ast.unparse(tree).replace("//", "/"))


class _Values:
    """Values of the names in the sources, as far as constants decide them; a name may have several."""

    def __init__(self, codes: Iterable[str]) -> None:
        self._texts: dict[str, list[str]] = {}
        self._known: dict[tuple[str, int], set[int]] = {}
        for code in codes:
            for match in itertools.chain(_MACRO.finditer(code), _BOUND.finditer(code)):
                self._add(match[1], match[2])
            self._add_templates(code)
            self._add_blocks(code)

    @property
    def names(self) -> list[str]:
        """Every name that is bound to something."""
        return list(self._texts)

    def of(self, name: str, depth: int = 0) -> set[int]:
        """Return the numbers a name stands for."""
        if depth > _DEPTH:
            return set()
        if (name, depth) not in self._known:
            texts = self._texts.get(name, ())
            self._known[name, depth] = {value for text in texts for value in self._computed(text, depth + 1)}
        return self._known[name, depth]

    def of_product(self, chain: str) -> set[int]:
        """Return the values of a chain of factors and shifts; factors that are no constants are left out."""
        terms = [(operation, term) for operation, term in re.findall(r"(\*|<<|^)\s*([\w.]+)", chain)]
        known = [(operation, values) for operation, term in terms if (values := self.of_term(term))]
        found = {1}
        for operation, values in known[:MOST_FACTORS]:
            apply = operator.mul if operation != "<<" else _shifted
            found = set(itertools.islice((apply(one, other) for one in found for other in values), MOST_VALUES**2))
        return found

    def of_term(self, term: str) -> set[int]:
        """Return the values of a number or a name."""
        digits = _NUMBER.fullmatch(term)
        return {_whole(digits[1])} if digits else self.of(term)

    def _computed(self, text: str, depth: int) -> set[int]:
        """Return the values of an expression; of names with several values each combination."""
        plain = re.sub(r"\b(\d+)[uUlL]+\b", r"\1", text.strip()).replace("/", "//")
        terms = sorted(set(re.findall(r"\b[A-Za-z_]\w*", plain)))
        choices = [sorted(self.of(term, depth))[:MOST_VALUES] for term in terms]
        if math.prod(map(len, choices)) > MOST_VALUES**2:
            return set()
        try:
            tree = python_text.expression(plain)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return set()
        several = (dict(zip(terms, chosen, strict=True)) for chosen in itertools.product(*choices))
        found = (computed(tree, names, _OPERATIONS, largest=LARGEST) for names in several)
        return {value for value in found if value is not None}

    def _add(self, name: str, text: str) -> None:
        texts = self._texts.setdefault(name, [])
        if text.strip() != name and text not in texts and len(texts) < MOST_VALUES:
            texts.append(text)

    def _add_templates(self, code: str) -> None:
        """Template parameters stand for their defaults and for what any instantiation of that name has there."""
        parameters = {match[2]: [one.strip() for one in match[1].split(",")] for match in _PARAMETERS.finditer(code)}
        for match in _ARGUMENTS.finditer(code):
            for parameter, argument in zip(parameters.get(match[1], ()), match[2].split(","), strict=False):
                name = re.search(r"(\w+)\s*(?:=.*)?$", parameter)
                if name:
                    self._add(name[1], argument.strip())

    def _add_blocks(self, code: str) -> None:
        """Bind `blockDim` to the extents of every launch and `dim3` of the source."""
        triples = [match[1] for match in _DIM3.finditer(code)]
        blocks = [parts[1] for match in _LAUNCH.finditer(code) if len(parts := match[1].split(",")) > 1]
        for text in (*blocks, *(part for triple in triples for part in triple.split(","))):
            for axis in "xyz":
                self._add(f"blockDim.{axis}", text.strip())
