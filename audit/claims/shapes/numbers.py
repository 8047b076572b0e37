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
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from audit.claims.python_text import MODEL, PythonText
from audit.claims.shapes import limits, python_divisions
from audit.model import Claim, Variant, python_text
from audit.model.claim import MOST_SIZE
from audit.model.errors import BadInput
from audit.review.python_constants import INTEGERS, computed

LARGEST = 1 << 16
"""No tile, block or vector is larger; beyond stand masks and seeds, and limits that sizes are compared with."""
LONGEST = 200_000
"""Characters of a source that are read; published kernels have a tenth of this."""
MOST_VALUES = 12
"""Of one name."""
MOST_FACTORS = 4
"""Of one product."""
_DEPTH = 5
_HIDDEN = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_INT = re.compile(r"(?<![\w.])int\((\d+)\)")
_FRACTION = re.compile(r"(?<!\w)(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?[fFlL]?")
_NUMBER = re.compile(r"(?<![\w.])(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)[uUlL]*(?![\w.])")
_SUFFIXED = re.compile(r"\b(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)[uUlL]+\b")
_SEPARATOR = re.compile(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])")
_EXPONENT = re.compile(r"([<>]=?\s*|\bint\(\s*)?(?<![\w.])(\d+)[eE]\+?(\d{1,2})(?![\w.])")
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+([^\n]+)", re.MULTILINE)
_BOUND = re.compile(r"\b([A-Za-z_]\w*)\s*[={]\s*([\w\s()*+/<-]{1,80}?)\s*(?=[;,)}>\n])")
_PARAMETERS = re.compile(r"\btemplate\s*<([^<>;{}]{1,400})>[^;{}]{0,400}?\b(\w+)\s*\(")
_ARGUMENTS = re.compile(r"\b(\w+)\s*<([^<>;{}()]{1,200})>\s*(?:<<<|\()")
_LAUNCH = re.compile(r"<<<([^;{}]{1,600}?)>>>")
_DIM3 = re.compile(r"\bdim3\b[^;({]{0,60}[({]([^;{}]{1,200}?)[)}]")
_CHECK = re.compile(r"\b(?:\w*CHECK\w*|assert|if)\b([^;{}]{1,400})")
_MULTIPLE = re.compile(r"%\s*(\w+)\s*(?:[=!]=\s*0\b|\))")
_EQUAL = re.compile(r"[=!]=\s*(\w+)(?![\w.(])")
_QUOTIENT = re.compile(
    r"\b([A-Za-z_]\w*)\s*[={]((?![^;=\n]{0,80}\b(?:blockDim|threadIdx)\b)[^;={}\n]{0,80}?)(/|>>)\s*(\w+)"
)
"""A name that is bound to a quotient, what is divided, and the divisor; not of a block's threads."""
MOST_QUOTIENTS = 64
"""Names that hold one and are followed."""
_DIVIDED = r"\b{name}\b[^;={{}}<>&|?\n]{{0,60}}?(/|%|>>)\s*(\w+)|<=?\s*{name}\s*;[^;)]{{0,40}}?(\+)=\s*(\w+)"
"""The quotient of that name where it is divided again, or counted up to in steps."""
_ROUNDED = re.compile(r"\b\w+\s*\([^();={}\n]{0,80}?(/|>>)\s*(\w+)[^();={}\n]{0,20},\s*(\w+)\s*[,)]")
"""A quotient that is handed to a function together with another number, as one that rounds up."""
_CHAIN = re.compile(r"(?<![\w.])[\w.]+(?:\s*(?:\*|<<(?!<))\s*[\w.]+)+")


def _shifted(one: int, by: int) -> int:
    return one << by if 0 <= by < 32 else 0


def _power(one: int, by: int) -> int | None:
    return one**by if 0 <= by < 64 else None


_OPERATIONS = INTEGERS | {
    ast.FloorDiv: lambda one, other: one // other if other else 0,
    ast.LShift: _shifted,
    ast.Pow: _power,
}


class Side(int):
    """A limit: a smaller size stays on its side, and need not keep the divisors in common with it."""


def named(sources: Iterable[str]) -> frozenset[int]:
    """Return the numbers from 2 to LARGEST that CUDA C++ or Python sources name, and the products written of them.

    Limits of sizes are among them, larger ones too, as a `Side`: a size above the limit stays above.
    """
    codes = [code for text in sources for code in _codes(text[:LONGEST])]
    values = _Values(codes)
    found = {_whole(match[1]) for code in codes for match in _NUMBER.finditer(code)}
    found |= {value for name in values.names for value in values.of(name)}
    found |= {value for code in codes for match in _CHAIN.finditer(code) for value in values.of_product(match[0])}
    found |= {value for code in codes for value in _of_quotients(code, values)}
    return frozenset(value for value in found if 2 <= value <= LARGEST) | _limits(codes)


