"""The pages of `docs/` and the parts of other files that are made from the kit itself: `python -m audit.apps.pages`.

Each is a pure function of the code, the claims and the published records, so that a test can hold what is committed to
what they say now.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from audit import claims
from audit.apps.pages import described, self_test, tables
from audit.model.errors import BadInput

ROOT = claims.ROOT
WHOLE: Mapping[str, Callable[[], str]] = {
    "docs/probes.md": described.probes,
    "docs/review_rules.md": tables.review_rules,
    "docs/self_test.md": lambda: self_test.text(self_test.published(ROOT / "reports/self_test")),
}
"""Files that are made whole."""
Parts = Mapping[str, Mapping[str, Callable[..., str]]]
"""Files, and what makes each part of them that stands between two comments with its name."""
PARTS: Parts = {
    "README.md": {
        "notebooks": tables.badges,
        "self-test": lambda: self_test.part(ROOT / "reports/self_test"),
    },
    "docs/batch.md": {"states": tables.states},
    "docs/gallery.md": {
        "reports": lambda: tables.audits(ROOT / "reports"),
        "comparison": lambda: tables.compared(ROOT / "reports/triangular_mm", "h100", "emulated"),
    },
    "docs/index.md": {"first audit": lambda: tables.first_audit(ROOT / "reports/triangular_mm/h100")},
    "docs/importers.md": {"formats": tables.formats},
    "docs/notebooks.md": {"notebooks": lambda: tables.table(_notebooks())},
    "docs/verdicts.md": {"verdicts": lambda: described.verdicts(ROOT / "reports")},
}


def pages() -> dict[Path, str]:
    """Every page by its path below the root, whole."""
    runs = tables.runs(ROOT)
    return {
        **{Path(path): make() for path, make in WHOLE.items()},
        **{path.relative_to(ROOT): text for path, text in remade(PARTS).items()},
        **{
            path.relative_to(ROOT): tables.with_runs(tables.with_choices(_text(path)), name=path.stem, runs=runs)
            for path in _notebooks()
        },
    }


def stale() -> list[Path]:
    """Pages that are not what the kit says now."""
    return sorted(path for path, text in pages().items() if _text(ROOT / path) != text)


def between(text: str, made: str, *, part: str, file: str, by: str = "audit.apps.pages") -> str:
    """The text of a file with the lines of one part replaced; `by` is the script that the comment before it names.
    Raises BadInput: the two comments around the part do not stand there once each."""
    begin, end = f"<!-- {part}: printed by {by} -->\n", f"<!-- end of {part} -->\n"
    if text.count(begin) != 1 or text.count(end) != 1:
        raise BadInput(f"{file}: {begin.strip()} and {end.strip()} must stand there once each")
    return text.partition(begin)[0] + begin + made + end + text.partition(end)[2]


def remade(parts: Parts, *given: object, by: str = "audit.apps.pages") -> dict[Path, str]:
    """The text of each file with its parts made anew of what is given."""
    found = {}
    for name, makes in parts.items():
        text = _text(ROOT / name)
        for part, make in makes.items():
            made = make(*given)
            text = between(text, made if made.endswith("\n") else f"{made}\n", part=part, file=name, by=by)
        found[ROOT / name] = text
    return found


def _notebooks() -> list[Path]:
    return sorted((ROOT / "notebooks").glob("*.ipynb"))


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8") if file.exists() else ""
