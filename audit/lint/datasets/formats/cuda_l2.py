"""CUDA-L2: one row a shape of a half-precision matrix product, ratios over four libraries, one file a GPU and mode.

Source of the columns: eval_results/ of https://github.com/deepreinforce-ai/CUDA-L2. A file's name gives the GPU, the
types of sums and operands, and whether calls were timed back to back (offline) or with pauses (server). The columns
`-tn` and `-nn` are the two layouts of one baseline; `-max` is the ratio over the faster of them, and is read here.
The release has a `.cu` file for every row.
"""

from __future__ import annotations

import pandas as pd

from audit.claims.importers.tables import Table
from audit.lint.datasets.dataset import RATIO, completed
from audit.lint.datasets.format import Format, labels
from audit.model import gpus

RATIOS = {
    "torch.matmul": "torch.matmul",
    "cuBLAS-max": "cuBLAS",
    "cuBLASLt-heuristic-max": "cuBLASLt-heuristic",
    "cuBLASLt-auto-tuning-max": "cuBLASLt-AutoTuning",
}
ITEM_BYTES = 2


def convert(table: Table) -> pd.DataFrame:
    """See `Format.convert`; a row whose shape is not three sizes has no work."""
    frame = table.frame
    named = table.path.name.partition(".")[0].split("_")  # cuda_l2_<gpu>_<types>_speedup_<mode>
    gpu, types, mode = (named[2], named[3], named[-1]) if len(named) == 6 else ("", "", "")
    sizes = labels(frame, "mnk").str.extract(r"^(\d{1,7})_(\d{1,7})_(\d{1,7})$").astype(float)
    m, n, k = (sizes[place] for place in range(3))
    rows = {
        "level": f"{types}, {mode}" if types else "",
        "task": labels(frame, "mnk"),
        "has_code": True,
        "flops": 2 * m * n * k,
        "bytes": ITEM_BYTES * (m * k + k * n + m * n),
    }
    rows |= {"gpu": gpus.described(gpu)} if gpu else {}
    ratios = {RATIO + name: frame[column] for column, name in RATIOS.items() if column in frame}
    return completed(pd.DataFrame({**rows, **ratios}, index=frame.index))


FORMAT = Format(
    name="CUDA-L2",
    needs=("mnk", "torch.matmul"),
    figures=tuple(RATIOS),
    others=("mnk",),
    baselines=tuple(RATIOS.values()),
    sources=(),
    convert=convert,
)
