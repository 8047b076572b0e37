"""CUDA-L1: one JSONL row, or one entry of `codes/*.json`, is one claim about one KernelBench task.

A score is baseline time / kernel time, one for each of five baselines; the GPU stands in the file's name alone. A null
`custom_code` is a task that was not solved.
"""

from __future__ import annotations

import re
from dataclasses import replace

from audit.claims.importers import module_task, published
from audit.claims.importers.facts import NO_FIGURES, Figure, Given, Imported, Original
from audit.claims.importers.material import Material
from audit.claims.importers.tables import Row, chosen
from audit.model import Harness, gpus
from audit.model.errors import BadInput

TAKES = "a row with `ref_code` and `custom_code` (JSONL), or `codes/*.json` of lists of such rows under their level"
LACKS = ("reference.py cost",)
TASK, CODE = "ref_code", "custom_code"
SCORES = {
    "score_default": "eager",
    "score_torch_compile_default": "torch.compile, default",
    "score_torch_compile_reduce_overhead": "torch.compile, reduce-overhead",
    "score_cuda_graph": "CUDA graph",
    "score_cudnn": "cuDNN",
}
COLUMNS = ("level_id", "task_id", "key", TASK, CODE)
STEPS = (
    "torch.allclose with atol = rtol = 1e-2, both modules in eval mode",
    "score = baseline time / kernel time, one for each of five baselines",
)
NOTHING = ("None", "null", "nan")
"""Texts that stand for no code, where a table was written from values."""
EVALUATION = Harness(mode="eval")
"""Of its `eval/eval_cuda.py` (2025), which calls `eval()` on both modules before it compares them."""


def matches(material: Material) -> bool:
    """Return whether a table has `ref_code` and `custom_code`."""
    return any(TASK in columns and CODE in columns for columns in material.columns.values())


def read(material: Material, given: Given) -> Imported:
    """Return the row that the user means. Raises BadInput for no such row, no code, or a score that is none."""
    path = material.table_with(CODE)
    row = chosen(path, given, columns=COLUMNS, positive=SCORES)
    code, task = row.text(CODE), row.text(TASK)
    if code is None or code.strip() in NOTHING:
        raise BadInput(
            f"{path}: row {row.number}, column {CODE}: MISSING, empty or the text None, so the row claims nothing; "
            "choose another row"
        )
    found = module_task.imported(
        "cuda_l1",
        task=None if task is None else Original("ref.py", task.encode(), f"{row.where} column {TASK}"),
        solution=Original("custom.py", code.encode(), f"{row.where} column {CODE}"),
    )
    figures = _figures(row, given, _gpu(path.name))
    name = "_".join(
        ["cuda_l1", *(str(row.cells[each]) for each in ("key", "level_id", "task_id") if row.cells.get(each))]
    )
    text = replace(
        found,
        name=module_task.named_after(name),
        title=f"CUDA-L1, level {row.cells.get('level_id') or row.cells.get('key')}, task {row.cells.get('task_id')}",
        authors="deepreinforce-ai",
        published="2025",
        url="https://github.com/deepreinforce-ai/CUDA-L1",
        steps=STEPS,
        harness=EVALUATION,
        rejected=row.rejected,
    )
    return text.with_figures(figures, [] if figures else [NO_FIGURES])


def _figures(row: Row, given: Given, gpu: str | None) -> list[Figure]:
    """Return the score over eager torch first, since that is the one the claim makes."""
    return [
        published.ratio(about, value, given=given, gpu=gpu, where=f"{row.where} column {column}")
        for column, about in SCORES.items()
        if (value := row.number_in(column)) is not None
    ]


def _gpu(file: str) -> str | None:
    """Return the GPU that a file's name holds, `A100` for `a100.jsonl`; None for a GPU not in the table."""
    words = {word.upper() for word in re.split(r"[^A-Za-z0-9]+", file)}
    return next((name for name in gpus.table() if name.upper().replace("RTX ", "") in words), None)
