"""The sources of a claim as a notebook shows them: the claimed one, and what each variant of ours changes in it."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

from audit.apps.notebook.shown import Markdown, table
from audit.claims import ClaimFolder
from audit.model import sanitizer
from audit.report import markdown
from audit.report.quantities import number

MOST_SHOWN = 200_000
"""Characters of a source in a cell."""
UNMODIFIED = {
    "verbatim": "the published text, compiled unmodified",
    "reconstruction": "our reconstruction of the published mechanism, compiled unmodified",
}
OURS = ("ablation", "repair")


def source(folder: ClaimFolder) -> Markdown:
    """The claimed source with its SHA-256, as the audit compiles it."""
    claim, claimed = folder.claim, folder.claim.claimed
    if claimed is None:
        return Markdown("This folder holds no claimed kernel.")
    digest = next(one.sha256 for one in folder.audited.sources if one.file == claimed.file)
    language = "python" if claimed.file.endswith(".py") else "cuda"
    head = f"`{claimed.file}`: {UNMODIFIED[claim.source.fidelity]}. SHA-256 `{digest}`"
    return Markdown(f"{head}\n\n{_fenced(_text(folder.source_of(claimed)), language)}")


def changes(folder: ClaimFolder) -> Markdown:
    """Every ablation and repair against the claimed source: what it changes, in how many lines, and these, folded."""
    claimed = folder.claim.claimed
    if claimed is None:
        return table((), ())
    before, rows, folded = _text(folder.source_of(claimed)), [], []
    for variant in (one for one in folder.claim.variant if one.role in OURS):
        lines = _difference(before, _text(folder.source_of(variant)))
        counts = [number(sum(line[0] == sign for line in lines)) for sign in "-+"]
        rows.append((variant.file, " and ".join(variant.changes) or variant.technique, *counts))
        summary = markdown.tag(f"{variant.file} against {claimed.file}")
        shown = _fenced("\n".join(lines), "diff")
        folded.append(f"<details><summary>{summary}</summary>\n\n{shown}\n\n</details>")
    columns = ("File", "Changes against the claimed source", "Lines removed", "Lines added")
    return Markdown("\n\n".join([table(columns, rows, numeric=(2, 3)), *folded]))


def _difference(before: str, after: str) -> list[str]:
    """The lines of a unified diff, without the names of the files above them."""
    return list(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=2))[2:]


def _fenced(text: str, language: str) -> str:
    """A fenced block no text can end; a very long one ends with how much is left."""
    left = len(text) - MOST_SHOWN
    told = text if left <= 0 else f"{text[:MOST_SHOWN]}\n… and {left:,} more characters in the file"
    fence = "`" * (3 + max(map(len, re.findall("`+", told)), default=0))
    return f"{fence}{language}\n{told.rstrip()}\n{fence}"


def _text(path: Path) -> str:
    """The source as a compiler reads it: what an editor hides is named."""
    return sanitizer.told(path.read_text(encoding="utf-8"))
