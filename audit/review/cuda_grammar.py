"""The part of a CUDA source that tree-sitter-cuda sees: function definitions outside macros."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import takewhile
from typing import Literal, NamedTuple

import tree_sitter_cuda
from tree_sitter import Language, Node, Parser, Tree

from audit.review.rule import names
from audit.review.token_scan import Macro, Masked, blank, blanked, line_of, matching

Kind = Literal["kernel", "device", "host"]

DEFINITION, ERROR = "function_definition", "ERROR"
KINDS = names("""
    call_expression declaration assignment_expression update_expression if_statement for_statement while_statement
    conditional_expression return_statement expression_statement subscript_expression pointer_expression
    binary_expression cast_expression identifier function_definition preproc_if preproc_ifdef ERROR
""")
"""Of the nodes that something asks for."""
LANGUAGE = Language(tree_sitter_cuda.language())
_UNPLACED = 65535
_NUMBERS = range(LANGUAGE.node_kind_count)
_NAMED = frozenset({_UNPLACED, *(one for one in _NUMBERS if LANGUAGE.node_kind_is_named(one))})
_WANTED = {_UNPLACED: ERROR} | {
    one: kind for one in _NUMBERS if (kind := LANGUAGE.node_kind_for_id(one) or "") in KINDS
}
"""Kinds of nodes by the numbers that the grammar gives them; the parser's own, of what it cannot place, is the last."""
LEVELS = 300
"""Of nesting; a node that lies deeper is not looked at."""
_LEAST_WORK, _CHARACTERS_OF_WORK = 2000, 4
"""Steps of the parser, as it counts them: ordinary sources need one for about 60 characters."""
_READ_AT_ONCE = 1 << 16
# The grammar does not know these everywhere, and no rule here needs them.
_ATTRIBUTES = ("__align__", "alignas", "__attribute__", "__maxnreg__", "__cluster_dims__", "__grid_constant__")
_ATTRIBUTE = re.compile(rf"\b(?:{'|'.join(_ATTRIBUTES[:-1])})\s*\(")
_LABEL = re.compile(rf"\b{_ATTRIBUTES[-1]}\b")
_NAMES = ("identifier", "field_identifier", "type_identifier", "operator_name", "destructor_name", "operator_cast")


@dataclass(frozen=True)
class Parameter:
    """A function parameter: its name (empty where it has none) and its whole declaration."""

    name: str
    text: str

    @property
    def is_pointer(self) -> bool:
        """Whether the declaration shows a pointer."""
        return "*" in self.text or self.text.rstrip().endswith("]")


@dataclass(frozen=True, eq=False)
class Function:
    """A function definition."""

    name: str  # the last part of its name, without template arguments
    kind: Kind  # kernel (`__global__`), device (`__device__`, with or without `__host__`) or host
    start: int  # offset of its first token, `template` and `extern "C"` included
    end: int  # offset past its closing brace
    body_start: int  # offset of its opening brace
    line: int  # of its name
    parameters: tuple[Parameter, ...]
    for_host: bool  # whether the host may call it too (a host function, or `__host__ __device__`)
    body: Node = field(repr=False)

    def holds(self, node: Node) -> bool:
        """Return whether a node starts in its body."""
        return self.body_start < node.start_byte < self.end


class Walked(NamedTuple):
    """All that one walk over a tree finds: the nodes of each kind that something asks for, outer ones first, and the
    node around each named node by the identity of the latter."""

    nodes: dict[str, list[Node]]
    parents: dict[int, Node]

    def around(self, node: Node) -> Iterator[Node]:
        """Yield the nodes around a named node, from the inside out."""
        current = self.parents.get(node.id)
        while current is not None:
            yield current
            current = self.parents.get(current.id)


def functions(walked: Walked, views: Masked, macros: tuple[Macro, ...]) -> tuple[Function, ...]:
    """Return the functions, in order."""
    kinds = _annotations(views.masked, macros)
    read = (_function(node, walked, views, kinds) for node in walked.nodes[DEFINITION])
    return tuple(sorted((each for each in read if each), key=lambda function: function.start))


