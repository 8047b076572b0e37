"""One audit in one cell: a bar or plain lines while it runs, then the results, with the log of it folded below them."""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stdout
from importlib import import_module
from typing import Any, TextIO

from audit.apps.notebook.claim import FORMATS, ClaimForm, KernelForm, finish, start, start_kernel
from audit.apps.notebook.results import fenced, results
from audit.apps.notebook.shown import Markdown
from audit.audit import Audit
from audit.report.formats import Form


class Log(io.StringIO):
    """All lines of an audit; each is also written to `live` as it comes, where that is not None."""

    def __init__(self, live: TextIO | None) -> None:
        super().__init__()
        self.live = live

    def write(self, text: str) -> int:
        """Keep a text, and show it where somebody reads along."""
        if self.live is not None:
            self.live.write(text)
        return super().write(text)

    def flush(self) -> None:
        """Show what `live` holds back."""
        if self.live is not None:
            self.live.flush()


def run(form: ClaimForm | KernelForm) -> Audit:
    """Run the audit, show its results in place of its lines, and end it; return it for closer looks.

    Where a person watches there is a bar; else the lines come as they are said.

    Raises:
        BadInput: as `start` and `start_kernel`, or a file cannot be written.
    """
    log, cell = Log(None if form.interactive else sys.stdout), import_module("IPython.display")
    try:
        with redirect_stdout(log):
            audit = start(form) if isinstance(form, ClaimForm) else start_kernel(form)
            with_results(audit, form, log, cell)
    except BaseException:
        if form.interactive:
            cell.display(folded(log))
        raise
    return audit


def with_results(audit: Audit, form: ClaimForm | KernelForm, log: Log, cell: Any) -> None:
    """Run the stages of an audit, then show what it found first and its log last."""
    try:
        audit.run(Form(form.language, FORMATS))
        bundle = finish(audit, form)
    finally:
        audit.close()
    cell.clear_output(wait=True)
    log.live = None
    for one in (*results(audit, form, bundle), folded(log)):
        cell.display(one)


def folded(log: Log) -> Markdown:
    """Return the log as one line that opens."""
    return Markdown(f"<details><summary>Log of the audit</summary>\n\n{fenced(log.getvalue(), 'text')}\n\n</details>")
