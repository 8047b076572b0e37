"""What an attack says of itself in its header: `Attack:` what it tries, `Wall:` what holds it, `Outcome:` how it ends.

A `.py` says it in its docstring, a `.cu` in the comment lines it begins with; a field may go on over several lines.
An outcome is `cleared`, where the attack comes to nothing and the kernel's right values count, or a finding about the
attack, `<probe> <outcome>`, with words of its summary behind a colon where that matters. It holds for every device, but
for a GPU where `Outcome on cuda:` says how it ends there, or that it is `not asked`. An attack on times says in
`Claims:` how many times faster than its baseline its kernel is said to be: it is timed on a GPU, as published.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).with_name("attacks")
FIELDS = ("Attack", "Wall", "Outcome")
ON_CUDA = "Outcome on cuda"
CLAIMS = "Claims"
NOT_ASKED = "not asked"
CLEARED = "cleared"
_FIELD = re.compile(rf"^({'|'.join((*FIELDS, ON_CUDA, CLAIMS))}): *(.+)$")
_OUTCOME = re.compile(r"^(?P<probe>[a-z_]+) (?P<outcome>pass|fail|skip|error)(?:: (?P<words>.+))?$")


@dataclass(frozen=True)
class Outcome:
    """How an attack ends: the finding about it and words of its summary; `probe` is None where it is cleared."""

    probe: str | None
    outcome: str
    words: str = ""

    def __str__(self) -> str:
        if self.probe is None:
            return CLEARED
        return f"{self.probe} {self.outcome}" + (f": {self.words}" if self.words else "")


@dataclass(frozen=True)
class Attack:
    """One file of `attacks/`; `outcomes` by the kind of device, `claims` the ratio said of a timed one."""

    path: Path
    tries: str
    wall: str
    outcomes: dict[str, Outcome]
    claims: float | None = None

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return self.path.stem


def attacks() -> list[Attack]:
    """Every attack there is, sorted by name. Raises ValueError where a header does not say what it must."""
    found = [read(path) for path in sorted(FOLDER.iterdir()) if path.suffix in (".py", ".cu")]
    names = [one.name for one in found]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"two attacks of one name: {', '.join(sorted(twice))}")
    return found


def read(path: Path) -> Attack:
    """The attack in that file."""
    fields = _fields(_header(path))
    missing = [name for name in FIELDS if name not in fields]
    if missing:
        raise ValueError(f"{path.name}: its header lacks {', '.join(missing)}")
    values = {"emulated": fields["Outcome"], "cuda": fields.get(ON_CUDA, fields["Outcome"])}
    outcomes = {kind: _outcome(text, path) for kind, text in values.items() if text != NOT_ASKED}
    claims = float(fields[CLAIMS]) if CLAIMS in fields else None
    return Attack(path, fields["Attack"], fields["Wall"], outcomes, claims)


def _header(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return (ast.get_docstring(ast.parse(text)) or "").splitlines()
    lines = []
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        lines.append(line.removeprefix("//").strip())
    return lines


def _fields(lines: list[str]) -> dict[str, str]:
    fields: dict[str, str] = {}
    last = ""
    for line in lines:
        if match := _FIELD.match(line):
            last = match[1]
            fields[last] = match[2]
        elif last and line.strip():
            fields[last] += " " + line.strip()
    return fields


def _outcome(text: str, path: Path) -> Outcome:
    if text == CLEARED:
        return Outcome(None, CLEARED)
    match = _OUTCOME.match(text)
    if match is None:
        raise ValueError(f"{path.name}: outcome {text!r} is neither {CLEARED} nor `<probe> <outcome>[: words]`")
    return Outcome(match["probe"], match["outcome"], match["words"] or "")