def tree_of(views: Masked) -> tuple[Tree, bool]:
    """Return the syntax tree, and whether the parser needed no more work than the length of the text allows it.

    Its work on templates that could be comparisons grows with the square of the text; then the tree is empty. Byte
    offsets of the tree are character offsets: one byte stands for each character.
    """
    text = without_attributes(views.masked).encode("ascii", "replace")
    left = iter(range(_LEAST_WORK + len(text) // _CHARACTERS_OF_WORK))

    def read(offset: int, _: object) -> bytes:
        return text[offset : offset + _READ_AT_ONCE]

    try:
        return Parser(LANGUAGE).parse(read, progress_callback=lambda *_: next(left, None) is None), True
    except ValueError:  # asked to stop
        return Parser(LANGUAGE).parse(b""), False


def walked_of(tree: Tree) -> Walked:
    """Return the nodes of `KINDS` down to `LEVELS`; a source spends a fifth of its review here.

    `Node.parent` begins at the root and passes all siblings, so that asking every node takes the square of the time.
    """
    found: dict[str, list[Node]] = {kind: [] for kind in KINDS}
    keep = {number: found[kind].append for number, kind in _WANTED.items()}
    parents: dict[int, Node] = {}
    cursor, above = tree.walk(), list[Node]()
    down, right, up = cursor.goto_first_child, cursor.goto_next_sibling, cursor.goto_parent
    while (node := cursor.node) is not None:
        number = node.kind_id
        if number in _NAMED:
            if above:
                parents[node.id] = above[-1]
            if (add := keep.get(number)) is not None:
                add(node)
        if len(above) < LEVELS and down():
            above.append(node)
            continue
        while not right():
            if not up():
                return Walked(found, parents)
            above.pop()
    return Walked(found, parents)


def operator(node: Node) -> str:
    """Return the operator of a binary expression; empty for any other node."""
    found = node.child_by_field_name("operator")
    return found.type if found is not None else ""


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and everything named within it, without recursion."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(current.named_children))


def sides(nodes: Iterable[Node]) -> Iterator[tuple[Node, Node, Node]]:
    """Yield each binary expression or assignment with its left and its right side."""
    for node in nodes:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None and right is not None:
            yield node, left, right


@lru_cache(maxsize=8)
def without_attributes(masked: str) -> str:
    """Return the masked text with alignment and other attributes blanked, so that declarations keep a plain shape."""
    if not any(word in masked for word in _ATTRIBUTES):
        return masked
    ends = ((match.start(), matching(masked, match.end() - 1) + 1) for match in _ATTRIBUTE.finditer(masked))
    masked = blanked(masked, [(start, end) for start, end in ends if end > 0])
    return _LABEL.sub(lambda match: blank(match.group()), masked)


def _annotations(masked: str, macros: tuple[Macro, ...]) -> dict[str, str]:
    """Macros that stand for `__device__` and the like, with what they stand for."""
    bodies = {macro.name: masked[macro.body_start : macro.end] for macro in macros if not macro.parameters}
    return {name: body for name, body in bodies.items() if re.search(r"__(?:device|global|host)__", body)}


def _function(node: Node, walked: Walked, views: Masked, annotations: dict[str, str]) -> Function | None:
    body = node.child_by_field_name("body")
    declarator = _function_declarator(node)
    if body is None or declarator is None or body.type not in ("compound_statement", "try_statement"):
        return None
    start = _start(node, walked, views.masked, annotations)
    written = views.masked[start : body.start_byte]
    head = re.sub(r"\w+", lambda word: annotations.get(word.group(), word.group()), written)
    name = _name(declarator.child_by_field_name("declarator"))
    for_host = "__global__" not in head and ("__host__" in head or "__device__" not in head)
    kind: Kind = "kernel" if "__global__" in head else "device" if "__device__" in head else "host"
    return Function(
        name=views.masked[name.start_byte : name.end_byte] if name else "",
        kind=kind,
        start=start,
        end=node.end_byte,
        body_start=body.start_byte,
        line=line_of(views.masked, name.start_byte if name else start),
        parameters=_parameters(declarator, views.code),
        for_host=for_host,
        body=body,
    )


def _start(node: Node, walked: Walked, masked: str, annotations: dict[str, str]) -> int:
    """Where the definition starts, with its template head, its linkage and annotation macros the grammar missed."""
    heads = takewhile(lambda each: each.type in ("template_declaration", "linkage_specification"), walked.around(node))
    start = min((each.start_byte for each in heads), default=node.start_byte)
    while annotations and (before := re.search(r"(\w+)\s*\Z", masked[max(0, start - 80) : start])):
        if before[1] not in annotations:
            break
        start -= len(before[0])
    return start


def _function_declarator(node: Node) -> Node | None:
    current = node.child_by_field_name("declarator")
    while current is not None and current.type != "function_declarator":
        inner = current.child_by_field_name("declarator")
        current = inner or next((child for child in current.named_children if "declarator" in child.type), None)
    return current


def _name(node: Node | None) -> Node | None:
    """Return the node of the name inside a declarator, qualified or templated as it may be."""
    while node is not None and node.type not in _NAMES:
        inner = node.child_by_field_name("declarator") or node.child_by_field_name("name")
        may_name = (child for child in node.named_children if child.type in _NAMES or "declarator" in child.type)
        node = inner or next(may_name, None)
    return node


def _parameters(declarator: Node, code: str) -> tuple[Parameter, ...]:
    listed = declarator.child_by_field_name("parameters")
    found = []
    for node in listed.named_children if listed is not None else ():
        if node.type.endswith("parameter_declaration"):
            name = _name(node.child_by_field_name("declarator"))
            text = " ".join(code[node.start_byte : node.end_byte].split())
            found.append(Parameter(code[name.start_byte : name.end_byte] if name else "", text))
    return tuple(found)
