"""`audit funnel`: the collection, the stages this machine has, the run, and the summary."""

from __future__ import annotations

from pathlib import Path

from audit.build import cuda_toolchain
from audit.errors import BadInput
from audit.funnel import collection, page
from audit.funnel.run import Funnel
from audit.funnel.stage import Stage
from audit.funnel.stages import STAGES
from audit.progress import Progress


def execute(path: Path, out: Path, *, device: str, resume: bool, seed: int | None) -> int:
    """Returns 0 when every stage has had what was left, whatever it found.

    Args:
        path: a folder of claim folders.
        out: the folder of the funnel.
        device: "auto" ends with a GPU where there is one, "emulated" without, "cuda" needs one.
        resume: go on with what lies in `out`.
        seed: of all inputs.
    """
    funnel = Funnel(collection.of_folder(path), out, resume=resume, seed=seed)
    funnel.run(stages_for(device), progress=Progress())
    written = page.write(funnel.state, list(funnel.items.values()), out)
    print("\n" + page.text(funnel.state, list(funnel.items.values())))
    print(f"wrote {', '.join(str(file) for file in written)}")
    return 0


def stages_for(device: str) -> tuple[Stage, ...]:
    """The stages for that choice. Raises BadInput where a GPU is asked for and cannot be used; says what is missing."""
    missing = cuda_toolchain.missing()
    if device == "cuda" and missing is not None:
        raise BadInput(f"--device cuda: {missing}; with --device emulated the GPU stage waits for --resume elsewhere")
    if device == "emulated" or missing is not None:
        return tuple(stage for stage in STAGES if stage.name != "gpu")
    return STAGES
