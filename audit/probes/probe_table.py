"""The page `docs/probes.md`, made from the table of probes: `python -m audit.probes.probe_table`."""

from __future__ import annotations

import sys
from types import ModuleType

from audit import claims
from audit.probes import PROBES

CONTROLS = ("controls", "controls_python")
_HEAD = """# Probes

Each probe is one file in `audit/probes/` and asks one question of every variant, in fresh processes. A failure is
*proved* (it convicts), *undefined* or a *hint*; the text below each question says which and why. A probe that compares
later calls with the first is skipped where the first call is wrong already: `agreement` tells that.

This page is made from the probes themselves by `python -m audit.probes.probe_table > docs/probes.md`.

| probe | asks | mechanisms it shows | controls it convicts |
|---|---|---|---|
"""
_ELSEWHERE = """
## Mechanisms answered by how the audit runs

| mechanism | what answers it |
|---|---|
"""
ELSEWHERE: dict[str, str] = {
    "seed replay, answers kept in files": "inputs come from the entropy of the day, drawn in another process",
    "heap scan for the reference": "no session holds the reference or its result but those of `order` and `inherited`",
    "patched timers and checks": "times come from a process of the kit's own, comparisons from the judge's process",
    "output streams, exit codes and result files faked": "what a session tells is sealed; nobody reads its prints",
    "harness sniffing": "every probe calls through the same session, and so do the timings",
    "cheating while timed": "outputs of timed calls drawn at random are compared too, see `timed_outputs`",
    "degenerate task": "strawmen must fail the task at its own tolerance (`audit/task/`), else it is vacuous",
    "time under the physics floor": "`lint` holds published times against the hardware they name",
}
"""What no probe needs to show, and why."""
_EXPLAINED = "\n## What the grades rest on\n"


def markdown() -> str:
    """The whole page."""
    rows = [_row(name) for name in PROBES]
    elsewhere = [f"| {mechanism} | {what} |" for mechanism, what in ELSEWHERE.items()]
    told = [f"\n### `{name}`\n{text}" for name in PROBES if (text := _rest(_module(name)))]
    return "\n".join([_HEAD + "\n".join(rows), _ELSEWHERE + "\n".join(elsewhere), _EXPLAINED + "\n".join(told), ""])


def question(module: ModuleType) -> str:
    """The first paragraph of a probe's docstring, on one line."""
    return " ".join((module.__doc__ or "").partition("\n\n")[0].split())


def controls_of(probe: str) -> list[str]:
    """The rogues that name the probe, in the order of their folders."""
    return [
        variant.name
        for folder in CONTROLS
        for variant in claims.load(folder).claim.variant
        if variant.role == "rogue" and variant.probe == probe
    ]


def _module(name: str) -> ModuleType:
    return sys.modules[PROBES[name].__module__]


def _rest(module: ModuleType) -> str:
    return (module.__doc__ or "").partition("\n\n")[2].strip()


def _row(name: str) -> str:
    module = _module(name)
    rogues = ", ".join(f"`{rogue}`" for rogue in controls_of(name))
    return f"| `{name}` | {question(module)} | {', '.join(module.MECHANISMS)} | {rogues} |"


if __name__ == "__main__":
    print(markdown(), end="")
