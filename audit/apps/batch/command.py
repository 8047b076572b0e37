"""`audit batch`: one run over many claims, through screening stages if asked for, and through the audit notebook."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import time
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from audit import claims
from audit.apps.batch import items, parameters, state, summary
from audit.apps.batch.items import Collection
from audit.apps.batch.jobs import here, opened
from audit.apps.batch.notebooks import Notebooks
from audit.apps.batch.run import Run, Stage, held
from audit.apps.batch.state import ENDED
from audit.apps.commands.declare import Arg, Device
from audit.model.errors import AuditError, BadInput
from audit.report import terminal
from audit.report.progress import Progress

NOTEBOOK = claims.ROOT / "notebooks" / "audit_claim.ipynb"
ENGINES = ("local", "ray")
TIMEOUT_S = 1800.0
LEAST_FREE = 50 << 20
"""Bytes an audit may need for its record, report and log."""
CLAIMS = "claims"
SAME_WISH_S = 1.0
"""Seconds in which a second signal is taken for the first one, sent twice."""


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


def batch(  # noqa: PLR0913  # one argument an option
    places: Annotated[tuple[str, ...], Arg("claims, folders of them, datasets, or lists in a file", "COLLECTION")],
    *,
    screen: Annotated[bool, Arg("lint, source review and emulated probes first; whole audits of the rest")] = False,
    engine: Annotated[str, Arg("where audits run (default: local)", choices=ENGINES)] = "local",
    gpus: Annotated[str | None, Arg("GPUs of this machine, one audit at a time on each", "0,1")] = None,
    resume: Annotated[bool, Arg("leave finished audits as they are, run the others")] = False,
    out: Annotated[Path, Arg("default: out/batch", "DIR")] = Path("out/batch"),
    device: Device = "auto",
    timeout: Annotated[float, Arg("outer limit of an audit", "S", read=_seconds)] = TIMEOUT_S,
    jobs: Annotated[int | None, Arg("items at work at once (default: by cores and GPUs)", "N", read=_count)] = None,
    seed: Annotated[int | None, Arg("of all inputs, to reproduce the findings of a record", "N")] = None,
    parameters_: Annotated[Path | None, Arg("the notebook's parameters for all, as YAML", "FILE")] = None,
    notebook: Annotated[Path, Arg("instead of audit_claim.ipynb", "FILE")] = NOTEBOOK,
    gpu: Annotated[str | None, Arg("the GPU of rows of a dataset that name none", "NAME")] = None,
    unit: Annotated[str | None, Arg("of their times; default: read from the times themselves", "ms|us")] = None,
) -> int:
    """Runs the batch, writes the summary and returns the code of the worst state; see docs/batch.md.

    Raises:
        BadInput: nothing was run.
        AuditError: the batch could not go on; it can be resumed.
    """
    in_full = not screen or engine != "local" or here(device, gpus, jobs)[0] == "cuda"
    if in_full:
        _check_jupyter(notebook)
    common: parameters.Values = {} if screen else {"device": device}  # a screening goes on on another device
    if parameters_ is not None:
        common |= parameters.of_all(parameters_, parameters.defaults(notebook))
    collection = items.Reader(notebook, common, out / CLAIMS, gpu=gpu, unit=unit).read(places)

    about = {"Engine": engine, "Device asked for": device, "Limit": f"{timeout:g} s an audit"}

    def work(run: Run, held: int | None) -> None:
        stages = _screening(jobs) if screen else ()
        if not in_full:
            run.run(stages)
            return
        with opened(engine, device, gpus, jobs, out=out, held=held) as (place, used):
            about["Device of the audits"] = used
            run.collection = items.fitting(run.collection, used)
            run.run([*stages, Notebooks(out.resolve(), notebook.resolve(), used, timeout, place)])

    return _ran(collection, out, work, resume=resume, about=about, seed=seed)


def _screening(jobs: int | None) -> Sequence[Stage]:
    from audit.apps.batch.screening import STAGES  # an audit's imports, which a batch leaves to its notebooks

    return [replace(one, jobs=jobs) for one in STAGES]


def _ran(
    collection: Collection,
    out: Path,
    work: Callable[[Run, int | None], None],
    *,
    resume: bool,
    about: dict[str, str],
    seed: int | None,
) -> int:
    """Runs the stages and writes the summary, however they end; the exit code.

    `work` asks about the items, given the run and the descriptor that holds its lock.
    """
    with held(out) as hold:
        free = shutil.disk_usage(out).free
        if free < LEAST_FREE:
            there = f"{free >> 20} MB are free and an audit may need {LEAST_FREE >> 20}"
            raise BadInput(f"{out}: cannot be written ({os.strerror(errno.ENOSPC)}); {there}; make room, or --out")
        run = Run(collection, out, resume=resume, seed=seed, progress=Progress())
        write = partial(_summarise, run, out, about)
        with _terminated():  # until all is said: a signal may come twice
            try:
                work(run, hold.descriptor)
            except KeyboardInterrupt:
                write()
                done = sum(one.state in ENDED for one in run.items.values())
                terminal.warn(f"interrupted: {done} of {len(run.items)} finished; go on with --resume")
                return state.EXIT_CODES["not run"]
            except (AuditError, OSError) as error:
                with suppress(AuditError):  # the reason why the run stopped matters more than a page
                    write()
                if isinstance(error, AuditError):
                    raise
                what = "no space is left" if error.errno == errno.ENOSPC else f"cannot be written ({error.strerror})"
                kept = "what has finished is kept: mend that and go on with --resume"
                raise AuditError(f"{out}: {what}; {kept}") from error
        written = write()
    found = list(run.items.values())
    terminal.say("", *summary.text(run.state, found).splitlines())
    terminal.say(f"wrote {', '.join(map(str, written))}")
    return state.exit_code([one.state for one in found])


def _check_jupyter(notebook: Path) -> None:
    """Raises BadInput if papermill is missing, or Jupyter knows no kernel of the name the notebook asks for."""
    if find_spec("papermill") is None or find_spec("ipykernel") is None:
        raise BadInput("papermill or ipykernel is not installed; pip install 'kernel-claim-audit[batch]'")
    from jupyter_client.kernelspec import KernelSpecManager

    name = parameters.content(notebook)["metadata"].get("kernelspec", {}).get("name", "python3")
    known = sorted(KernelSpecManager().find_kernel_specs())
    if name not in known:
        advice = f"python -m ipykernel install --sys-prefix --name {name}"
        there = ", ".join(known) or "none"
        raise BadInput(f"{notebook}: asks for the kernel {name!r}, Jupyter knows {there}; {advice}")


@contextmanager
def _terminated() -> Iterator[None]:
    """SIGTERM in the body is as Ctrl-C: schedulers send it, and a batch ends as orderly then. One that comes again at
    once is of the same wish: `timeout` sends it to the process and to its group."""
    quiet_until = 0.0

    def interrupt(*_: object) -> None:
        nonlocal quiet_until
        if time.monotonic() > quiet_until:
            quiet_until = time.monotonic() + SAME_WISH_S
            raise KeyboardInterrupt

    signals = [one for one in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(one) != signal.SIG_IGN]
    before = {one: signal.signal(one, interrupt) for one in signals}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _summarise(run: Run, out: Path, about: dict[str, str]) -> list[Path]:
    try:
        return summary.write(run.state, list(run.items.values()), out, about=about)
    except OSError as error:
        why = f"{out}: the summary cannot be written ({error.strerror})"
        raise AuditError(f"{why}; every result is kept: make room and go on with --resume") from error
