"""Which argument a function that returns nothing writes into, by its signature and what the reference reads."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from audit.claims.importers import facts
from audit.model import Harness
from audit.review.cuda_source import parse
from audit.review.python_tree import FunctionNode, last_name, parameters
from audit.review.token_scan import matching, split_commas

_NAME, _END = r"_*(?:d_?|h_?)?(?:{})", r"(?:_?(?:ptr|tensor|data|buf))?"
_OUT = r"out(?:put)?s?|res(?:ult)?s?|dst|dest(?:ination)?"
PLAIN, USUAL = (re.compile(_NAME.format(names) + _END) for names in (_OUT, rf"{_OUT}|y|z|c"))
"""Names of an argument for the result: those that no other argument has, and all that it usually has."""
_HOLDS = re.compile(r"\bTensor\b|\*")
"""The type of a parameter that may hold a result: a tensor or a pointer."""
_CONST = re.compile(r"\bconst\b")
_UNCLEAR = "the function returns nothing, and it is not clear which argument holds its result"
_HOW = "write its position, counted from 0, as destination = N under [harness]"


@dataclass(frozen=True)
class Parameter:
    """A parameter of the kernel's function: whether it may hold a result, and whether it is declared constant."""

    name: str
    holds: bool = True
    constant: bool = False


def with_destination(
    imported: facts.Imported, kernel: list[Parameter] | None, right: FunctionNode | None
) -> facts.Imported:
    """Return the claim with the place of the result, or with the note that it is not known. `kernel` are the parameters
    of the claimed function, None where it returns something; `right` is the reference."""
    if kernel is None or right is None or not _returns(right):
        return imported
    place = chosen(kernel, right)
    if place is None:
        return imported.lacking(facts.Missing(_UNCLEAR, "harness.destination", _HOW))
    said = f"harness.destination: {place} ({kernel[place].name}), as the function returns nothing and writes there"
    harness = Harness(**{**dict(imported.harness), "destination": place})
    return replace(imported, harness=harness, choices=(*imported.choices, said))


def chosen(kernel: Sequence[Parameter], right: FunctionNode) -> int | None:
    """Return the one parameter that can hold the result; None where several or none can.

    The one that the reference itself writes into is it. Else those that are not constant come before others, and of
    these those that the reference does not read, by their usual names where they are several. One that the reference
    reads needs such a name, and another only a plain one.
    """
    names = parameters(right)
    if len(names) != len(kernel):
        return None
    held = [place for place, one in enumerate(kernel) if one.holds]
    places = [place for place in held if not kernel[place].constant] or held
    if len(filled := [place for place in places if names[place] in _filled(right)]) == 1:
        return filled[0]
    free = unread(right, names)
    unused = [place for place in places if names[place] in free]
    known = PLAIN if not unused and len(places) > 1 else USUAL
    named = [
        place
        for place in unused or places
        if known.fullmatch(kernel[place].name.lower()) or known.fullmatch(names[place].lower())
    ]
    return next((found[0] for found in (unused, named) if len(found) == 1), None)


def of_tuple(reference: ast.FunctionDef | None) -> int | None:
    """Return the place of a tensor that a reference unpacks from its one tuple and never reads."""
    for node in ast.walk(reference) if reference is not None else ():
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Name):
            unpacked = [last_name(one) for one in node.targets[0].elts]
            names = [name for name in unpacked if name and name != "_"]
            free = unread(reference or node, names, behind=node.lineno)
            if found := [place for place, name in enumerate(unpacked) if name in free]:
                return found[0]
    return None


def unread(function: ast.AST, names: Iterable[str], *, behind: int = 0) -> set[str]:
    """Return the names that a function never reads behind that line, or binds before it does."""
    uses = sorted(
        (each.lineno, isinstance(each.ctx, ast.Store), each.id)  # a line reads before it binds
        for each in ast.walk(function)
        if isinstance(each, ast.Name) and each.lineno > behind
    )
    first = {name: store for _, store, name in reversed(uses)}
    return {name for name in names if first.get(name, True)}


def _filled(function: ast.AST) -> set[str]:
    """Return the names of which a function fills all elements: `name.copy_(...)` or `name[:] = ...`."""
    found: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "copy_":
            found |= {node.func.value.id} if isinstance(node.func.value, ast.Name) else set()
        for target in node.targets if isinstance(node, ast.Assign) else ():
            if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                whole = ast.unparse(target.slice) in (":", "...")
                found |= {target.value.id} if whole else set()
    return found


def of_python(function: ast.FunctionDef | None) -> list[Parameter] | None:
    """Return the parameters of a function that returns nothing; None of any other."""
    if function is None or _returns(function):
        return None
    return [Parameter(name) for name in parameters(function)]


def of_cuda(text: str, entry: str) -> list[Parameter] | None:
    """Return the parameters of the bound function of that name where it returns nothing; None of any other."""
    source = parse(text)
    code = source.code
    made_of = r"&?\s*(?P<name>[\w:]+)\s*[,)]|(?P<made>\[[^\]]*\]\s*\()"
    bound = re.search(rf'\bm\.def\(\s*"{re.escape(entry)}"\s*,\s*(?:{made_of})', code)
    if bound is not None and bound["made"]:
        opened = bound.end() - 1
        begun = source.masked.find("{", matching(source.masked, opened))
        body = source.masked[begun : matching(source.masked, begun)]
        nothing = "->" not in source.masked[opened:begun] and not re.search(r"\breturn\s+[^;\s]", body)
        return _listed(code, source.masked, opened) if nothing else None
    name = bound["name"].rpartition("::")[2] if bound is not None else entry  # what a macro binds has its own name
    for one in source.functions:
        head = source.masked[one.start : one.body_start]
        found = re.search(rf"\bvoid\s+(?:\w+::)*{name}\s*\(", head) if one.name.rpartition("::")[2] == name else None
        if found is not None:
            return _listed(code, source.masked, one.start + found.end() - 1)
    return None


def _listed(code: str, masked: str, opened: int) -> list[Parameter]:
    closed = matching(masked, opened)
    ranges = split_commas(masked, opened + 1, closed)
    texts = [code[start:end].partition("=")[0].strip() for start, end in ranges]
    words = [(text, re.search(r"(\w+)\s*(?:\[\s*\])?$", text)) for text in texts if text and text != "void"]
    return [
        Parameter(name[1] if name else "", _HOLDS.search(text) is not None, _CONST.search(text) is not None)
        for text, name in words
    ]


def _returns(function: FunctionNode) -> bool:
    """Return whether a function returns or yields a value."""
    queue: list[ast.AST] = list(function.body)
    while queue:
        node = queue.pop()
        if isinstance(node, ast.Return) and not (node.value is None or _is_none(node.value)):
            return True
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            queue += ast.iter_child_nodes(node)
    return False


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
