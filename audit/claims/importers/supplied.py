"""Facts from the user that a source lacks, put into what was imported: tolerance, sizes, published ratios."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from audit.claims.importers import published, sizes
from audit.claims.importers.imported import Figure, Imported, Shapes, Tolerance
from audit.claims.importers.material import Given
from audit.model.errors import BadInput

SHOWN = {"tolerance": "--tolerance 1e-3", "shapes": "--shape N=64", "shapes.emulated": "--shape N=64"}
"""What to type for each essential key that the command line takes, with an example's value."""


def with_given(imported: Imported, given: Given) -> Imported:
    """Return the same with what the user says.

    Raises:
        BadInput: a tolerance or a ratio that is none, or a size that the claim does not name.
    """
    if given.tolerance is not None:
        if not 0 <= given.tolerance < math.inf:
            raise BadInput(f"--tolerance {given.tolerance:g}: a tolerance is finite and not negative")
        found = replace(imported, tolerance=Tolerance(given.tolerance, "given by the user when it was imported"))
        imported = _without(found, "tolerance")
    if given.claimed:
        figures = [
            Figure("the baseline", published.checked(ratio, where=f"--claimed {gpu}"), "ratio",
                   published.gpu_named(gpu), "given by the user when it was imported", by="the user")
            for gpu, ratio in given.claimed
        ]  # fmt: skip
        imported = _without(replace(imported, figures=(*figures, *imported.figures)), "speedup")
    return _with_shape(imported, given) if given.shape else imported


def to_type(imported: Imported, sources: Sequence[Path], folder: Path) -> str | None:
    """Return the line that supplies all that is missing, with example values; None where no options do."""
    keys = [one.key for one in imported.missing if one.essential]
    options = dict.fromkeys(SHOWN[key] for key in keys if key in SHOWN)
    typed = shlex.join(("audit", "import", *map(str, sources), "--to", f"{folder}_2"))
    return f"{typed} {' '.join(options)}" if keys and {*keys} <= {*SHOWN} else None


def _without(imported: Imported, key: str) -> Imported:
    return replace(imported, missing=tuple(one for one in imported.missing if one.key != key))


def _with_shape(imported: Imported, given: Given) -> Imported:
    """Return the claim at the given sizes; the others stay, and shapes for the emulated device are proposed anew.

    Where the task takes its sizes from a shape and names none, the given ones are all of them.
    """
    named = dict(given.shape)
    unstated = imported.shapes is None and any(one.key == "shapes" for one in imported.missing)
    stated = named if unstated else dict(imported.shapes.claimed) if imported.shapes else {}
    known = {} if stated == sizes.PLAIN else stated
    fixed = imported.reference.options.get("fixed", {}) if imported.reference else {}
    for name in named:
        if name not in known and name not in fixed:
            listed = ", ".join(known) or "none"
            raise BadInput(f"--shape {name}: no size of this claim; known: {listed}")
    wanted = {**known, **{name: size for name, size in named.items() if name in known}}
    if not unstated and (imported.shapes is None or wanted == known):
        return imported
    texts = [one.data.decode("utf-8", errors="replace") for one in imported.originals]
    found, choices = sizes.smaller(wanted, sources=texts)
    others = imported.shapes.others if imported.shapes else ()
    shapes = Shapes(found.claimed, others, found.emulated, emulated_by="importer")
    text = ", ".join(f"{name} = {size}" for name, size in wanted.items())
    kept = [one for one in imported.choices if not one.startswith("shapes.emulated")]
    given_here = f"shapes.claimed: {text}, given by the user when it was imported"
    imported = _without(replace(imported, shapes=shapes, choices=(given_here, *choices, *kept)), "shapes.emulated")
    return _without(imported, "shapes")
