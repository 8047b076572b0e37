"""What leaves a notebook or comes into it: a download where a browser is attached, a copy where one is asked for."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from audit import terminal
from audit.errors import BadInput
from audit.notebook.form import WritingForm


def offer(file: Path, form: WritingForm) -> None:
    """Prints where the file lies; copies it to `copy_to`; downloads it in Colab if a person is watching.

    Raises:
        BadInput: it cannot be copied there.
    """
    terminal.say(f"everything in one file: {file} ({file.stat().st_size:,} bytes)")
    if form.copy_to:
        try:
            terminal.say(f"copied to {shutil.copy(file, form.copy_to)}")
        except OSError as error:
            raise BadInput(f"parameter copy_to: {form.copy_to}: cannot be written ({error.strerror})") from error
    if form.interactive and "google.colab" in sys.modules:
        from google.colab import files

        files.download(str(file))


def uploaded(form: WritingForm) -> list[Path]:
    """Files a person picks in the browser.

    Raises:
        BadInput: no browser is attached that could be asked.
    """
    if not form.interactive or "google.colab" not in sys.modules:
        raise BadInput("parameter upload: works in Colab with interactive only; put the files beside and name them")
    from google.colab import files

    return [Path(name) for name in files.upload()]
