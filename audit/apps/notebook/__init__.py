"""What the notebooks call: one function a cell, so that a notebook holds no code worth testing."""

from audit.apps.notebook.batch import BatchForm, batch, summary
from audit.apps.notebook.claim import ClaimForm, finish, report, start
from audit.apps.notebook.compare import CompareForm, compare, offer_page
from audit.apps.notebook.explore import ExploreForm, panel, record, stills
from audit.apps.notebook.kernel import KernelForm, start_kernel
from audit.apps.notebook.preflight import preflight
from audit.apps.notebook.results import card, figures, ladder, share
from audit.apps.notebook.sources import changes, source

__all__ = [
    "BatchForm",
    "ClaimForm",
    "CompareForm",
    "ExploreForm",
    "KernelForm",
    "batch",
    "card",
    "changes",
    "compare",
    "figures",
    "finish",
    "ladder",
    "offer_page",
    "panel",
    "preflight",
    "record",
    "report",
    "share",
    "source",
    "start",
    "start_kernel",
    "stills",
    "summary",
]