def _of_quotients(code: str, values: _Values) -> Iterator[int]:
    """Yield the products of two divisors, of a size and of its quotient: a step of the source takes as much."""
    pairs = [((match[1], match[2]), ("/", match[3])) for match in _ROUNDED.finditer(code)]
    divisors: dict[str, set[tuple[str, str]]] = {}
    for match in _QUOTIENT.finditer(code):
        terms = re.findall(r"[A-Za-z_]\w*", match[2])
        if not all(map(values.of, terms)):  # a quotient of constants is one
            divisors.setdefault(match[1], set()).add((match[3], match[4]))
    for name, known in itertools.islice(divisors.items(), MOST_QUOTIENTS):
        for match in re.finditer(_DIVIDED.format(name=name), code):
            again = (match[1] or match[3], match[2] or match[4])
            pairs += [(one, again) for one in sorted(known)]
    for one, other in pairs:
        both = itertools.product(*(values.of_divisor(*each) for each in (one, other)))
        yield from (math.prod(two) for two in both)


def _limits(codes: list[str]) -> frozenset[int]:
    """Return the numbers above LARGEST that something is compared with, those of elements where it has bytes, and the
    next number of each, of smaller ones where they are on the side of what is below them, as in `n > 1024`."""
    values, found = _Values(codes, largest=MOST_SIZE), set[int]()
    in_bytes = {name: each for code in codes for name, each in limits.bytes_by_name(code).items()}
    for side, other, above in (one for code in codes for one in limits.compared(code)):
        bytes_each = limits.element_bytes(side) or in_bytes.get(side, ())
        for value in values.of_text(other):
            whole = {value // each for each in bytes_each} or ({value} if value > LARGEST else set())
            found |= {next_to for one in whole for next_to in (one, one + 1)} or ({value + 1} if above else set())
    return frozenset(Side(value) for value in found if 2 <= value <= MOST_SIZE)


def of_claim(claim: Claim, folder: Path) -> frozenset[int]:
    """Return the numbers that the sources of a claim in that folder name, see `named`."""
    return named(_source_of(claim, one, folder) for one in claim.variant)


def _source_of(claim: Claim, variant: Variant, folder: Path) -> str:
    """Return the source of a variant; of a `.py` what its entry needs, without the sizes of a benchmark beside it."""
    data = (folder / variant.file).read_bytes()
    if variant.file.endswith(".py"):
        with suppress(BadInput):
            return PythonText(data, where=variant.file).used_by(claim.entry_of(variant), MODEL)
    return data.decode(errors="replace")


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
    return int(digits[:66], {"0x": 16, "0b": 2}.get(digits[:2].lower(), 10))


def _without_exponent(found: re.Match[str]) -> str:
    """Return `1e6` as the whole number it is where it is compared or larger than LARGEST, as no usual constant is."""
    value = int(found[2][:20]) * 10 ** int(found[3])
    return f"{found[1] or ''}{value}" if LARGEST < value <= MOST_SIZE or (found[1] and value <= LARGEST) else found[0]


def _cuda(text: str) -> str:
    return _FRACTION.sub(" ", _SEPARATOR.sub("", _HIDDEN.sub(" ", text)))


def _codes(text: str) -> Iterator[str]:
    """Yield the texts that are compiled: of a Python source itself without texts, then each text in it as CUDA C++."""
    text = _INT.sub(r"\1", _EXPONENT.sub(_without_exponent, text))
    try:
        tree = python_text.module(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        tree = ast.Module(body=[], type_ignores=[])
    if not tree.body:  # to Python the preprocessor's lines are comments
        yield _cuda(text)
        return
    found = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node not in found:
                yield _cuda(node.value)
            node.value = ""
    yield _FRACTION.sub(" ", ast.unparse(python_divisions.explicit(tree)).replace("//", "/"))


class _Values:
    """Values of the names in the sources, as far as constants decide them; a name may have several.

    No number that they are computed from is above `largest`.
    """

    def __init__(self, codes: Iterable[str], *, largest: int = LARGEST) -> None:
        self._largest = largest
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

    def of_divisor(self, operation: str, term: str) -> set[int]:
        """Return what a division or a shift by that term divides by."""
        found = self.of_term(term)
        return {_shifted(1, one) for one in found} if operation == ">>" else found

    def of_text(self, text: str) -> set[int]:
        """Return the values of an expression; empty where it has none."""
        return self._computed(text, 0) if text else set()

    def _computed(self, text: str, depth: int) -> set[int]:
        """Return the values of an expression; of names with several values each combination."""
        plain = _SUFFIXED.sub(r"\1", text.strip()).replace("/", "//")
        terms = sorted(set(re.findall(r"\b[A-Za-z_]\w*", plain)))
        choices = [sorted(self.of(term, depth))[:MOST_VALUES] for term in terms]
        if math.prod(map(len, choices)) > MOST_VALUES**2:
            return set()
        try:
            tree = python_text.expression(plain)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return set()
        several = (dict(zip(terms, chosen, strict=True)) for chosen in itertools.product(*choices))
        found = (computed(tree, names, _OPERATIONS, largest=self._largest) for names in several)
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
