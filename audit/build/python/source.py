"""Parse a `.py` variant: its own kernels, the CUDA sources it builds, its calls and imports."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from audit.build.cache import cache_folder, fingerprint, made
from audit.build.python.inline import InlineCuda
from audit.model import python_text
from audit.model.errors import CompileError, Unsupported
from audit.review.cuda_source import parse as parse_cuda
from audit.review.python_constants import Constants, NotConstant, functions_around
from audit.review.python_tree import path
from audit.review.rules.python.undeclared_binding import MOST

HEADER_SET = "python"
EXTENSION_BUILDER = "torch.utils.cpp_extension"
LOAD_INLINE = f"{EXTENSION_BUILDER}.load_inline"
COMPILES_FILES = f"{EXTENSION_BUILDER}.load"
TRITON_JIT = "triton.jit"


class PythonSource:
    """A parsed source, which is not run, without what only a program runs (`__name__ == "__main__"`). Raises
    CompileError: it is not Python; Unsupported: it nests too deeply."""

    def __init__(self, text: str) -> None:
        try:
            self._tree = python_text.module(text)
            self._tree.body = [one for one in self._tree.body if not _is_program(one)]
            self._constants = Constants(self._tree)
        except (SyntaxError, ValueError) as error:
            line = getattr(error, "lineno", None) or 0
            raise CompileError(f"line {line}: error: {getattr(error, 'msg', error)}", header_set=HEADER_SET) from error
        except (RecursionError, MemoryError) as error:
            raise Unsupported("a source nested this deeply") from error
        self._imported = _imports(self._tree)

    @cached_property
    def triton_kernels(self) -> tuple[str, ...]:
        """The functions under `triton.jit`, in order of their lines."""
        functions = [node for node in ast.walk(self._tree) if isinstance(node, ast.FunctionDef)]
        return tuple(one.name for one in functions if any(self._is_jit(each) for each in one.decorator_list))

    @cached_property
    def inline(self) -> tuple[InlineCuda, ...]:
        """The extensions that the source builds from texts. Raises Unsupported for texts that are not constants."""
        calls = [call for name, call in self.calls if name == LOAD_INLINE]
        if len(calls) > MOST:
            raise Unsupported(f"more than {MOST} extensions", line=calls[MOST].lineno)
        return tuple(self._inline(call) for call in calls)

    @property
    def own_kernels(self) -> tuple[str, ...]:
        """The names of all kernels of the source, without those of a text that is no constant."""
        try:
            return (*self.triton_kernels, *(name for inline in self.inline for name in _kernels(inline)))
        except Unsupported:
            return self.triton_kernels

    @cached_property
    def calls(self) -> tuple[tuple[str, ast.Call], ...]:
        """Every call of a dotted name, by its full name, with aliases of imports resolved."""
        found = [(self.full_name(node.func), node) for node in ast.walk(self._tree) if isinstance(node, ast.Call)]
        return tuple((name, node) for name, node in found if name)

    @property
    def builds_extensions(self) -> bool:
        """Whether it may use torch's extension builder."""
        plain = [alias.name for node in ast.walk(self._tree) if isinstance(node, ast.Import) for alias in node.names]
        bound = [name for name, _ in (*self._imported.values(), *self.calls)]
        return any(name.startswith(EXTENSION_BUILDER) for name in (*plain, *bound))

    @property
    def imports(self) -> dict[str, int]:
        """The top-level packages that the source imports, with the line."""
        return {name.partition(".")[0]: line for name, line in reversed(list(self._imported.values()))}

    @property
    def modules(self) -> list[tuple[str, int]]:
        """The full names of all imports, with the line."""
        plain = [node for node in ast.walk(self._tree) if isinstance(node, ast.Import)]
        return [*((one.name, node.lineno) for node in plain for one in node.names), *self._imported.values()]

    def constant_result(self, function: str, sizes: Mapping[str, int] | None = None) -> Any:
        """Return the value of a top-level function of one `return` of constants and of parameters that have a default;
        `sizes` replace those. Raises Unsupported for another one."""
        for node in self._tree.body:
            if isinstance(node, ast.FunctionDef) and node.name == function:
                body = [each for each in node.body if not _is_docstring(each)]
                if len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value is not None:
                    constants, taken, given = Constants(self._tree), node.args.args, sizes or {}
                    for one, default in zip(reversed(taken), reversed(node.args.defaults), strict=False):
                        constants.bound[one.arg] = ast.Constant(given[one.arg]) if one.arg in given else default
                    return _constant(body[0].value, constants, what=f"{function}()")
                raise Unsupported(f"{function}() of more than one statement", line=node.lineno)
        return []

    def full_name(self, node: ast.expr) -> str:
        """Return `torch.cuda.Event` for that expression, also for `cuda.Event` after an import; else an empty text."""
        root, attributes = path(node)
        owner = self._imported.get(root.id, ("", 0))[0] if isinstance(root, ast.Name) else ""
        return ".".join((owner, *attributes)) if owner else ""

    def _is_jit(self, decorator: ast.expr) -> bool:
        return self.full_name(decorator.func if isinstance(decorator, ast.Call) else decorator) == TRITON_JIT

    def _inline(self, call: ast.Call) -> InlineCuda:
        constants = Constants(self._tree, within=functions_around(self._tree, call), in_blocks=True)
        given = dict(zip(("name", "cpp_sources", "cuda_sources"), call.args, strict=False))
        given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
        if len(call.args) > len(("name", "cpp_sources", "cuda_sources")):
            raise Unsupported("load_inline with more than three positional arguments", line=call.lineno)
        functions = _names(given["functions"], constants) if "functions" in given else None
        cuda = given.get("cuda_sources")
        texts = () if cuda is None else _texts(cuda, constants)
        cpp = _texts(given["cpp_sources"], constants) if "cpp_sources" in given else ()
        lone = cuda.elts[0] if isinstance(cuda, ast.List | ast.Tuple) and len(cuda.elts) == 1 else cuda
        line = constants.text_line(lone) if lone is not None and len(texts) == 1 else None
        macros = _macros(given["extra_cuda_cflags"], constants) if "extra_cuda_cflags" in given else ()
        return InlineCuda(call.lineno, cpp, texts, functions, line, macros)


