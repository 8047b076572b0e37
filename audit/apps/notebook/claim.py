"""The audit of one claim, cell by cell: a claim folder, or a kernel and its reference as two files; and of many.

A batch is the same as `audit batch`, its summary a table.
"""

from __future__ import annotations

import csv
import hashlib
import json
import platform
import tempfile
from dataclasses import replace
from pathlib import Path

from audit import claims
from audit.apps import bundle
from audit.apps.batch import command, parameters
from audit.apps.batch import summary as pages
from audit.apps.notebook import form as forms
from audit.apps.notebook.form import AuditForm, OneAuditForm
from audit.apps.notebook.shown import Markdown, bar, fetched, offer_folder, table, uploaded
from audit.audit import Audit
from audit.build.device import choose, secondary_devices
from audit.claims import ClaimFolder, importers
from audit.claims.importers import writer
from audit.claims.importers.facts import Given, Imported
from audit.model.errors import BadInput
from audit.report import terminal
from audit.report.progress import Progress
from audit.sandbox import filters

FORMATS = ("md", "html", "comment", "openreview")
NAME = "your_kernel"
FETCHED = "fetched"


class ClaimForm(OneAuditForm):
    """The fields of `audit_claim.ipynb`; `claim` is a name of `audit list` or the path of a claim folder."""

    NOTEBOOK = "audit_claim"
    claim: str


def start(form: ClaimForm) -> Audit:
    """Opens the audit; its workers end with the kernel or with `finish`. Raises BadInput: the claim does not exist, or
    the device cannot be used here."""
    loaded = claims.load(form.claim)
    return opened(form, loaded, forms.folder(form, loaded.claim.name))


def opened(form: OneAuditForm, loaded: ClaimFolder, out: Path, **used: str | bool) -> Audit:
    """The audit of a loaded claim as the form asks; `parameters.yaml` in its folder asks for the same again.

    `used` are fields of the form that mean something else the next time, as they must be then.
    """
    if form.network_off:
        cut_network()
    device = choose(form.device, loaded.claim)
    progress = Progress(watch=bar(wanted=form.interactive))
    seed, others = form.seed or None, secondary_devices(device, loaded.claim)
    audit = Audit(loaded, device, out, beside=others, entropy=seed, rounds=form.rounds, progress=progress)
    file = out / parameters.FILE
    known = {"device": device.describe().kind, "seed": audit.seed, "out": "", "copy_to": "", "interactive": False}
    try:
        parameters.write({**form.model_dump(), **known, **used}, file)
    except OSError as error:
        audit.close()
        raise BadInput(f"{file}: cannot be written ({error.strerror}); choose another folder") from error
    return audit


def finish(audit: Audit, form: OneAuditForm) -> Path:
    """Ends the workers, writes the evidence as one zip, and returns it; says how to do the same again."""
    audit.close()
    terminal.say(f"the same again: papermill -f {audit.out / parameters.FILE} {form.NOTEBOOK}.ipynb executed.ipynb")
    return bundle.make(audit.out, claim=audit.folder.path)


def cut_network() -> None:
    """Takes the network from this thread and all it starts from now on; no rights are needed for it.

    The sockets the kernel has already stay, over which it talks to the browser. Raises BadInput: this machine has no
    such filter."""
    try:
        filters.install(filters.offline(platform.machine()))
    except KeyError:
        raise BadInput(f"parameter network_off: not known how on {platform.machine()}; leave it off") from None
    except OSError as error:
        why = f"this machine offers no filter of system calls ({error.strerror})"
        raise BadInput(f"parameter network_off: {why}; leave it off") from error


class KernelForm(OneAuditForm):
    """The fields of `your_kernel.ipynb`.

    `kernel` and `reference` are paths or web addresses; `upload` asks for both files instead. A `claimed_ratio` of 0
    means that none was published; else `claimed_gpu` names the GPU it was published for.
    """

    NOTEBOOK = NAME
    kernel: str = "your_kernel.cu"
    reference: str = "your_reference.py"
    upload: bool = False
    claimed_ratio: float = 0.0
    claimed_gpu: str = ""


