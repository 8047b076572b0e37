"""A CUDA source as the rules read it: calls, variables and mentions of names, each with line and function.

One walk over the syntax tree collects the nodes of all kinds that some rule asks for; nothing here looks at text that
the tree does not place, so comments, strings and disabled branches say nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from tree_sitter import Node

from audit.review.cuda_grammar import nodes_of
from audit.review.cuda_source import CudaSource, Function
from audit.review.rule import names

_KINDS = names("""
    call_expression declaration assignment_expression update_expression if_statement for_statement while_statement
    conditional_expression return_statement expression_statement subscript_expression pointer_expression
    binary_expression cast_expression identifier
""")
_NAMED = ("identifier", "field_identifier", "type_identifier")
_INDIRECT = ("template_function", "template_method", "dependent_name")


@dataclass(frozen=True)
class Call:
    """One call that is no kernel launch.

    Args:
        name: the last part of what is called, e.g. "matmul" of `torch::matmul(...)` and of `x.matmul(...)`.
        scope: what stands before `::`, e.g. "torch"; empty for a plain name and for a method.
        receiver: the object of a method, or None.
        arguments: in order.
        node: the whole call.
        line: where the name stands.
    """

    name: str
    scope: str
    receiver: Node | None
    arguments: tuple[Node, ...]
    node: Node
    line: int


@dataclass(frozen=True)
class Variable:
    """One declared variable.

    Args:
        name: its plain name.
        type_text: its type without storage class, qualifiers and stars, on one line.
        declared: the whole declaration up to the name, on one line, e.g. "static const float *".
        value: the initial value, or None.
        node: the declaration.
        line: where the name stands.
    """

    name: str
    type_text: str
    declared: str
    value: Node | None
    node: Node
    line: int


class CudaReading:
    """A parsed source and the nodes that rules ask for; everything is worked out once and when first asked."""

    def __init__(self, source: CudaSource) -> None:
        self.source = source

    @cached_property
    def _nodes(self) -> dict[str, list[Node]]:
        return nodes_of(self.source.tree, _KINDS)

    def nodes(self, *kinds: str) -> list[Node]:
        """Return all nodes of these kinds; nested ones come after what holds them within a kind."""
        return [node for kind in kinds for node in self._nodes[kind]]

    def inside(self, holder: Function | Node, *kinds: str) -> list[Node]:
        """Return the nodes of these kinds in the body of a function or within a node."""
        first, last = extent(holder)
        return [node for node in self.nodes(*kinds) if first <= node.start_byte and node.end_byte <= last]

    def text(self, node: Node) -> str:
        """Return the text of a node, literals blanked."""
        return self.source.masked[node.start_byte : node.end_byte]

    def written(self, node: Node) -> str:
        """Return the text of a node on one line, literals as they are."""
        return " ".join(self.source.code[node.start_byte : node.end_byte].split())

    def line(self, node: Node) -> int:
        """Return the line where a node starts, from 1."""
        return node.start_point[0] + 1

    def function(self, node: Node) -> Function | None:
        """Return the function whose body holds the node."""
        return self.source.function_at(node.start_byte)

    def in_host(self, node: Node) -> bool:
        """Return whether the node stands in a function that the host runs."""
        function = self.function(node)
        return function is not None and function.kind == "host"

    @cached_property
    def kernels(self) -> tuple[Function, ...]:
        """The `__global__` functions."""
        return tuple(each for each in self.source.functions if each.kind == "kernel")

    def kernel(self, name: str) -> Function | None:
        """Return the kernel of that name; None for none and for several."""
        found = [kernel for kernel in self.kernels if kernel.name == name]
        return found[0] if len(found) == 1 else None

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """Every call outside macros, in order."""
        found = (self._call(node) for node in self._nodes["call_expression"])
        return tuple(sorted((call for call in found if call), key=lambda call: call.node.start_byte))

    def calls_in(self, function: Function) -> list[Call]:
        """Return the calls in the body of a function."""
        return [call for call in self.calls if function.holds(call.node)]

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """Every declared variable outside macros, parameters not included."""
        return tuple(each for node in self._nodes["declaration"] for each in self._declared(node))

    def outlives_calls(self, variable: Variable) -> bool:
        """Return whether a variable lives at namespace scope, or as a static one in a host function."""
        function = self.function(variable.node)
        kept = bool({"static", "thread_local"} & set(re.findall(r"\w+", variable.declared)))
        return function is None or (function.kind == "host" and kept)

    @cached_property
    def mentions(self) -> dict[str, list[Node]]:
        """Every identifier of an expression or a declarator by its text."""
        found: dict[str, list[Node]] = {}
        for node in self._nodes["identifier"]:
            found.setdefault(self.text(node), []).append(node)
        return found

    def mentioned(self, name: str, holder: Function | Node) -> list[Node]:
        """Return the mentions of a name in the body of a function or within a node."""
        first, last = extent(holder)
        return [node for node in self.mentions.get(name, ()) if first <= node.start_byte < last]

    def names_in(self, node: Node) -> set[str]:
        """Return the identifiers within a node."""
        return {self.text(each) for each in walk(node) if each.type == "identifier"}

    @cached_property
    def entries(self) -> tuple[Function, ...]:
        """The host functions that take a tensor and that no other function of the file calls."""
        called = {call.name for call in self.calls}
        hosts = (each for each in self.source.functions if each.kind == "host" and each.name not in called)
        return tuple(each for each in hosts if tensor_parameters(each))

    def _call(self, node: Node) -> Call | None:
        called, listed = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if called is None or listed is None or any(child.type == "kernel_call_syntax" for child in node.children):
            return None
        receiver, scopes, name = None, [], called
        while name.type not in _NAMED:
            if name.type == "field_expression":
                receiver = name.child_by_field_name("argument")
                inner = name.child_by_field_name("field")
            elif name.type == "qualified_identifier":
                scope = name.child_by_field_name("scope")
                scopes += [self.text(scope)] if scope else []
                inner = name.child_by_field_name("name")
            else:
                inner = name.child_by_field_name("name") if name.type in _INDIRECT else None
            if inner is None:
                return None
            name = inner
        arguments = tuple(child for child in listed.named_children if child.type != "comment")
        return Call(self.text(name), "::".join(scopes), receiver, arguments, node, self.line(name))

    def _declared(self, node: Node) -> Iterator[Variable]:
        kind = node.child_by_field_name("type")
        for declarator in node.children_by_field_name("declarator") if kind else ():
            value, name = None, declarator
            while name.type != "identifier":
                value = value or name.child_by_field_name("value")
                inner = name.child_by_field_name("declarator") or next(iter(name.named_children), None)
                if inner is None or (name.type == "function_declarator" and self.function(node) is None):
                    break  # a prototype; in a body it is a variable, e.g. `std::thread later(run);`
                name = inner
            if kind is not None and name.type == "identifier":
                before = " ".join(self.source.masked[node.start_byte : name.start_byte].split())
                type_text = " ".join(self.text(kind).split())
                yield Variable(self.text(name), type_text, before, value, node, self.line(name))


def operator(node: Node) -> str:
    """Return the operator of a binary expression; empty for any other node."""
    found = node.child_by_field_name("operator")
    return found.type if found is not None else ""


def extent(holder: Function | Node) -> tuple[int, int]:
    """First and past-the-end offset of a function's body or of a node."""
    if isinstance(holder, Function):
        return holder.body_start, holder.end
    return holder.start_byte, holder.end_byte


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and everything named within it, without recursion."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(current.named_children))


def ancestors(node: Node, *, until: Iterable[str] = ("function_definition",)) -> Iterator[Node]:
    """Yield the nodes around a node, from the inside out, up to a node of one of these kinds."""
    stop = frozenset(until)
    current = node.parent
    while current is not None and current.type not in stop:
        yield current
        current = current.parent


def tensor_parameters(function: Function) -> list[str]:
    """Return the names of the parameters that are tensors, optional ones and references included."""
    return [each.name for each in function.parameters if each.name and re.search(r"\bTensor\b", each.text)]
