"""Which constructs of a source reach the process that checks it?

Claimed Python code shares an interpreter with the code that calls it. Some constructs can change that code, its data,
or a result behind its call, and no check in the same process can exclude it. A kernel module needs none of them. Every
construct that `reach_allowed` does not hold is named, and no pass of such a source is concluded.

A reading proves nothing: an extension's native code can write anywhere. SECURITY.md says what is left.
"""

from __future__ import annotations

import ast
import builtins
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

from audit.model import Finding
from audit.review import reach_allowed as allowed
from audit.review.cuda_source import CudaSource
from audit.review.python_tree import FunctionNode, imported
from audit.review.reach_tree import Tree
from audit.review.token_scan import mask

NAME = "reach"
MOST_NAMED, MOST_CHARACTERS = 20, 60
ENCODINGS = ("utf-8", "utf-8-sig")
CONTEXT = "contextlib.contextmanager"
_DUNDER = re.compile(r"__\w+__")


@dataclass(frozen=True, order=True)
class Reach:
    """One construct outside of the allowlist, shortened, and its line."""

    line: int
    construct: str


def finding(text: str, *, target: str, entry: str = "") -> Finding | None:
    """Return the error that keeps a variant from passing; None where the source stays within the allowlist.

    `entry` is the function that is claimed, if one is named.

    A text that is not Python does not load, and other findings say so.
    """
    try:
        return _error(reaches(text, entry), target)
    except SyntaxError:
        return None


def finding_cuda(source: CudaSource, *, target: str) -> Finding | None:
    """Return the same for a CUDA source whose host code uses Python's objects beyond a binding."""
    names = ((source.line_of(one.start()), _shown(one[0])) for one in allowed.CPP_OF_PYTHON.finditer(source.masked))
    return _error(sorted({Reach(line, name) for line, name in names}), target)


def _error(found: list[Reach], target: str) -> Finding | None:
    if not found:
        return None
    sentence = f"line {found[0].line}: {found[0].construct} reaches the process that checks it ({len(found)} found)"
    return Finding(
        probe=NAME,
        target=target,
        outcome="error",
        summary=f"{sentence}: nothing is concluded from a pass; remove it, or read the source",
        line=found[0].line,
        evidence={"lines": [{"line": one.line, "construct": one.construct} for one in found[:MOST_NAMED]]},
    )


def reaches(text: str, entry: str = "") -> list[Reach]:
    """Return the constructs outside of the allowlist, once a line, in order. Raises SyntaxError: it is not Python."""
    return sorted({*_encoding(text), *_Source(text, entry).found()})


def _encoding(text: str) -> Iterator[Reach]:
    """A declared encoding, in which the file may say something else than the text that was read."""
    try:
        name, _ = tokenize.detect_encoding(io.BytesIO(text.encode(errors="surrogatepass")).readline)
    except SyntaxError:
        name = "unknown"
    if name not in ENCODINGS:
        yield Reach(1, f"coding: {name}"[:MOST_CHARACTERS])


