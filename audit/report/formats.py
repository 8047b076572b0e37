"""The formats of a report and the names of their files: `report.md` in English, `report.ja.md` in Japanese.

Some fit into a number of characters: first go facts that stand elsewhere, then ends of lists and of texts. A browser
prints the page to PDF.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from audit.model import sanitizer
from audit.model.atomic import writing
from audit.model.errors import AuditError, BadInput
from audit.report import html, markdown
from audit.report.messages import LANGUAGES, Message, message
from audit.report.translation import translated
from audit.report.view import Code, Figure, Link, Quoted, Report, Section, mapped

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


def browser() -> str | None:
    """Return the browser that AUDIT_BROWSER names, else the first Chromium or Chrome installed; None without any."""
    named = os.environ.get(CHOSEN)
    if named:
        return shutil.which(named)
    found = (shutil.which(name) for name in (*NAMES, *map(str, APPLICATIONS)))
    return next((path for path in found if path is not None), None)


def browser_needed() -> str:
    """Return the browser. Raises BadInput: there is none; the message says how to get one, and how to do without."""
    path = browser()
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
    path = browser_needed()
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


FIGURES = "figures"
DEFAULT = ("md", "html")
COMMENT_CHARACTERS = 2_000
"""What a reader of an issue takes in without scrolling twice; GitHub takes 65,536."""
OPENREVIEW_CHARACTERS = 4_800
"""Under the 5,000 characters of OpenReview's comment form."""
COMMENT = ("verdict", "reproduce")
FORM = ("verdict", "strengths", "weaknesses", "questions", "limitations", "rating", "reproduce", "reply")
"""The sections of a comment and of a review form, in their order."""


@dataclass(frozen=True)
class Form:
    """The form of a report that a user wants: a language, and names of `FORMATS`."""

    language: str = "en"
    names: tuple[str, ...] = DEFAULT


USUAL = Form()


@dataclass(frozen=True)
class Format:
    """A format: the stem and ending of its file, and what makes it of the view, in English, for a language."""

    stem: str
    ending: str
    make: Callable[[Report, str], bytes]

    def file(self, language: str) -> str:
        """Return the name of the file in that language."""
        return f"{self.stem}.{self.ending}" if language == "en" else f"{self.stem}.{language}.{self.ending}"


