"""`audit batch` from its options to its exit code."""

from __future__ import annotations

import os
import shutil
import signal
from argparse import ArgumentTypeError
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from audit import claims
from audit.apps.batch import collection, parameters, states, summary
from audit.apps.batch.collection import Item
from audit.apps.batch.engine import A_GPU, Engine, LocalEngine
from audit.apps.batch.folder import BatchFolder, held
from audit.apps.batch.progress import Told
from audit.apps.batch.run import Batch, Plan
from audit.apps.batch.states import Entry
from audit.apps.commands.declare import Arg, Device
from audit.build.cuda import toolchain
from audit.model.errors import AuditError, BadInput
from audit.report import terminal

NOTEBOOK = claims.KERNELS.parent / "notebooks" / "audit_claim.ipynb"
ENGINES = ("local", "ray")
TIMEOUT_S = 1800.0
INTERRUPTED = 130
LEAST_FREE = 50 << 20
"""Bytes an audit may need for its record, report and log."""


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise ArgumentTypeError(f"{text} is no limit in seconds")
    return value


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ArgumentTypeError(f"{text} is no number of audits")
    return value


@dataclass(frozen=True)
class Options:
    """What the command line says; None for `gpus` and `jobs` where it does not."""

    places: tuple[str, ...]
    out: Path
    engine: str
    device: str
    gpus: str | None
    jobs: int | None
    timeout_s: float
    resume: bool
    notebook: Path
    parameters: Path | None


def batch(  # noqa: PLR0913  # one argument an option
    places: Annotated[tuple[str, ...], Arg("claims, folders of them, or lists in a file", "COLLECTION")],
    *,
    engine: Annotated[str, Arg("where audits run (default: local)", choices=ENGINES)] = "local",
    gpus: Annotated[str | None, Arg("GPUs of this machine, one audit at a time on each", "0,1")] = None,
    resume: Annotated[bool, Arg("leave finished audits as they are, run the others")] = False,
    out: Annotated[Path, Arg("default: out/batch", "DIR")] = Path("out/batch"),
    device: Device = "auto",
    timeout: Annotated[float, Arg("outer limit of an audit", "S", read=_seconds)] = TIMEOUT_S,
    jobs: Annotated[int | None, Arg("audits at work at once (default: cores and one)", "N", read=_count)] = None,
    parameters: Annotated[Path | None, Arg("the notebook's parameters for all, as YAML", "FILE")] = None,
    notebook: Annotated[Path, Arg("instead of audit_claim.ipynb", "FILE")] = NOTEBOOK,
) -> int:
    """Returns the code of the worst state; see docs/batch.md."""
    return execute(
        Options(places=places, out=out, engine=engine, device=device, gpus=gpus, jobs=jobs, timeout_s=timeout,
                resume=resume, notebook=notebook, parameters=parameters)
    )  # fmt: skip


def execute(options: Options) -> int:
    """Runs the batch, writes the summary and returns the exit code.

    Raises:
        BadInput: nothing was run.
        AuditError: the batch could not go on; it can be resumed.
    """
    items, notebook = _items(options), options.notebook.resolve()
    with held(options.out, resume=options.resume) as lock:
        folder = BatchFolder(options.out.resolve(), notebook=notebook)
        _room(options.out)
        open_items = [item for item in items if folder.finished(item) is None]
        told = Told(len(items), skipped=len(items) - len(open_items))
        try:
            with _terminated():
                if open_items:
                    _run(open_items, options, folder, lock, told)
        except KeyboardInterrupt:
            entries = _summarised(items, folder, options)
            finished = sum(entry.state == "finished" for entry in entries)
            terminal.warn(f"interrupted: {finished} of {len(items)} finished; go on with --resume")
            return INTERRUPTED
        except AuditError:
            with suppress(AuditError):  # what stopped the batch matters more than a page that cannot be written
                _summarised(items, folder, options)
            raise
        entries = _summarised(items, folder, options)
    terminal.say("", str(options.out / "summary.html"))
    for state, verdict, number in summary.counts(entries):
        terminal.say(f"  {number:4d} {state}{': ' + verdict if verdict else ''}")
    return states.exit_code([entry.state for entry in entries])


def _items(options: Options) -> list[Item]:
    if find_spec("papermill") is None or find_spec("ipykernel") is None:
        raise BadInput("papermill or ipykernel is not installed; pip install 'kernel-claim-audit[batch]'")
    known = parameters.defaults(options.notebook)
    _kernel_there(options.notebook)
    common: parameters.Values = {"device": options.device}
    if options.parameters is not None:
        own = {name: value for name, value in known.items() if name not in parameters.OURS}
        told = parameters.table(options.parameters)
        if not isinstance(told, dict):
            raise BadInput(f"{options.parameters}: must hold parameters of the notebook by name")
        common |= parameters.checked(told, own, str(options.parameters))
    return collection.items(options.places, known=known, common=common)


