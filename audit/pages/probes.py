"""A page a probe: its question, how it asks on each device, what a failure says, and the controls it is held to."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from audit import claims
from audit.clearing import CORRECTNESS, ESCAPES, KERNELS, OPTIONAL, REPLACED
from audit.pages.texts import ProbeText, read
from audit.probes import PROBES
from audit.probes.probe_table import CONTROLS, question
from audit.report import markdown
from audit.report.view import Code, Table
from audit.selftest.controls import mechanism

_PAGE = """# `{name}`
{question}

{how}
{standing}

## How it asks
- **On a GPU.** {gpu}
- **On the emulated device.** {emulated}
- **In one line of its code.** {run}

It shows: {mechanisms}.

## What a failure says
{proves}

What stays open: {open}

## If it names your kernel
{author}

See it again, without a GPU where the emulated device asks it, and read the finding's evidence in `record.json`:

    audit run CLAIM --device emulated

The [FAQ for authors](../faq_for_authors.md) says how to reply and how to have an audit corrected.

## Its controls
Kernels made for this probe: it must fail the rogues and pass the honest twins, in every run of the tests.

{controls}

Code: [`audit/probes/{name}.py`](../../audit/probes/{name}.py). All probes: [docs/probes.md](../probes.md). Grades:
[docs/verdicts.md](../verdicts.md#grades-of-a-failure). This page is made by `python -m audit.pages`.
"""


def pages() -> dict[str, str]:
    """Every page by the name of its probe."""
    texts = read("probes", ProbeText, PROBES)
    return {name: _page(name, text) for name, text in texts.items()}


def _page(name: str, text: ProbeText) -> str:
    module = sys.modules[PROBES[name].__module__]
    rest = (module.__doc__ or "").partition("\n\n")[2].strip()
    return _PAGE.format(
        name=name,
        question=question(module),
        how=f"{rest}\n" if rest else "",
        standing=_standing(name, text),
        run=" ".join((PROBES[name].__doc__ or "").partition("\n\n")[0].split()),
        mechanisms=", ".join(module.MECHANISMS),
        controls=_controls(name),
        **text.model_dump(),
    )


def _standing(name: str, text: ProbeText) -> str:
    """What its answer does to a verdict."""
    if name in OPTIONAL:
        return "A kernel counts as right only when this probe has answered; a skip of it blocks nothing."
    if name in CORRECTNESS:
        return "A kernel counts as right only when this probe has answered and no failure of it is proved."
    if text.worst == "hint":
        return "A failure is a hint and convicts nobody; an error blocks a verdict in the kernel's favour."
    rule = {KERNELS: "overstated", **dict.fromkeys((REPLACED, *ESCAPES), "mistimed")}.get(name, "wrong")
    return f"A proved failure gives `{rule}`; an error blocks a verdict in the kernel's favour; a skip blocks nothing."


def _controls(name: str) -> str:
    rows = [
        (Code(f"{folder}/{variant}"), role, does)
        for role in ("rogue", "honest")
        for folder, variant, does in _made_for(name, role)
    ]
    return str(markdown.table(Table("", ("Control", "It is", "What it does"), tuple(rows)))).strip()


def _made_for(probe: str, role: str) -> Iterable[tuple[str, str, str]]:
    """Folder, name and mechanism of every control of that role that names the probe."""
    for place in CONTROLS:
        folder = claims.load(place)
        for variant in folder.claim.variant:
            if (variant.role, variant.probe) == (role, probe):
                yield place, variant.name, mechanism(folder, variant)
