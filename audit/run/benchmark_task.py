"""Runs in a child: a task stated as a class of workloads, the format of Hugging Face's `kernels benchmark`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from audit.run.imported_file import Arguments, Sizes
from audit.run.imported_task import Task


class BenchmarkTask(Task):
    """A task whose inputs are the attributes that a workload's setup makes; its `verify_…` computes the right result.

    Args:
        path: the file.
        holder: the class.
        workloads: their names, numbered from 1 by the shapes. All have the same reference.
        arguments: the attributes passed to the kernel, in order.
    """

    def __init__(self, path: Path, holder: str, *, workloads: Sequence[str], arguments: Sequence[str]) -> None:
        super().__init__(path, beside={"kernels": None, "kernels.benchmark": None})
        self._holder, self._workloads, self._arguments = holder, workloads, arguments

    def _drawn(self, shape: Sizes, seed: int) -> Arguments:  # noqa: ARG002
        made = self._made()
        own = getattr(made, f"setup_{self._workloads[shape['workload'] - 1]}", None)
        (own or made.setup)()
        return [getattr(made, name) for name in self._arguments]

    def _computed(self, arguments: Sequence[Any], *, double: bool) -> Any:  # noqa: ARG002
        made = self._made()
        for name, value in zip(self._arguments, arguments, strict=True):
            setattr(made, name, value)
        return getattr(made, f"verify_{self._workloads[0]}")()

    def _made(self) -> Any:
        made = getattr(self._file.module(), self._holder)()
        made.device = "cuda"
        return made
