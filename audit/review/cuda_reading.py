"""A CUDA source as the rules read it: calls, variables and mentions of names, each with line and function."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import takewhile
from operator import attrgetter

from tree_sitter import Node

from audit.review.cuda_grammar import operator, sides, walk
from audit.review.cuda_source import CudaSource, Function
from audit.review.rule import between, grouped

_NAMED = ("identifier", "field_identifier", "type_identifier")
_INDIRECT = ("template_function", "template_method", "dependent_name")
_PLACE, START = attrgetter("node.start_byte"), attrgetter("start_byte")


@dataclass(frozen=True)
class Call:
    """One call that is no kernel launch."""

    name: str  # the last part of what is called, e.g. "matmul" of `torch::matmul(...)` and of `x.matmul(...)`
    scope: str  # what stands before `::`, e.g. "torch"; empty for a plain name and for a method
    receiver: Node | None  # the object of a method
    arguments: tuple[Node, ...]
    node: Node
    line: int  # of the name


@dataclass(frozen=True)
class Variable:
    """One declared variable."""

    name: str
    type_text: str  # without storage class, qualifiers and stars, on one line
    declared: str  # the declaration up to the name, on one line, e.g. "static const float *"
    tail: str  # what follows the name, e.g. "= 256" or "(1, 2)"; mostly empty without a value
    value: Node | None
    node: Node  # the declaration
    line: int  # of the name


class CudaReading:
    """A parsed source and what rules ask of it; everything is worked out once and when first asked.

    What the tree does not place says nothing: comments, strings and disabled branches.
    """

    def __init__(self, source: CudaSource) -> None:
        self.source = source

    def nodes(self, *kinds: str) -> list[Node]:
        """Return all nodes of these kinds; nested ones come after what holds them within a kind."""
        return [node for kind in kinds for node in self.source.walked.nodes[kind]]

    def inside(self, holder: Function | Node, *kinds: str) -> list[Node]:
        """Return the nodes of these kinds in the body of a function or within a node."""
        first, last = extent(holder)
        started = (node for kind in kinds for node in between(self.source.walked.nodes[kind], first, last, START))
        return [node for node in started if node.end_byte <= last]

    def parent(self, node: Node) -> Node | None:
        """Return the node around a named node; None around the root and beyond the levels that are looked at."""
        return self.source.walked.parents.get(node.id)

    def ancestors(self, node: Node, *, until: Iterable[str] = ("function_definition",)) -> Iterator[Node]:
        """Return the nodes around a node, from the inside out, up to a node of one of these kinds."""
        stop = frozenset(until)
        return takewhile(lambda each: each.type not in stop, self.source.walked.around(node))

    def text(self, node: Node) -> str:
        """Return the text of a node, literals blanked."""
        return self.source.masked[node.start_byte : node.end_byte]

    def written(self, node: Node) -> str:
        """Return the text of a node on one line, literals as they are."""
        return " ".join(self.source.code[node.start_byte : node.end_byte].split())

    def names_in(self, node: Node) -> set[str]:
        """Return the identifiers within a node."""
        return {self.text(each) for each in walk(node) if each.type == "identifier"}

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
        found = [each for each in self.source.by_name.get(name, ()) if each.kind == "kernel"]
        return found[0] if len(found) == 1 else None

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """Every call outside macros, in order."""
        found = (self._call(node) for node in self.nodes("call_expression"))
        return tuple(sorted((call for call in found if call), key=lambda call: call.node.start_byte))

    @cached_property
    def macro_words(self) -> frozenset[str]:
        """The words in the replacement lists of all macros."""
        bodies = (self.source.masked[macro.body_start : macro.end] for macro in self.source.macros)
        return frozenset(word for body in bodies for word in re.findall(r"\w+", body))

    def is_used(self, kernel: Function) -> bool:
        """Return whether a launch, a macro or anything else outside of its own definition names a kernel."""
        if kernel.name in self.macro_words or kernel.name in self.source.launches_of:
            return True
        return any(not kernel.start <= node.start_byte < kernel.end for node in self.mentions.get(kernel.name, ()))

    def calls_in(self, function: Function) -> list[Call]:
        """Return the calls in the body of a function."""
        return between(self.calls, function.body_start + 1, function.end, _PLACE)

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """Every declared variable outside macros, parameters not included."""
        return tuple(each for node in self.nodes("declaration") for each in self._declared(node))

    def variables_in(self, function: Function) -> list[Variable]:
        """Return the variables declared in the body of a function."""
        return between(self.variables, function.body_start + 1, function.end, _PLACE)

    def declared(self, name: str, function: Function, before: int) -> Variable | None:
        """Return the variable of that name that a function declares last before an offset."""
        found = self._named.get(name, [])
        at = bisect_left(found, before, key=_PLACE) - 1
        return found[at] if at >= 0 and function.holds(found[at].node) else None

    def declarations(self, name: str, function: Function) -> list[Variable]:
        """Return the variables of that name in the body of a function."""
        return between(self._named.get(name, []), function.body_start + 1, function.end, _PLACE)

    def only_value(self, name: str) -> Node | None:
        """Return the initial value of the one variable of that name in the file that has one."""
        values = [each.value for each in self._named.get(name, []) if each.value]
        return values[0] if len(values) == 1 else None

    @cached_property
    def _named(self) -> dict[str, list[Variable]]:
        return grouped((variable.name, variable) for variable in self.variables)

    def assigned(self, name: str, first: int, last: int) -> list[Node]:
        """Return what assignments between two offsets give to a name, or to what it points to."""
        return between(self._assigned.get(name, []), first, last, START)

    @cached_property
    def _assigned(self) -> dict[str, list[Node]]:
        assignments = sides(self.nodes("assignment_expression"))
        return grouped((self.text(left).lstrip("*"), right) for _, left, right in assignments)

    @cached_property
    def mentions(self) -> dict[str, list[Node]]:
        """Every identifier of an expression or a declarator by its text."""
        return grouped((self.text(node), node) for node in self.nodes("identifier"))

    def mentioned(self, name: str, holder: Function | Node) -> list[Node]:
        """Return the mentions of a name in the body of a function or within a node."""
        return self.mentioned_between(name, *extent(holder))

    def mentioned_between(self, name: str, first: int, last: int) -> list[Node]:
        """Return the mentions of a name that start between two offsets."""
        return between(self.mentions.get(name, []), first, last, START)

    def operations(self, sign: str, first: int, last: int) -> list[Node]:
        """Return the binary expressions of an operator that start between two offsets."""
        return between(self._operations.get(sign, []), first, last, START)

    @cached_property
    def _operations(self) -> dict[str, list[Node]]:
        return grouped((operator(node), node) for node in self.nodes("binary_expression"))

    @cached_property
    def entries(self) -> dict[Function, list[str]]:
        """The host functions that take tensors and that no other function of the file calls, each with their names."""
        called = {call.name for call in self.calls}
        hosts = (each for each in self.source.functions if each.kind == "host" and each.name not in called)
        return {each: tensors for each in hosts if (tensors := tensor_parameters(each))}

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
                first = node.child_by_field_name("declarator") or declarator
                pieces = ((node.start_byte, first.start_byte), (declarator.start_byte, name.start_byte))
                before = " ".join("".join(self.source.masked[slice(*each)] for each in pieces).split())
                type_text = " ".join(self.text(kind).split())
                tail = self.source.code[name.end_byte : declarator.end_byte].strip()
                yield Variable(self.text(name), type_text, before, tail, value, node, self.line(name))


@lru_cache(maxsize=4096)
def tensor_parameters(function: Function) -> list[str]:
    """Return the names of the parameters that are tensors, optional ones and references included."""
    return [each.name for each in function.parameters if each.name and re.search(r"\bTensor\b", each.text)]


def extent(holder: Function | Node) -> tuple[int, int]:
    """First and past-the-end offset of a function's body or of a node."""
    if isinstance(holder, Function):
        return holder.body_start, holder.end
    return holder.start_byte, holder.end_byte


def asks(holder: Node, node: Node) -> bool:
    """Return whether a node starts in the condition of an `if`, a loop or a `?:`."""
    condition = holder.child_by_field_name("condition")
    return condition is not None and condition.start_byte <= node.start_byte < condition.end_byte
