"""Hints from the claimed source alone. Settles nothing, since a hint never convicts; orders what comes next."""

from __future__ import annotations

from audit.apps.funnel.collection import Item
from audit.apps.funnel.stage import Setting, Stage, claimed_of
from audit.apps.funnel.state import Passage
from audit.review.hints import review_python, review_source

MOST_REASONS = 4


def ask(item: Item, _: Setting) -> Passage:
    """Passed on with its hints."""
    folder = claimed_of(item)
    (variant,) = folder.claim.variant
    text = folder.source_of(variant).read_text(encoding="utf-8")
    reviewed = review_python if variant.file.endswith(".py") else review_source
    found = [one for one in reviewed(text, target=variant.name, precision=variant.precision) if one.outcome == "fail"]
    reasons = tuple(f"line {one.line}: {one.probe}: {one.summary}" for one in found[:MOST_REASONS])
    return Passage(stage="review", outcome="passed on", reasons=reasons, hints=len(found))


STAGE = Stage(
    "review",
    "Source review",
    "reads the claimed source; settles nothing, since a hint never convicts. Sources with most hints go on first",
    ask,
)
