"""The syntax tree of a CUDA source: nodes by kind and place, what is around them, and their text.

One walk over the tree collects the nodes of all kinds that some rule asks for; nothing here looks at text that the tree
does not place, so comments, strings and disabled branches say nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import attrgetter

from tree_sitter import Node

from audit.review.cuda_source import CudaSource, Function
from audit.review.rule import between

START = attrgetter("start_byte")
"""The offset of a node."""


class CudaTree:
    """A parsed source and the nodes that rules ask for; everything is worked out once and when first asked."""

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
        """Yield the nodes around a node, from the inside out, up to a node of one of these kinds."""
        stop = frozenset(until)
        current = self.parent(node)
        while current is not None and current.type not in stop:
            yield current
            current = self.parent(current)

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


def sides(nodes: Iterable[Node]) -> Iterator[tuple[Node, Node, Node]]:
    """Yield each binary expression or assignment with its left and its right side."""
    for node in nodes:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None and right is not None:
            yield node, left, right


def asks(holder: Node, node: Node) -> bool:
    """Return whether a node starts in the condition of an `if`, a loop or a `?:`."""
    condition = holder.child_by_field_name("condition")
    return condition is not None and condition.start_byte <= node.start_byte < condition.end_byte
