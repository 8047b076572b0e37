"""The functions that the notebooks call, one a cell, so that a notebook holds no code worth testing."""

from audit.apps.notebook.claim import BatchForm, ClaimForm, KernelForm, batch, start, start_kernel, summary
from audit.apps.notebook.preflight import preflight
from audit.apps.notebook.records import CompareForm, ExploreForm, compare, offer_page, panel, record, stills
from audit.apps.notebook.results import card, changes, figures, ladder, run, source

__all__ = [
    "BatchForm", "ClaimForm", "CompareForm", "ExploreForm", "KernelForm", "batch", "card", "changes", "compare",
    "figures", "ladder", "offer_page", "panel", "preflight", "record", "run", "source", "start", "start_kernel",
    "stills", "summary",
]  # fmt: skip
