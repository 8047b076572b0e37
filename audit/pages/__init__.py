"""The pages of `docs/` and the parts of other files that are made from the kit itself: `python -m audit.pages`.

Each is a pure function of the code, the claims and the published records, so that a test can hold what is committed to
what they say now.
"""

from __future__ import annotations

from pathlib import Path

from audit import claims
from audit.pages import forms, parts, probes, stamps, verdicts

ROOT = claims.KERNELS.parent


def pages() -> dict[Path, str]:
    """Every page by its path below the root, whole."""
    return {
        **{Path("docs/probes") / f"{name}.md": text for name, text in probes.pages().items()},
        **{Path("docs/verdicts") / f"{name}.md": text for name, text in verdicts.pages(ROOT / "reports").items()},
        Path("README.md"): parts.readme(_text("README.md"), notebooks=sorted((ROOT / "notebooks").glob("*.ipynb"))),
        **_notebooks(),
    }


def stale() -> list[Path]:
    """Pages that are not what the kit says now, and pages of probes or verdicts that are no more."""
    made = pages()
    known = {path for folder in ("probes", "verdicts") for path in (ROOT / "docs" / folder).glob("*.md")}
    extra = {path.relative_to(ROOT) for path in known} - set(made)
    return sorted(extra | {path for path, text in made.items() if _text(str(path)) != text})


def _notebooks() -> dict[Path, str]:
    """Every notebook with the choices of its form and the line about its last runs."""
    runs = stamps.read(ROOT)
    places = [path.relative_to(ROOT) for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]
    return {place: stamps.filled(forms.filled(_text(str(place))), name=place.stem, runs=runs) for place in places}


def _text(path: str) -> str:
    file = ROOT / path
    return file.read_text(encoding="utf-8") if file.exists() else ""