def start_kernel(form: KernelForm) -> Audit:
    """Imports the two files and opens their audit; prints findings, choices and missing parts. Raises BadInput: a file
    is missing, is not what it should be, or lacks something no audit can do without."""
    out = forms.folder(form, NAME)
    named = (form.kernel, form.reference)
    sources = uploaded(form) if form.upload else [fetched(place, out / FETCHED) for place in named]
    imported = importers.read(sources, given=Given(claimed=_claimed(form), named=lambda *_: "parameter claimed_ratio"))
    if not imported.auditable:
        raise BadInput(f"{imported.provenance}: not enough for an audit: {imported.blocking()}")
    loaded = _folder(imported, out)
    terminal.say(*importers.lines(imported, loaded.path))
    return opened(form, loaded, out, **_files(sources), upload=False)


def _claimed(form: KernelForm) -> tuple[tuple[str, float], ...]:
    """The ratio that was published, by its GPU, where the form states one."""
    if form.claimed_ratio < 0 or (form.claimed_ratio and not form.claimed_gpu):
        raise BadInput("parameter claimed_ratio: give a ratio above 0, and the GPU it was published for in claimed_gpu")
    return ((form.claimed_gpu, form.claimed_ratio),) if form.claimed_ratio else ()


def _files(sources: list[Path]) -> dict[str, str]:
    """The form's fields for those files: what was uploaded has the names it had."""
    kernels = [path for path in sources if path.suffix == ".cu"]
    references = [path for path in sources if path not in kernels]
    return {"kernel": str((kernels or sources)[0]), "reference": str((references or sources)[-1])}


def _folder(imported: Imported, out: Path) -> ClaimFolder:
    """The claim folder of exactly these sources and figures; one that is there already is used again."""
    text = repr((imported.figures, [original.sha256 for original in imported.originals]))
    place = out / f"{NAME}_{hashlib.sha256(text.encode()).hexdigest()[:8]}"
    if not place.exists():
        writer.write(replace(imported, title="Your kernel"), place)
    return claims.load(str(place))


BATCH = "batch"


class BatchForm(AuditForm):
    """The fields of `batch.ipynb`.

    `collection` holds names of claims, claim folders, folders of them or list files, separated by blanks; relative
    ones are looked up here first and then in the kit. `jobs` 0 leaves the number to the kit. `limit_s` is the outer
    limit of one audit in seconds.
    """

    collection: str
    jobs: int = 0
    limit_s: int = 1800
    resume: bool = False


def batch(form: BatchForm) -> Path:
    """Runs the batch, then offers its folder as one zip; returns the folder. Raises BadInput: the collection is empty
    or unknown, or the folder holds a batch that is not to be resumed."""
    out = forms.folder(form, BATCH)
    if form.jobs < 0 or form.limit_s <= 0:
        raise BadInput("parameters jobs and limit_s: at least 0 audits at once, and more than 0 seconds for each")
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump({"language": form.language, "network_off": form.network_off}, file)
        file.flush()
        code = command.batch(
            tuple(_place(word) for word in form.collection.split()),
            out=out,
            device=form.device,
            jobs=form.jobs or None,
            timeout=float(form.limit_s),
            resume=form.resume,
            parameters_=Path(file.name),
        )
    terminal.say(f"exit code {code}: the worst state of any audit, whatever its verdict")
    offer_folder(out, form)
    return out


def summary(folder: Path) -> Markdown:
    """One row a claim of the batch in that folder."""
    file = folder / f"{pages.NAME}.csv"
    with file.open(encoding="utf-8", newline="") as text:
        columns, *rows = csv.reader(text)
    return table(tuple(columns), map(tuple, rows), numeric=pages.NUMERIC, file=file)


def _place(word: str) -> str:
    """A path of the kit where nothing of that name is here; a claim's name stays as it is."""
    inside = claims.ROOT / word
    return str(inside) if not Path(word).exists() and inside.exists() else word
