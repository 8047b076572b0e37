"""A Python source as the rules read it: nodes by kind, what holds them, and names with their imports resolved.

What stands under `if __name__ == "__main__":` and in functions that make inputs or test, and that no function of the
file calls, is not the candidate's work; rules do not see it.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from audit.model import python_text
from audit.review.python_constants import MOST_BITS
from audit.review.python_tree import FunctionNode, Node, imports, inside, last_name, parameters, path
from audit.review.rule import grouped

_NOT_ITS_WORK = re.compile(r"get_inputs|get_init_inputs|main|test(?:_\w+)?|bench\w*")
_KERNEL = "__global__"
_BUILDERS = ("load_inline", "RawKernel", "RawModule")
_LIBRARIES = frozenset({"torch", "numpy", "triton", "einops", *sys.stdlib_module_names})
ENTRY_NAMES = frozenset({"forward", "custom_kernel", "solution", "run", "kernel_function", "__call__"})


@dataclass(frozen=True)
class Embedded:
    """One CUDA source in a constant, and the lines of the file that hold its first line and its end."""

    text: str
    first_line: int
    last_line: int

    def line(self, line: int) -> int:
        """Return the line of the file for a line of the CUDA source; the first one where escapes hide line breaks."""
        whole = self.text.count("\n") == self.last_line - self.first_line
        return self.first_line + line - 1 if whole else self.first_line


class PythonReading:
    """A parsed source and the nodes that rules ask for; everything is worked out once and when first asked. Raises
    SyntaxError: the text is not Python, or nests deeper than the parser goes."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = parse(text)

    @cached_property
    def embedded(self) -> list[Embedded]:
        """CUDA sources in string constants: those that define a kernel."""
        return [
            Embedded(node.value, node.lineno, node.end_lineno or node.lineno)
            for node in (inside(self.tree, ast.Constant) if _KERNEL in self.text else ())
            if isinstance(node.value, str) and _KERNEL in node.value
        ]

    @cached_property
    def above(self) -> dict[ast.AST, ast.AST]:
        """The node around each node."""
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    @cached_property
    def _nodes(self) -> list[ast.AST]:
        """Every node of the candidate's own work, outermost first."""
        called = _called_in_functions(self.tree)
        found: list[ast.AST] = []
        queue: deque[ast.AST] = deque([self.tree])
        while queue:
            node = queue.popleft()
            if not _is_apart(node, called):
                found.append(node)
                queue.extend(ast.iter_child_nodes(node))
        return found

    def nodes(self, kind: type[Node]) -> Iterator[Node]:
        """Yield all nodes of a kind."""
        return (node for node in self._nodes if isinstance(node, kind))

    def branches(self) -> Iterator[ast.If | ast.IfExp | ast.While]:
        """Everything that has a test."""
        return (node for node in self._nodes if isinstance(node, ast.If | ast.IfExp | ast.While))

    @lru_cache(maxsize=64)  # noqa: B019  # a reading lives as long as its review
    def attributes(self, node: ast.AST | None) -> frozenset[str]:
        """Return the names of the attributes within a node; none of no node."""
        return frozenset(each.attr for each in inside(node, ast.Attribute)) if node else frozenset()

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the nodes around a node, from the inside out."""
        while (above := self.above.get(node)) is not None:
            node = above
            yield node

    def function(self, node: ast.AST) -> FunctionNode | None:
        """Return the innermost function that holds the node."""
        return self._functions_around.get(node)

    @cached_property
    def _functions_around(self) -> dict[ast.AST, FunctionNode]:
        found: dict[ast.AST, FunctionNode] = {}
        for node in ast.walk(self.tree):  # outer nodes come first
            function = node if isinstance(node, FunctionNode) else found.get(node)
            if function is not None:
                found |= dict.fromkeys(ast.iter_child_nodes(node), function)
        return found

    @cached_property
    def functions(self) -> list[FunctionNode]:
        """Functions and methods that are no device code."""
        found = [node for node in self._nodes if isinstance(node, FunctionNode)]
        return [each for each in found if not any("jit" in self.name(mark) for mark in each.decorator_list)]

    @cached_property
    def entries(self) -> list[FunctionNode]:
        """The functions that the outside calls: `forward` and its other usual names."""
        return [each for each in self.functions if each.name in ENTRY_NAMES]

    @cached_property
    def own_kernels(self) -> frozenset[str]:
        """The names of Triton kernels, of CUDA sources, of their builders, and of modules that are not shown."""
        kernels = {node.name for node in self._nodes if isinstance(node, FunctionNode)}
        kernels -= {function.name for function in self.functions}
        elsewhere = {
            name
            for name, full in self._imported.items()
            if full.startswith("torch.utils.cpp_extension") or full.split(".", 1)[0] not in _LIBRARIES
        }
        holding = (node for node in self._nodes if isinstance(node, ast.Assign) and _holds_a_source(node.value))
        return frozenset(
            {*kernels, *elsewhere, *_BUILDERS, *(name for node in holding for name in map(last_name, node.targets))}
        )

    def reached(self, holders: Iterable[ast.AST]) -> frozenset[str]:
        """Return every name within functions or classes of the file, and within what those names stand for."""
        queue = list(holders)
        found: set[str] = set()
        while queue:
            for name in {last_name(each) for each in ast.walk(queue.pop())} - found:
                found.add(name)
                queue += self._named.get(name, [])
        return frozenset(found)

    @cached_property
    def _named(self) -> dict[str, list[ast.AST]]:
        """What a name may stand for: a function, a class, a value of the module or of an object."""
        defined = [(node.name, node) for node in self._nodes if isinstance(node, FunctionNode | ast.ClassDef)]
        shared = {name for node in self.nodes(ast.Global) for name in node.names}
        assigned = [
            (last_name(target), node.value)
            for node in self.nodes(ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Attribute) or self.function(node) is None or last_name(target) in shared
        ]
        return grouped([*defined, *assigned])

    def parameters(self, function: FunctionNode) -> list[str]:
        """Its parameters without `self`, `cls` and `ctx`."""
        return [name for name in parameters(function) if name not in ("self", "cls", "ctx")]

    @cached_property
    def _imported(self) -> dict[str, str]:
        return imports(node for node in ast.walk(self.tree) if not getattr(node, "level", 0))  # relative ones aside

    @cached_property
    def modules(self) -> frozenset[str]:
        """The names that imports bind."""
        return frozenset(self._imported)

    def name(self, node: ast.AST) -> str:
        """Return the dotted name of an expression, imports resolved: "torch.relu" of `t.relu`; empty for no name."""
        root, attributes = path(node.func if isinstance(node, ast.Call) else node)
        return ".".join([self._imported.get(root.id, root.id), *attributes]) if isinstance(root, ast.Name) else ""

    def calls(self) -> Iterator[tuple[ast.Call, str]]:
        """Yield every call with the name of what it calls; methods of expressions have their last part, after a dot."""
        for call in self.nodes(ast.Call):
            name = self.name(call)
            if not name and isinstance(call.func, ast.Attribute):
                name = f".{call.func.attr}"
            yield call, name


def parse(text: str) -> ast.Module:
    """Return the syntax tree; every way in which a text is not Python is a SyntaxError."""
    try:
        tree = python_text.module(text)
    except (ValueError, RecursionError, MemoryError) as error:
        raise SyntaxError(str(error) or "nests too deeply") from error
    for node in inside(tree, ast.Constant):
        if isinstance(node.value, int) and node.value.bit_length() > MOST_BITS:
            raise SyntaxError("an integer of thousands of digits", ("<source>", node.lineno, None, None))
    return tree


def _holds_a_source(node: ast.AST) -> bool:
    texts = (each.value for each in inside(node, ast.Constant))
    return any(isinstance(text, str) and _KERNEL in text for text in texts)


def _called_in_functions(tree: ast.Module) -> frozenset[str]:
    """Return the plain names that any function or class body calls."""
    holders = (node for node in ast.walk(tree) if isinstance(node, FunctionNode))
    calls = (each for holder in holders for each in inside(holder, ast.Call))
    return frozenset(call.func.id for call in calls if isinstance(call.func, ast.Name))


def _is_apart(node: ast.AST, called: frozenset[str]) -> bool:
    if isinstance(node, FunctionNode):
        return node.name not in called and _NOT_ITS_WORK.fullmatch(node.name) is not None
    if not isinstance(node, ast.If) or not isinstance(node.test, ast.Compare):
        return False
    left = node.test.left
    return isinstance(left, ast.Name) and left.id == "__name__"
