"""The whole audit on a GPU, for what no cheaper stage settled: every probe again, then times."""

from __future__ import annotations

import io

from audit.apps.funnel.collection import Item
from audit.apps.funnel.stage import Setting, Stage, claimed_of
from audit.apps.funnel.state import Passage
from audit.audit import Audit
from audit.build.cuda import gpu
from audit.build.devices import choose
from audit.report.progress import Progress
from audit.run.environment import processor_and_cores


def ask(item: Item, setting: Setting) -> Passage:
    """Settled by any verdict but `undecided`; the record and its report stay."""
    folder = claimed_of(item)
    out = setting.records / item.key / "cuda"
    silent = Progress(io.StringIO())
    with Audit(folder, choose("cuda", folder.claim), out, entropy=setting.seed, progress=silent) as audit:
        verdict = audit.run().verdict
    if verdict.name == "undecided":
        return Passage(stage="gpu", outcome="passed on", reasons=verdict.missing or verdict.reasons)
    return Passage(stage="gpu", outcome="settled", verdict=verdict.name, reasons=verdict.reasons)


def where() -> str:
    """The GPU at hand and the machine around it."""
    return f"{gpu.find().name}; {processor_and_cores()}"


STAGE = Stage(
    "gpu",
    "GPU",
    "asks every probe on the GPU and times the kernel beside its baselines, one item at a time; settles what its "
    "verdict decides, right and fast included",
    ask,
    where=where,
)