class _Source(Tree):
    """A parsed source that is asked node by node."""

    def found(self) -> Iterator[Reach]:
        for node in self.every:
            for construct in self._constructs(node):
                yield Reach(getattr(node, "lineno", 1), construct[:MOST_CHARACTERS])

    def _constructs(self, node: ast.AST) -> Iterator[str]:  # noqa: PLR0912  # a case a kind of node
        match node:
            case ast.Import():
                yield from (f"import {one.name}" for one in node.names if not may_use(one.name))
            case ast.ImportFrom():
                parts = (full.rpartition(".") for one in node.names if not may_use(full := imported(node, one)))
                yield from (f"from {place} import {name}" for place, _, name in parts)
            case ast.Name(ctx=ast.Load()):
                yield from self._read(node)
            case ast.Name():
                yield from [node.id] if _is_dunder(node.id) and node.id not in allowed.DEFINABLE else []
            case ast.Attribute(ctx=ast.Load()):
                yield from self._attribute(node)
            case ast.Attribute():
                yield from self._stored(node)
            case ast.Subscript(ctx=ast.Store() | ast.Del()):
                stored = self.dotted(node.value)
                yield from [f"{stored}[...] ="] if stored and not stored.startswith(allowed.SETTINGS) else []
            case ast.Call(func=ast.Name(id=name)) if name not in self.bound:
                yield from self._call(node, name)
            case ast.ClassDef():
                yield from self._class(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from [node.name] if _is_dunder(node.name) and node.name not in allowed.DEFINABLE else []
            case ast.MatchClass():
                yield from (name for name in node.kwd_attrs if self._unreadable(name))
            case ast.keyword(arg=str(name)) | ast.arg(arg=name) if _is_dunder(name):
                yield name
            case ast.Yield() if self._ends_late(node):
                yield "yield ... finally"
            case ast.Constant(value=str(text)):
                yield from _cpp(text)

    def _read(self, node: ast.Name) -> Iterator[str]:
        above = self.above[node]
        if node.id in self.bound:
            alone = not isinstance(above, ast.Attribute) and not self.is_followed(node)
            yield from [f"({node.id})"] if alone and self.dotted(node) in allowed.ALL_MODULES else []
        elif hasattr(builtins, node.id) or _is_dunder(node.id):
            called = isinstance(above, ast.Call) and above.func is node
            beyond = node.id not in allowed.BUILTINS or (node.id in allowed.ONLY_CALLED and not called)
            hinted = isinstance(above, ast.Tuple) and isinstance(self.above[above], ast.Subscript)
            kinds = ast.Assign | ast.Return | ast.Tuple | ast.List | ast.keyword
            made = node.id == "type" and isinstance(above, kinds) and not hinted
            yield from [node.id] if (beyond or made) and not self.is_local(node) else []

    def _attribute(self, node: ast.Attribute) -> Iterator[str]:
        above = self.above[node]
        within, unreadable = isinstance(above, ast.Attribute), self._unreadable(node.attr)
        dotted = self.dotted(node) if unreadable or not within else ""
        if dotted and not within:
            if not may_use(dotted):
                yield dotted
            elif (dotted in allowed.CLASSES and self._is_given(node)) or (
                dotted in allowed.ALL_MODULES and not self.is_followed(node)
            ):
                yield f"({dotted})"
        elif unreadable and not dotted:
            yield f".{node.attr}"
        if node.attr == "__class__" and not (isinstance(above, ast.Attribute) and above.attr == "__name__"):
            yield ".__class__"

    def _stored(self, node: ast.Attribute) -> Iterator[str]:
        """A stored or deleted attribute: a setting, one of a method's own object, or a name that such objects use."""
        dotted = self.dotted(node)
        known = node.attr in allowed.STORABLE | self.own_attributes or self.is_own(node)
        if dotted and not dotted.startswith(allowed.SETTINGS):
            yield f"{dotted} ="
        elif not dotted and (_is_dunder(node.attr) or not known):
            yield f".{node.attr} ="

    def _call(self, node: ast.Call, name: str) -> Iterator[str]:
        if name == "type" and (len(node.args) != 1 or node.keywords):
            yield "type(..., ..., ...)"
        if name not in allowed.ONLY_CALLED:
            return
        part = _beginning(node.args[1]) if len(node.args) > 1 else None
        place = self.dotted(node.args[0]) if node.args else ""
        if part is None or (place and not isinstance(node.args[1], ast.Constant)):
            yield f"{name}({place or '...'}, name)"
            return
        stored = name != "getattr" and not self.is_own(node.args[0])
        if stored or self._unreadable(part) or (place and not may_use(f"{place}.{part}")):
            yield f"{name}({place or '...'}, {part!r})"

    def _class(self, node: ast.ClassDef) -> Iterator[str]:
        if any(word.arg == "metaclass" and self.dotted(word.value) != "abc.ABCMeta" for word in node.keywords):
            yield "metaclass="
        if any(isinstance(base, ast.Name) and base.id == "type" for base in node.bases):
            yield f"class {node.name}(type)"

    def _unreadable(self, name: str) -> bool:
        if _is_dunder(name):
            return name not in allowed.READABLE
        private = name.startswith("_") and name not in self.own_names | allowed.OWN_PRIVATE
        return private or name in allowed.UNREADABLE

    def _ends_late(self, node: ast.Yield) -> bool:
        """Return whether a generator acts when it is thrown away; one under `contextmanager` ends where it is used."""
        inside = False
        for one in self.ancestors(node):
            if isinstance(one, FunctionNode):
                return inside and not any(self.dotted(mark) == CONTEXT for mark in one.decorator_list)
            inside = inside or isinstance(one, ast.Try | ast.With)
        return inside

    def _is_given(self, node: ast.Attribute) -> bool:
        """Return whether a class is an argument, an element or a result, so that a name may stand for it unseen."""
        for one in self.ancestors(node):
            if isinstance(one, ast.Call):
                name = one.func.attr if isinstance(one.func, ast.Attribute) else getattr(one.func, "id", "")
                return node is not one.func and name not in allowed.TAKES_CLASSES
            if isinstance(one, ast.Compare | ast.Subscript | ast.arg | ast.BinOp | ast.Lambda):
                return False
            if isinstance(one, ast.stmt):
                return isinstance(one, ast.For | ast.Return | ast.With | ast.Expr)
        return False


def may_use(full: str) -> bool:
    """Return whether the allowlist holds a dotted name that begins at an import."""
    place, *parts = full.split(".")
    if place not in allowed.MODULES:
        return False
    for part in parts:
        inside, place = allowed.ALL_MODULES.get(place), f"{place}.{part}"
        if inside is not None and inside is not allowed.ANY and part not in inside:
            return False
        if part == "*" or part in allowed.UNREADABLE or place in allowed.BEYOND:
            return False
        if part in allowed.LIBRARY and place not in allowed.ALL_MODULES and place not in allowed.SHARED:
            return False
        if part.startswith("_") and not _is_known_private(place, part):
            return False
    return True


def _is_known_private(full: str, part: str) -> bool:
    if _is_dunder(part):
        return part in allowed.READABLE
    listed = allowed.PARTS.get(full.rpartition(".")[0], frozenset())
    return full in allowed.PRIVATE or part in listed or full.startswith(allowed.PRIVATE_BELOW)


def _beginning(node: ast.expr) -> str | None:
    """Return the text that a name given as an expression begins with; None where it could become any name."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    while isinstance(node, ast.BinOp):
        node = node.left
    first = node.values[0] if isinstance(node, ast.JoinedStr) and node.values else node
    known = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
    return known if known[:1].isalpha() and not any(one.startswith(known) for one in allowed.UNREADABLE) else None


def _cpp(text: str) -> Iterator[str]:
    """The names of C++ in a string constant that reach beyond a kernel and its binding."""
    if allowed.CPP.search(text):
        yield from dict.fromkeys(_shown(one[0]) for one in allowed.CPP_BEYOND.finditer(mask(text).masked))


def _shown(name: str) -> str:
    return " ".join(name.split())[:MOST_CHARACTERS]


def _is_dunder(name: str) -> bool:
    return _DUNDER.fullmatch(name) is not None
