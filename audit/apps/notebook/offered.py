"""Files that leave a notebook or come into it: downloads, copies, uploads, and files named by their web address."""

from __future__ import annotations

import re
import shutil
import sys
import urllib.request
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from urllib.parse import unquote, urlsplit

from audit.apps.notebook.form import WritingForm
from audit.model.errors import BadInput
from audit.report import terminal

WEB = re.compile(r"https?://")
GITHUB = re.compile(r"https://github\.com/([^/]+/[^/]+)/blob/(.+)")
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*\.(cu|cuh|py)")
MOST_BYTES = 1 << 20
PATIENCE_S = 30.0


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
            raise BadInput(
                f"parameter copy_to: {form.copy_to}: cannot be written ({error.strerror or error})"
            ) from error
    if form.interactive and "google.colab" in sys.modules:
        from google.colab import files

        files.download(str(file))


def offer_folder(folder: Path, form: WritingForm) -> None:
    """The folder as one zip beside it, offered.

    Raises:
        BadInput: it cannot be written, or not be copied.
    """
    target = Path(f"{folder}.zip")
    try:
        shutil.make_archive(str(folder), "zip", folder)
    except OSError as error:
        with suppress(OSError):
            target.unlink()
        raise BadInput(f"{target}: cannot be written ({error.strerror or error}); make room") from error
    offer(target, form)


def uploaded(form: WritingForm) -> list[Path]:
    """Files a person picks in the browser.

    Raises:
        BadInput: no browser is attached that could be asked.
    """
    if not form.interactive or "google.colab" not in sys.modules:
        raise BadInput("parameter upload: works in Colab with interactive only; put the files beside and name them")
    from google.colab import files

    return [Path(name) for name in files.upload()]


def fetched(place: str, folder: Path) -> Path:
    """The file at a path, or of a web address, which is fetched into `folder`; a page of GitHub stands for its file.

    Raises:
        BadInput: the address names no CUDA or Python file, does not answer with one, or the file is too large.
    """
    if not WEB.match(place):
        return Path(place)
    address = GITHUB.sub(r"https://raw.githubusercontent.com/\1/\2", place)
    name = unquote(urlsplit(address).path.rpartition("/")[2])
    if not NAME.fullmatch(name):
        raise BadInput(f"{place}: its last part must be the name of a .cu or .py file; it is {name!r}")
    target = folder / name
    try:
        with urllib.request.urlopen(address, timeout=PATIENCE_S) as answer:
            data = answer.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise BadInput(f"{place}: over {MOST_BYTES:,} bytes; fetch it yourself and name the file")
        folder.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    except (OSError, HTTPException, ValueError) as error:
        raise BadInput(f"{place}: cannot be fetched into {folder} ({error}); put the file here, and name it") from error
    return target
