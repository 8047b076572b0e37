"""Triton's own front end on the kernels that host code launches, for a GPU that is not there.

The interpreter takes kernels that the compiler refuses: it knows values where the compiler must know types. The front
end needs no GPU. Nothing is run, and nothing is compiled beyond Triton's first representation.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from audit.run.devices.device import report
from audit.run.devices.triton import driver

REFUSED = "triton-refused"
MOST_CHARACTERS = 2000
"""The most characters of the compiler's message."""


class FrontEnd:
    """Triton's front end in this process. Must be created before the first import of triton.

    Args:
        source: the file whose lines are reported.
        compute_capability: that of the GPU to compile for.
    """

    def __init__(self, source: Path, compute_capability: int) -> None:
        import triton
        from triton.runtime.jit import JITFunction

        self._source = source
        self._reports: list[dict[str, Any]] = []
        triton.runtime.driver.set_active(driver.driver(compute_capability))
        triton.compiler.compile = _front_end
        JITFunction.run = self._launched(JITFunction.run)
        triton.autotune = _first_alone(triton.autotune)

    def failures(self) -> list[dict[str, Any]]:
        """Return and clear the reports of kernels that the compiler refuses."""
        reports, self._reports = self._reports, []
        return reports

    def _launched(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        """Return a launch that ends once the front end has taken the kernel."""
        from triton.compiler.errors import CompilationError

        def run(kernel: Any, *args: Any, grid: Any, warmup: bool, **named: Any) -> Any:  # noqa: ARG001
            try:
                return plain(kernel, *args, grid=grid, warmup=True, **named)
            except CompilationError as error:
                self._reports.append(self._refused(kernel, error))
                raise

        return run

    def _refused(self, kernel: Any, error: Any) -> dict[str, Any]:
        """Return the report of a refusal: the innermost message, at the line of the launched kernel."""
        inner: BaseException = error
        while inner.__cause__ is not None:
            inner = inner.__cause__
        words = getattr(inner, "error_message", None) or f"{type(inner).__name__}: {inner}"
        line = _line(error, self._source)
        return report(REFUSED, words[:MOST_CHARACTERS], kernel=kernel.fn.__name__, line=line)


def _front_end(src: Any, target: Any, options: Any = None, **_: Any) -> Any:
    """Make Triton's first representation of a kernel. Raises CompilationError."""
    from triton._C.libtriton import ir
    from triton.compiler import make_backend

    backend = make_backend(target)
    chosen = backend.parse_options({**(options or {}), **src.parse_options()})
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    src.make_ir(target, chosen, backend.get_codegen_implementation(chosen), backend.get_module_map(), context)
    return SimpleNamespace(metadata=SimpleNamespace(), asm={})


def _first_alone(plain: Callable[..., Any]) -> Callable[..., Any]:
    """Return Triton's autotuner with the first configuration alone: the others are choices that it may leave out."""

    def tuned(configs: list[Any], *args: Any, **named: Any) -> Any:
        return plain(configs[:1], *args, **named)

    return tuned


def _line(error: Any, source: Path) -> int | None:
    """Return the line of the file where that error's line of a function stands, if it stands there once."""
    if error.src is None or not hasattr(error.node, "lineno"):
        return None
    text = [line.strip() for line in error.src.splitlines()]
    lines = [line.strip() for line in source.read_text(encoding="utf-8").splitlines()]
    starts = [at for at in range(len(lines)) if lines[at : at + len(text)] == text]
    return starts[0] + error.node.lineno if len(starts) == 1 else None
