"""The choices in the forms of the notebooks: every claim with a claimed kernel, every published record."""

from __future__ import annotations

import json
import re

from audit import claims
from audit.apps.explore import choice


def filled(text: str) -> str:
    """A notebook's text with the lists of its form as they must be now."""
    text = _with(text, "claim", [name for name in claims.names() if claims.load(name).claim.claimed is not None])
    return _with(text, "audit", list(choice.records(claims.KERNELS.parent / "reports")))


def _with(text: str, parameter: str, names: list[str]) -> str:
    listed = json.dumps(names)[1:-1].replace('"', '\\"')
    return re.sub(rf'("{parameter} = \S.*?  # @param )\[.*?\]', lambda found: f"{found[1]}[{listed}]", text)
