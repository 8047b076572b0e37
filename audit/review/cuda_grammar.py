"""The part of a CUDA source that tree-sitter-cuda sees: function definitions and launches outside macros."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

import tree_sitter_cuda
from tree_sitter import Language, Node, Parser, Tree

from audit.review.token_scan import Macro, Masked, blank, matching

Kind = Literal["kernel", "device", "host"]

LANGUAGE = Language(tree_sitter_cuda.language())
_KINDS = frozenset({"function_definition", "kernel_call_syntax", "ERROR"})
# The grammar does not know these everywhere, and no rule here needs them.
_ATTRIBUTE = re.compile(r"\b(?:__align__|alignas|__attribute__|__maxnreg__|__cluster_dims__)\s*\(")
_LABEL = re.compile(r"\b__grid_constant__\b")
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


@dataclass(frozen=True)
class Function:
    """A function definition.

    Args:
        name: the last part of its name, without template arguments.
        kind: kernel (`__global__`), device (`__device__`, with or without `__host__`) or host.
        start: offset of its first token, `template` and `extern "C"` included.
        end: offset past its closing brace.
        body_start: offset of its opening brace.
        line: the line of its name.
        parameters: in order.
        for_host: whether the host may call it too (a host function, or `__host__ __device__`).
    """

    name: str
    kind: Kind
    start: int
    end: int
    body_start: int
    line: int
    parameters: tuple[Parameter, ...]
    for_host: bool

    def holds(self, node: Node) -> bool:
        """Return whether a node starts in its body."""
        return self.body_start < node.start_byte < self.end


@dataclass(frozen=True)
class Grammar:
    """Everything that the grammar found; `launch_nodes` are call expressions without an error inside."""

    tree: Tree
    functions: tuple[Function, ...]
    launch_nodes: tuple[Node, ...]
    error_count: int


def read(views: Masked, macros: tuple[Macro, ...]) -> Grammar:
    """Parse the masked text. Byte offsets of the tree are character offsets: one byte stands for each character."""
    tree = Parser(LANGUAGE).parse(without_attributes(views.masked).encode("ascii", "replace"))
    nodes = nodes_of(tree, _KINDS)
    kinds = _annotations(views.masked, macros)
    functions = [_function(node, views, kinds) for node in nodes["function_definition"]]
    calls = [node.parent for node in nodes["kernel_call_syntax"] if node.parent is not None]
    return Grammar(
        tree=tree,
        functions=tuple(sorted((each for each in functions if each), key=lambda function: function.start)),
        launch_nodes=tuple(node for node in calls if node.type == "call_expression" and not node.has_error),
        error_count=len(nodes["ERROR"]),
    )


def nodes_of(tree: Tree, kinds: frozenset[str]) -> dict[str, list[Node]]:
    """Return the nodes of each kind, outer ones first. A cursor takes linear time even where the text is no C++."""
    found: dict[str, list[Node]] = {kind: [] for kind in kinds}
    cursor = tree.walk()
    while True:
        node = cursor.node
        if node is not None and (kind := node.type) in kinds:
            found[kind].append(node)
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return found


def without_attributes(masked: str) -> str:
    """Return the masked text with alignment and other attributes blanked, so that declarations keep a plain shape."""
    for match in reversed(list(_ATTRIBUTE.finditer(masked))):
        closing = matching(masked, match.end() - 1)
        if closing > 0:
            masked = masked[: match.start()] + blank(masked[match.start() : closing + 1]) + masked[closing + 1 :]
    return _LABEL.sub(lambda match: blank(match.group()), masked)


def _annotations(masked: str, macros: tuple[Macro, ...]) -> dict[str, str]:
    """Macros that stand for `__device__` and the like, with what they stand for."""
    bodies = {macro.name: masked[macro.body_start : macro.end] for macro in macros if not macro.parameters}
    return {name: body for name, body in bodies.items() if re.search(r"__(?:device|global|host)__", body)}


def _function(node: Node, views: Masked, annotations: dict[str, str]) -> Function | None:
    body = node.child_by_field_name("body")
    declarator = _function_declarator(node)
    if body is None or declarator is None or body.type not in ("compound_statement", "try_statement"):
        return None
    start = _start(node, views.masked, annotations)
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
        line=views.masked.count("\n", 0, name.start_byte if name else start) + 1,
        parameters=_parameters(declarator, views.code),
        for_host=for_host,
    )


def _start(node: Node, masked: str, annotations: dict[str, str]) -> int:
    """Where the definition starts, with its template head, its linkage and annotation macros the grammar missed."""
    while node.parent is not None and node.parent.type in ("template_declaration", "linkage_specification"):
        node = node.parent
    start = node.start_byte
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
        node = inner or next((child for child in node.named_children if _may_name(child)), None)
    return node


def _may_name(node: Node) -> bool:
    return node.type in _NAMES or "declarator" in node.type


def _parameters(declarator: Node, code: str) -> tuple[Parameter, ...]:
    listed = declarator.child_by_field_name("parameters")
    found = []
    for node in listed.named_children if listed is not None else ():
        if node.type.endswith("parameter_declaration"):
            name = _name(node.child_by_field_name("declarator"))
            text = " ".join(code[node.start_byte : node.end_byte].split())
            found.append(Parameter(code[name.start_byte : name.end_byte] if name else "", text))
    return tuple(found)