def chosen(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names of formats, each once. Raises BadInput: a name is unknown, none is given, or a browser is needed
    and missing."""
    known = tuple(dict.fromkeys(names))
    unknown = [name for name in known if name not in FORMATS]
    if unknown or not known:
        raise BadInput(f"format {', '.join(unknown) or 'none'}: unknown; known: {', '.join(FORMATS)}")
    if "pdf" in known:
        browser_needed()
    return known


def write(
    pages: Mapping[str, bytes], figures: Collection[Figure], folder: Path, *, stale: Iterable[str] = ()
) -> list[Path]:
    """Write pages, by the names of their files, and `figures/*.png` into a folder, which is made where it is missing;
    return their paths. `stale` are names of figures of an earlier page, removed unless they are drawn now.
    Raises BadInput: the folder cannot be written."""
    pictures = folder / FIGURES
    files = {folder / name: data for name, data in pages.items()}
    files |= {pictures / f"{one.name}.png": one.png for one in figures}
    with writing(folder, "make room, or name another folder"):
        pictures.mkdir(parents=True, exist_ok=True)
        for name in stale:
            (pictures / f"{name}.png").unlink(missing_ok=True)
        for path, data in files.items():
            path.write_bytes(data)
    return list(files)


def _markdown(report: Report, language: str) -> bytes:
    """What is folded in the HTML is left out: the record has it."""
    open_ones = replace(report, sections=tuple(one for one in report.sections if not one.folded))
    return markdown.render(translated(open_ones, language), figures=FIGURES).encode()


def _html(report: Report, language: str) -> bytes:
    return html.render(translated(report, language)).encode()


def _fitting(report: Report, language: str, slugs: tuple[str, ...], most: int) -> bytes:
    """Return those sections without tables and pictures, cut to fit, with the name of what is attached below."""
    known = {section.slug: section for section in report.sections}
    whole = known["reproduce"]  # the second command renders what is attached
    known["reproduce"] = replace(whole, paragraphs=whole.paragraphs[:1], commands=whole.commands[:1])
    sections = tuple(replace(known[slug], tables=(), figures=()) for slug in slugs)
    footer = message("page.attached", file=FORMATS["html"].file(language))
    short = replace(report, sections=sections, footer=footer)

    def made(cut: Report, characters: int) -> str:
        return markdown.render(clipped(translated(cut, language), characters))

    return fitting(short, most, made).encode()


FORMATS = {
    "md": Format("report", "md", _markdown),
    "html": Format("report", "html", _html),
    "comment": Format("comment", "md", partial(_fitting, slugs=COMMENT, most=COMMENT_CHARACTERS)),
    "openreview": Format("openreview", "md", partial(_fitting, slugs=FORM, most=OPENREVIEW_CHARACTERS)),
    "pdf": Format("report", "pdf", lambda one, language: pdf(_html(one, language).decode(), made_utc=one.made_utc)),
}
FILES = {one.file(language): (one, language) for one in FORMATS.values() for language in LANGUAGES}
"""The format and the language of every file of a report."""


WHOLE = 10**9
TORN = re.compile(r"[\w.,+-]+$", re.ASCII)
"""The first part of a number or of a name."""


CUTS = (
    (WHOLE, sanitizer.LINE_CHARACTERS), (6, 600), (6, 400), (6, 300), (5, 240), (4, 220), (3, 200), (3, 160), (3, 120),
    (2, 100), (2, 80), (1, 60), (1, 40), (1, 20), (0, 10),
)  # fmt: skip
"""The most entries of a list and characters of a text, from the mildest cut on."""
EXPENDABLE = ("probe.sweep", "verdict.before", "verdict.confidence", "answer.task")
"""Facts of the card that the attached report has, in the order in which they are left out."""


def fitting(report: Report, most: int, made: Callable[[Report, int], str]) -> str:
    """Return the first text of at most `most` characters, from the mildest cut of the English report on; `made` makes
    that of a report whose own texts have at most so many characters."""
    text = ""
    mild = [(*CUTS[0], EXPENDABLE[:count]) for count in range(len(EXPENDABLE))]
    for entries, characters, without in (*mild, *((*cut, EXPENDABLE) for cut in CUTS)):
        sections = tuple(_section(section, entries, without) for section in report.sections)
        text = made(replace(report, sections=sections), characters)
        if len(text) <= most:
            break
    return text


def clipped(report: Report, characters: int) -> Report:
    """Return the report with every text cut to that many characters; a command stays whole."""

    def change(text: str) -> str:
        if isinstance(text, Code):
            return text
        kind = type(text) if isinstance(text, Link | Quoted) else str
        return text if len(text) <= characters else kind(beginning(sanitizer.line(text), characters))

    return report if characters >= sanitizer.LINE_CHARACTERS else mapped(report, change)


def beginning(text: str, characters: int) -> str:
    """Return the beginning of a text, without a part of a number or of a name at its end."""
    if len(text) <= characters:
        return text
    kept, following = text[: characters - 1], text[characters - 1]
    whole = TORN.sub("", kept) if TORN.match(following) else kept
    return (whole or kept).rstrip() + "…"


def _section(section: Section, most: int, without: tuple[str, ...]) -> Section:
    left = max(0, len(section.bullets) - most)
    more = (message("page.left_out", count=f"{left:,}"),) if left else ()
    card = section.card
    if card:
        facts = tuple(one for one in card.facts if not (isinstance(one[0], Message) and one[0].key in without))
        card = replace(card, facts=facts, missing=card.missing[:most])
    return replace(section, bullets=(*section.bullets[:most], *more), card=card)
