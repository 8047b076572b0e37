"""The audit of one claim, cell by cell."""

from __future__ import annotations

from pathlib import Path

from audit import claims
from audit.apps import bundle
from audit.apps.batch import parameters
from audit.apps.batch.notebooks import PARAMETERS
from audit.apps.notebook import form as forms
from audit.apps.notebook import network
from audit.apps.notebook.bar import bar
from audit.apps.notebook.form import AuditForm, OneAuditForm
from audit.apps.notebook.offered import offer
from audit.audit import STAGES, Audit
from audit.build.devices import beside, choose
from audit.claims import ClaimFolder
from audit.model.errors import BadInput
from audit.report import terminal
from audit.report.formats import Form
from audit.report.progress import Progress

FORMATS = ("md", "html", "comment", "openreview")


class ClaimForm(OneAuditForm):
    """The fields of `audit_claim.ipynb`; `claim` is a name of `audit list` or the path of a claim folder."""

    NOTEBOOK = "audit_claim"
    claim: str


def start(form: ClaimForm) -> Audit:
    """Opens the audit; its workers end with the kernel or with `finish`.

    Raises:
        BadInput: the claim does not exist, or the device cannot be used here.
    """
    loaded = claims.load(form.claim)
    return opened(form, loaded, forms.folder(form, loaded.claim.name))


def opened(form: OneAuditForm, loaded: ClaimFolder, out: Path, **used: str | bool) -> Audit:
    """The audit of a loaded claim as the form asks, writing to that folder, with what asks for the same again.

    Args:
        form: what was asked.
        loaded: the claim.
        out: where the record, the report and `parameters.yaml` go.
        used: fields of the form that mean something else the next time, as they must be then.
    """
    if form.network_off:
        network.cut()
    device = choose(form.device, loaded.claim)
    progress = Progress(watch=bar(wanted=form.interactive))
    audit = Audit(
        loaded,
        device,
        out,
        beside=beside(device),
        entropy=form.seed or None,
        rounds=form.rounds,
        progress=progress,
    )
    progress.plan(STAGES)
    known = {"device": device.describe().kind, "seed": audit.seed, "out": "", "copy_to": "", "interactive": False}
    try:
        parameters.write({**form.model_dump(), **known, **used}, out / PARAMETERS)
    except OSError as error:
        audit.close()
        raise BadInput(f"{out / PARAMETERS}: cannot be written ({error.strerror}); choose another folder") from error
    return audit


def report(audit: Audit, form: AuditForm) -> None:
    """Writes the report in every format that needs no browser, in the language of the form."""
    audit.report(Form(form.language, FORMATS))


def finish(audit: Audit, form: OneAuditForm) -> None:
    """Ends the workers, writes the evidence as one zip and offers it; prints where it lies."""
    audit.close()
    terminal.say(f"the same again: papermill -f {audit.out / PARAMETERS} {form.NOTEBOOK}.ipynb executed.ipynb")
    offer(bundle.make(audit.out, claim=audit.folder.path), form)
