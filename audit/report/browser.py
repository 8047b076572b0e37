"""The browser that prints a page to PDF, and whether this machine has the letters of a page."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from audit.model.errors import AuditError, BadInput

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
APPLICATIONS = (
    Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"),
    Path("/Applications/Chromium.app/Contents/MacOS/Chromium"),
)
LIMIT_S = 120.0
DATE = re.compile(rb"D:\d{14}(?=[+Z-])")
CHOSEN = "AUDIT_BROWSER"
KANA = "あ"
"""A letter that every font for Japanese has."""


def find() -> str | None:
    """Return the browser that AUDIT_BROWSER names, else the first Chromium or Chrome installed; None without any."""
    named = os.environ.get(CHOSEN)
    if named:
        return shutil.which(named)
    found = (shutil.which(name) for name in (*NAMES, *map(str, APPLICATIONS)))
    return next((path for path in found if path is not None), None)


def needed() -> str:
    """Return the browser. Raises BadInput: there is none; the message says how to get one, and how to do without."""
    path = find()
    if path is None:
        raise BadInput(
            "format pdf needs Chromium or Chrome and none is found; install one (Debian: apt-get install chromium), "
            f"name it in {CHOSEN}, or print report.html from any browser"
        )
    return path


def options(profile: Path) -> list[str]:
    """Return the options of a headless start: a profile of its own, no network, no sandbox for root."""
    return [
        "--headless=new",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--disable-component-update",
        "--no-first-run",
        "--hide-scrollbars",
        f"--user-data-dir={profile}",
        *(["--no-sandbox"] if os.geteuid() == 0 else []),
    ]


def pdf(page: str, *, made_utc: str) -> bytes:
    """Return a self-contained HTML page as PDF, dated as the record in ISO time, so that a browser gives the same bytes
    again. Raises BadInput: no browser is installed. Raises AuditError: the browser printed no PDF."""
    path = needed()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        source, target = folder / "report.html", folder / "report.pdf"
        source.write_text(page, encoding="utf-8")
        command = [path, *options(folder / "profile"), "--no-pdf-header-footer", f"--print-to-pdf={target}"]
        try:
            done = subprocess.run([*command, source.as_uri()], capture_output=True, timeout=LIMIT_S, check=False)
        except subprocess.TimeoutExpired as error:
            raise AuditError(f"{Path(path).name} printed no PDF within {LIMIT_S:.0f} s") from error
        if not target.is_file():
            raise AuditError(f"{Path(path).name} printed no PDF (exit code {done.returncode})")
        return DATE.sub(_date(made_utc), target.read_bytes())


def without_letters(language: str, names: Iterable[str]) -> str | None:
    """Return a sentence where this machine lacks the letters of a page in those formats, else None."""
    if language != "ja" or not {"html", "pdf"} & set(names) or _has(KANA):
        return None
    return (
        "no font of this machine has Japanese letters: pages and figures seen here, and a PDF anywhere, show boxes "
        "in their place; install one (Debian: apt-get install fonts-noto-cjk) and render the report again"
    )


def _has(letter: str) -> bool:
    """Return whether a font that is installed has that letter."""
    from matplotlib import font_manager, ft2font  # half a second that other languages need not wait

    for file in font_manager.findSystemFonts():
        with suppress(RuntimeError, OSError):
            if ft2font.FT2Font(file).get_char_index(ord(letter)):
                return True
    return False


def _date(made_utc: str) -> bytes:
    """Return a PDF date; the epoch where the record has no valid time."""
    digits = re.sub(r"[^0-9]", "", made_utc)[:14]
    return b"D:" + (digits if len(digits) == 14 else "19700101000000").encode("ascii")
