"""Pages that join texts written by hand, `probes.toml` and `verdicts.toml`, with the code: probes and verdicts."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, TypeVar, get_args

from audit import claims
from audit.judge import RULES, opened
from audit.judge.evidence import ALIAS, CORRECTNESS, ESCAPES, KERNELS, OPTIONAL, PRECISION, REPLACED
from audit.model import VerdictName
from audit.model.base import Frozen
from audit.model.errors import BadInput
from audit.probes import OF_THE_CLAIM, PROBES
from audit.probes.concluding.answer import Probe
from audit.report import markdown
from audit.report.markdown import made
from audit.report.view import Table

Text = TypeVar("Text", bound=Frozen)
_TABLE = tomllib.loads(Path(__file__).with_name("texts.toml").read_text(encoding="utf-8"))
ELSEWHERE: dict[str, str] = _TABLE.pop("elsewhere")
"""Mechanisms that no probe needs to show, and the reason."""
TEXTS: dict[str, str] = _TABLE
"""Texts of pages by their names."""


class ProbeText(Frozen):
    """A probe on each device, the proof of its failure, its open questions, and advice to an author."""

    worst: Literal["proved", "hint"]
    shows: tuple[str, ...]
    gpu: str
    emulated: str
    proves: str
    open: str
    author: str


class VerdictText(Frozen):
    """The meaning of a verdict, its limits, and advice to an author and a reader."""

    says: str
    silent: str
    author: str
    reader: str


def read(name: str, kind: type[Text], known: Iterable[str]) -> Mapping[str, Text]:
    """The texts of one file, in the order of `known`. Raises BadInput: a name has no text, or a text no name."""
    table = tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))
    names = list(known)
    if odd := sorted(set(names) ^ set(table)):
        raise BadInput(
            f"audit/apps/pages/{name}.toml: {', '.join(odd)}: every one needs a text, and nothing else has one"
        )
    return {one: kind.model_validate_json(json.dumps(table[one])) for one in names}


CONTROLS = ("controls", "controls_python", "controls_caches")


def probes() -> str:
    """All of `docs/probes.md`."""
    texts = read("probes", ProbeText, PROBES)
    asked = [(f"[`{name}`](#{name})", question(name)) for name in (*PROBES, *OF_THE_CLAIM)]
    index, elsewhere = (
        made(("probe", "question"), asked),
        made(("mechanism", "what answers it"), ELSEWHERE.items()),
    )
    sections = [_section(name, text) for name, text in texts.items()]
    sections += [
        TEXTS["probe_of_the_claim"].format(name=name, question=question(name), rest=_rest(name))
        for name in OF_THE_CLAIM
    ]
    return "\n".join([TEXTS["probes"], index, *sections, f"## Mechanisms answered by how the audit runs\n{elsewhere}"])


def question(name: str) -> str:
    """The first paragraph of a probe's docstring, on one line."""
    return " ".join((_module(name).__doc__ or "").partition("\n\n")[0].split())


def controls_of(probe: str, role: str) -> list[str]:
    """The controls of a role that name the probe, in the order of their folders."""
    return [
        f"{folder}/{variant.name}"
        for folder in CONTROLS
        for variant in claims.load(folder).claim.variant
        if variant.role == role and variant.probe == probe
    ]


def _section(name: str, text: ProbeText) -> str:
    bad, good = (", ".join(f"`{one}`" for one in controls_of(name, role)) for role in ("known_bad", "known_good"))
    return TEXTS["probe"].format(
        name=name,
        question=question(name),
        rest=_rest(name),
        effect=_effect(name, text),
        mechanisms=", ".join(text.shows),
        controls=f"Must fail: {bad}. Must pass: {good}.",
        **text.model_dump(),
    )


def _effect(name: str, text: ProbeText) -> str:
    """The effect of its answer on a verdict."""
    if name in OPTIONAL:
        return "A kernel counts as right only when this probe has answered; a skip of it blocks nothing."
    if name in CORRECTNESS:
        return "A kernel counts as right only when this probe has answered and no failure of it is proved."
    if text.worst == "hint":
        return "A failure is a hint and decides nothing; an error blocks a verdict in the kernel's favour."
    by_name = {
        KERNELS: "overstated",
        PRECISION: "reduced precision",
        ALIAS: "aliased result",
        **dict.fromkeys((REPLACED, *ESCAPES), "mistimed"),
    }
    rule = by_name.get(name, "wrong")
    return f"A proved failure gives `{rule}`; an error blocks a verdict in the kernel's favour; a skip blocks nothing."


def _rest(name: str) -> str:
    """A probe's docstring behind its question."""
    rest = (_module(name).__doc__ or "").partition("\n\n")[2].strip()
    return f"{rest}\n" if rest else ""


def _module(name: str) -> Probe:
    return {**PROBES, **OF_THE_CLAIM}[name]


def verdicts(reports: Path) -> str:
    """The rules and the verdicts, with the records below `reports` that have each."""
    known = {path.parent: opened(path) for path in sorted(reports.glob("*/*/record.json"))}
    found: dict[str, list[str]] = {}
    for folder, record in known.items():
        place = folder.relative_to(reports.parent).as_posix()
        line = f"[{record.claim.statement.name} on {record.device.name}](../{place}/report.md)"
        found.setdefault(record.verdict.name, []).append(line)
    sections = []
    for name, text in read("verdicts", VerdictText, get_args(VerdictName)).items():
        given = ", ".join(f"*{rule.name}*" for rule in RULES if name == rule.verdict) or "no rule"
        records = ", ".join(found.get(name, ["none yet"]))
        sections.append(TEXTS["verdict"].format(name=name, rules=given, records=records, **text.model_dump()))
    return f"{rules()}\n" + "\n".join(sections)


def rules() -> str:
    """The table of the judge's rules, in the order they are tried."""
    rows = tuple((rule.name, rule.verdict, rule.when) for rule in RULES)
    return f"{markdown.table(Table('', ('Rule', 'Verdict', 'When'), rows))}\n"
