"""The controls: every folder of claims whose `claim.toml` has a variant of role `known_bad` or `known_good`."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from audit import claims
from audit.claims import ClaimFolder
from audit.model import Variant

ROLES = ("known_bad", "known_good")
BLIND = "controls_blind"
"""Holds the controls of writers who had read the documentation alone: neither probes nor rules nor other controls."""
CLAIM = "triangular_mm"
WRONG, RIGHT = "claimed", "fixed_grid2d"
"""The two variants of the first claim whose answers are beyond doubt on any device."""
_COMMENT = re.compile(r"""^[\s/#*"']+""")


def folders(root: Path = claims.KERNELS, *, blind: bool = False) -> list[ClaimFolder]:
    """The claim folders at any depth below `root` that hold controls, sorted by path: all blind ones, or all others."""
    paths = [path.parent for path in sorted(root.rglob("claim.toml")) if (BLIND in path.parts) is blind]
    found = (claims.load(str(path)) for path in paths)
    return [folder for folder in found if any(variant.role in ROLES for variant in folder.claim.variant)]


def certain(root: Path = claims.KERNELS) -> ClaimFolder:
    """The first claim with nothing but its claimed kernel, which is wrong, and one repair, which is right."""
    return only(claims.load(str(root / CLAIM)), (WRONG, RIGHT))


def only(folder: ClaimFolder, names: tuple[str, ...]) -> ClaimFolder:
    """The folder as if it had no other variants than those named."""
    kept = tuple(variant for variant in folder.claim.variant if variant.name in names)
    statement = folder.claim.model_copy(update={"variant": kept})
    return replace(folder, audited=folder.audited.model_copy(update={"statement": statement}))


def mechanism(folder: ClaimFolder, variant: Variant) -> str:
    """The mechanism of a control, as the first line of its file says after its name."""
    lines = folder.source_of(variant).read_text(encoding="utf-8").splitlines()
    first = next((line for line in lines if line.strip()), "")
    text = _COMMENT.sub("", first).rstrip(" \"'")
    return text.removeprefix(f"{variant.name}:").strip()