def _kernel_there(notebook: Path) -> None:
    """Raises BadInput if Jupyter knows no kernel of the name the notebook asks for."""
    from jupyter_client.kernelspec import KernelSpecManager

    name = parameters.content(notebook)["metadata"].get("kernelspec", {}).get("name", "python3")
    known = sorted(KernelSpecManager().find_kernel_specs())
    if name not in known:
        advice = f"python -m ipykernel install --sys-prefix --name {name}"
        raise BadInput(
            f"{notebook}: asks for the kernel {name!r}, Jupyter knows {', '.join(known) or 'none'}; {advice}"
        )


def _run(items: Sequence[Item], options: Options, folder: BatchFolder, lock: int, told: Told) -> None:
    with _engine(items, options, folder, lock) as (engine, device):
        plan = Plan(notebook=options.notebook.resolve(), device=device, limit_s=options.timeout_s)
        Batch(items, plan, engine=engine, folder=folder, told=told).run()


@contextmanager
def _engine(items: Sequence[Item], options: Options, folder: BatchFolder, lock: int) -> Iterator[tuple[Engine, str]]:
    """The engine and the device its audits are told; ended whatever happens."""
    engine: Engine
    if options.engine == "ray":
        from audit.apps.batch.ray_engine import RayEngine

        ray = RayEngine(jobs=options.jobs, device=options.device)
        engine, device = ray, ray.device
    else:
        device, gpus = _where(options)
        _agree(items, device)  # before anything is started
        jobs = options.jobs or default_jobs()
        engine = LocalEngine(jobs=jobs, gpus=gpus, locks=folder.path, held=lock)
    try:
        _agree(items, device)
        yield engine, device
    finally:
        engine.close()


def _agree(items: Sequence[Item], device: str) -> None:
    """Raises BadInput if an entry of a list asks for a GPU where the batch has none."""
    odd = next((item for item in items if device == "emulated" and item.values["device"] == "cuda"), None)
    if odd is not None:
        raise BadInput(f"{odd.name}: asks for the device cuda, and this batch runs on the emulated device")


def default_jobs() -> int:
    """One more than there are cores: an audit is not at work all the time."""
    return (os.cpu_count() or 1) + 1


@contextmanager
def _terminated() -> Iterator[None]:
    """SIGTERM in the body is as Ctrl-C: schedulers send it, and a batch ends as orderly then."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _where(options: Options) -> tuple[str, list[str]]:
    """The device, and the GPUs to use where it is one."""
    reason = toolchain.missing()
    device = options.device if options.device != "auto" else "emulated" if reason else "cuda"
    if device == "emulated":
        if options.gpus is not None:
            raise BadInput(
                f"--gpus {options.gpus}: the audits run on the emulated device ({reason or '--device emulated'})"
            )
        return device, []
    if reason is not None:
        raise BadInput(reason)
    told = options.gpus or os.environ.get("CUDA_VISIBLE_DEVICES") or "0"
    gpus = [gpu.strip() for gpu in told.split(",") if gpu.strip()]
    if not gpus or len(set(gpus)) < len(gpus):
        raise BadInput(f"--gpus {told}: name each GPU once, as in --gpus 0,1")
    if options.jobs not in (None, A_GPU * len(gpus)):
        raise BadInput(f"--jobs {options.jobs}: on GPUs it is {A_GPU} for each, of which one uses it; leave --jobs out")
    return device, gpus


def _room(out: Path) -> None:
    free = shutil.disk_usage(out).free
    if free < LEAST_FREE:
        raise BadInput(f"{out}: {free >> 20} MB are free and an audit may need {LEAST_FREE >> 20}; make room, or --out")


def _summarised(items: Sequence[Item], folder: BatchFolder, options: Options) -> list[Entry]:
    """The entries in the order of the collection, with the pages written from them."""
    kept = [folder.entry(item) or folder.fresh(item, reason="not started") for item in items]
    about = {"Engine": options.engine, "Device asked for": options.device, "Limit": f"{options.timeout_s:g} s an audit"}
    try:
        summary.write(kept, folder.path, about=about)
    except OSError as error:
        why = f"{folder.path}: the summary cannot be written ({error.strerror})"
        raise AuditError(f"{why}; every result is kept: make room and go on with --resume") from error
    return kept
