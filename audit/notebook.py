"""What the notebooks call: one function a cell, so that a notebook holds no code worth testing."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import ConfigDict, ValidationError

from audit import bundle as evidence
from audit import claims, doctor
from audit.build.devices import CHOICES, beside, choose
from audit.errors import BadInput
from audit.model.base import Frozen
from audit.pipeline import Audit
from audit.progress import Progress


class Parameters(Frozen):
    """The form fields, which are also the papermill parameters; an empty `out` means a folder named after the claim."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    claim: str
    device: str
    out: str = ""
    interactive: bool = True

    @property
    def folder(self) -> Path:
        """Where the record and the report go."""
        return Path(self.out or f"out/{self.claim}")


def start(**fields: Any) -> Audit:
    """Checks the form and opens the audit; its workers end with the kernel or with `finish`.

    Raises:
        BadInput: a field is unknown or mistyped, or the claim or the device does not exist.
    """
    try:
        form = Parameters(**fields)
    except ValidationError as error:
        first = error.errors()[0]
        raise BadInput(f"parameter {first['loc'][0]}: {first['msg']}") from error
    if form.device not in CHOICES:
        raise BadInput(f"parameter device: {form.device!r} is not one of {', '.join(CHOICES)}")
    folder = claims.load(form.claim)
    device = choose(form.device, folder.claim)
    return Audit(folder, device, form.folder, beside=beside(device), progress=Progress())


def preflight() -> pd.DataFrame:
    """What this machine can and cannot answer."""
    return pd.DataFrame([vars(check) for check in doctor.examine()]).set_index("name")


def card(audit: Audit) -> str:
    """The verdict as Markdown."""
    verdict = audit.record.verdict
    lines = [f"## {audit.record.claim.statement.title}", f"**Verdict: {verdict.name}**", verdict.root_cause or ""]
    lines += [f"- {reason}" for reason in (*verdict.reasons, *verdict.missing)]
    return "\n\n".join(line for line in lines if line)


def ladder(audit: Audit) -> pd.DataFrame:
    """Every variant's place; a time nobody measured reads NOT MEASURED."""
    rows = [rung.model_dump() for rung in audit.record.ladder]
    table = pd.DataFrame(rows).set_index("variant")
    table["median_ms"] = ["NOT MEASURED" if row["median_ms"] is None else f"{row['median_ms']:.4g}" for row in rows]
    return table[["role", "technique", "precision", "state", "median_ms", "reason"]]


def bundle(audit: Audit) -> Path:
    """The evidence in one zip beside the audit's folder, as `audit bundle` makes it."""
    return evidence.make(audit.out, claim=audit.folder.path)


def finish(audit: Audit, *, interactive: bool) -> None:
    """Ends the workers; offers the bundle as a download where a browser is attached, and prints where it lies."""
    path = bundle(audit)
    audit.close()
    print(f"everything this audit wrote: {path}")
    if interactive and "google.colab" in sys.modules:
        from google.colab import files

        files.download(str(path))
