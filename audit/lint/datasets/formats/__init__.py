"""The formats of datasets, one a file. The table is the list of what is known, tried in this order."""

from __future__ import annotations

from collections.abc import Sequence

from audit.lint.datasets.format import Format
from audit.lint.datasets.formats import archive, cuda_l1, cuda_l2, kernelbench
from audit.model.errors import BadInput

_TABLE = (archive, cuda_l1, cuda_l2, kernelbench)
FORMATS: dict[str, Format] = {one.FORMAT.name: one.FORMAT for one in _TABLE}


def recognised(columns: Sequence[str], *, file: str) -> Format:
    """Return the format whose columns these are.

    Raises:
        BadInput: none; says which columns each would need.
    """
    found = next((one for one in FORMATS.values() if set(one.needs) <= set(columns)), None)
    if found is not None:
        return found
    needs = "; ".join(f"{one.name}: {', '.join(one.needs)}" for one in FORMATS.values())
    raise BadInput(f"{file}: no known dataset has columns {', '.join(columns) or 'none'}; needed for {needs}")