def _macros(node: ast.expr, constants: Constants) -> tuple[str, ...]:
    try:
        flags = constants.value(node) or ()
    except (NotConstant, RecursionError):
        return ()
    return tuple(flag for flag in flags if isinstance(flag, str) and flag.startswith(("-D", "-U")))


def _texts(node: ast.expr, constants: Constants) -> tuple[str, ...]:
    value = _constant(node, constants, what="an extension's source")
    texts = [] if value is None else value if isinstance(value, list) else [value]
    if not all(isinstance(text, str) for text in texts):
        raise Unsupported("an extension's source that is no text", line=node.lineno)
    return tuple(texts)


def _names(node: ast.expr, constants: Constants) -> tuple[str, ...] | None:
    value = _constant(node, constants, what="functions of an extension")
    return None if value is None else (value,) if isinstance(value, str) else tuple(value)


def _constant(node: ast.expr, constants: Constants, *, what: str) -> Any:
    try:
        return constants.value(node)
    except NotConstant as error:
        raise Unsupported(f"{what} not made of constants", line=error.line) from error
    except RecursionError as error:
        raise Unsupported(f"{what} put together from this many pieces", line=node.lineno) from error


def _is_program(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("__name__ == '__main__'", "'__main__' == __name__")


def _imports(tree: ast.Module) -> dict[str, tuple[str, int]]:
    """Return the names bound by imports anywhere in the source, with the full dotted name and the line."""
    names: dict[str, tuple[str, int]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                bound = alias.asname or alias.name.partition(".")[0]
                names[bound] = (alias.name if alias.asname else bound, node.lineno)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {alias.asname or alias.name: (f"{node.module}.{alias.name}", node.lineno) for alias in node.names}
    return names


def _kernels(inline: InlineCuda) -> list[str]:
    parsed = parse_cuda("\n".join((*inline.cpp, *inline.cuda)))
    return [function.name for function in parsed.functions if function.kind == "kernel"]


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def isolated(source: Path) -> Path:
    """Return a copy in a folder of its own: claimed code knows its path, and the original's has the reference."""
    data = source.read_bytes()
    return kept(cache_folder() / "python" / fingerprint([source.name, data]), source.name, data)


def kept(folder: Path, name: str, data: bytes) -> Path:
    """Return the file of that name and those bytes, alone in a folder of the cache."""
    made(folder, lambda unfinished: (unfinished / name).write_bytes(data))
    return folder / name


def init_inputs(source: Path, sizes: Mapping[str, int] | None = None) -> tuple[Any, ...]:
    """Return the result of `get_init_inputs` in the claim's reference for those sizes of a module, without running it;
    empty without one.

    A source's own `get_init_inputs` does not count: it may choose a smaller problem.

    Raises:
        Unsupported: the function is not one `return` of constants.
    """
    reference = source.with_name("reference.py")
    return tuple(PythonSource(reference.read_text(encoding="utf-8")).constant_result("get_init_inputs", sizes))
