"""`audit funnel`: the collection, the stages this machine has, the run, and the summary."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from audit import claims
from audit.apps.commands.declare import Arg
from audit.apps.funnel import collection, page
from audit.apps.funnel.collection import Collection
from audit.apps.funnel.run import Funnel
from audit.apps.funnel.stage import Stage
from audit.apps.funnel.stages import STAGES
from audit.build.cuda import toolchain
from audit.build.devices import CHOICES
from audit.model.errors import BadInput
from audit.model.run_directory import room
from audit.report import terminal
from audit.report.progress import Progress

CLAIMS = "claims"


def funnel(  # noqa: PLR0913  # one argument an option
    path: Annotated[Path, Arg("a folder of claim folders, or a dataset as `audit lint` takes it", "PATH")],
    *,
    out: Annotated[Path, Arg("folder for states, records and summary", "DIR")],
    device: Annotated[str, Arg("emulated: no GPU stage (default: auto)", choices=CHOICES)] = "auto",
    resume: Annotated[bool, Arg("go on with what lies in DIR")] = False,
    seed: Annotated[int | None, Arg("of all inputs, to reproduce the findings of a record", "N")] = None,
    gpu: Annotated[str | None, Arg("the GPU of rows that name none", "NAME")] = None,
    unit: Annotated[str | None, Arg("of their times; default: read from the times themselves", "ms|us")] = None,
) -> int:
    """Returns 0 when every stage has had what was left, whatever it found.

    Raises:
        BadInput: the folder cannot be written, or as `Funnel`; what was asked before is kept.
    """
    with room(out):
        items = Funnel(_collection(path, out, gpu=gpu, unit=unit), out, resume=resume, seed=seed)
        items.run(stages_for(device), progress=Progress())
        written = page.write(items.state, list(items.items.values()), out)
    terminal.say("", *page.text(items.state, list(items.items.values())).splitlines())
    terminal.say(f"wrote {', '.join(str(file) for file in written)}")
    return 0


def _collection(path: Path, out: Path, *, gpu: str | None, unit: str | None) -> Collection:
    if path.is_dir() and claims.names(path):
        return collection.of_folder(path)
    from audit.apps.funnel import rows  # pandas takes half a second that a folder of claims need not wait

    return rows.of_dataset(path, out / CLAIMS, gpu=gpu, unit=unit)


def stages_for(device: str) -> tuple[Stage, ...]:
    """The stages for that choice. Raises BadInput where a GPU is asked for and cannot be used; says what is missing."""
    missing = toolchain.missing()
    if device == "cuda" and missing is not None:
        raise BadInput(f"--device cuda: {missing}; with --device emulated the GPU stage waits for --resume elsewhere")
    if device == "emulated" or missing is not None:
        return tuple(stage for stage in STAGES if stage.name != "gpu")
    return STAGES
