"""Runs in a child: a task whose reference has several functions, the results of which are its outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from audit.run.imported_task import DataTask


class PartsTask(DataTask):
    """`generate_inputs(..., seed)` returns the arguments; each part takes some of them.

    Args:
        path: the file.
        parts: of each function of the file the places of its arguments.
        beside, largest_seed, options: see `DataTask`.
    """

    MAKER = "generate_inputs"

    def __init__(
        self,
        path: Path,
        *,
        beside: Mapping[str, Path | None],
        parts: Mapping[str, Sequence[int]],
        largest_seed: int | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(path, beside=beside, largest_seed=largest_seed, options=options)
        self._parts = dict(parts)

    def _computed(self, arguments: Sequence[Any], *, double: bool) -> Any:  # noqa: ARG002
        module = self._file.module()
        return tuple(getattr(module, name)(*(arguments[one] for one in places)) for name, places in self._parts.items())
