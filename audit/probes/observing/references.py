"""The task's own reference as the target of a probe."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from audit.model import Finding
from audit.run.processes.pool import SharedProcess

if TYPE_CHECKING:
    from audit.probes.observing.target import Target


class References:
    """Answers of the task's own reference, each once for all variants of a device with the same tolerance, precision
    and cases. Safe to use from several threads.

    `process` opens a process for its sessions where starting one is slow; it never loads claimed code.
    """

    def __init__(self, process: Callable[[], AbstractContextManager[SharedProcess]] | None = None) -> None:
        self._open = process
        self._opened = ExitStack()
        self._process: SharedProcess | None = None
        self._targets: dict[tuple[object, ...], Target] = {}
        self._answers: dict[tuple[object, ...], Finding] = {}
        self._lock = threading.Lock()

    def answer(self, question: str, target: Target, ask: Callable[[Target], Finding]) -> Finding:
        """Return the finding of `ask` about the reference, with the cases, tolerance and precision of that target."""
        held_to = (
            target.tolerance.relative,
            target.tolerance.absolute,
            target.variant.precision,
            *(case.inputs for case in target.cases),
        )
        with self._lock:
            if (question, held_to) not in self._answers:
                self._answers[question, held_to] = ask(self._like(target, held_to))
            return self._answers[question, held_to]

    def close(self) -> None:
        """End the process; the next new question starts another."""
        with self._lock:
            self._opened.close()
            self._process = None
            self._targets.clear()

    def _like(self, target: Target, held_to: tuple[object, ...]) -> Target:
        if self._open is not None and self._process is None:
            self._process = self._opened.enter_context(self._open())
        if held_to not in self._targets:
            self._targets[held_to] = replace(target, is_reference=True, shared=self._process, violations=[])
        return self._targets[held_to]
