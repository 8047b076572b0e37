"""The cause: the line of the source and the probe that agrees with it, and the one change that makes a kernel right.

The lines of each single change are those of the claim's own that makes the kernel right, and of each generated one.
"""

from __future__ import annotations

import ast
import difflib
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile

from audit.judge import AblationRow, ablation_table
from audit.judge.ladder import rungs
from audit.judge.root_causes import read_in_source
from audit.model import Record, Rung, Variant, sanitizer
from audit.model.finding import GENERATED, MOST_CHARACTERS
from audit.report import evidence, sizes
from audit.report.messages import NONE, Recorded, headings, joined, message, number, sentence
from audit.report.tables import with_difference
from audit.report.view import Block, Code, Figure, Section, Table


def section(record: Record, figures: tuple[Figure, ...], sources: Mapping[str, str]) -> Section:
    """Return the root cause, the lines that show it, and the claimed kernel beside its one-change ablations, with each
    change that the audit generated and the lines of each change; `sources` are texts of the claim by their files."""
    ablated = ablation_table(record)
    rows = tuple(
        (
            Code(row.variant),
            joined("comma", map(Recorded, row.changes)) if row.changes else message("ablation.no_change"),
            Recorded(row.claim_first),
            with_difference(record, row.variant, Recorded(row.reference_first)),
            _failed(record, row),
        )
        for row in (ablated if ablated and not ablated[0].right else ())
    )
    columns = headings("variant", "changes", "claim_first", "reference_first", "failed")
    tables = (Table(message("ablation.table"), columns, rows),) if len(rows) > 1 else ()
    read = (*lines(record), *generated(record))
    result = record.verdict.root_cause
    cause = Recorded(result) if result else message("cause.none")
    paragraphs = (() if tables or read else (cause,)) + (() if tables else (message("ablation.none"),))
    changed = (*of_claim(record, sources), *of_generated(record))
    return Section(message("cause.title"), "cause", paragraphs=paragraphs, bullets=read, tables=tables,
                   figures=figures, commands=commands(record, sources),
                   blocks=tuple(one for one in changed if is_short(one)),
                   logs=tuple(one for one in changed if not is_short(one)))  # fmt: skip


def _failed(record: Record, row: AblationRow) -> str:
    """Return the questions that a variant failed; those without an answer leave it undecided."""
    if row.right:
        return NONE
    failed = evidence.failed_questions(record, row.variant)
    return joined("comma", map(evidence.title, failed)) if failed else message("state.undecided")


def lines(record: Record) -> tuple[str, ...]:
    """Return what stands on a line of the source and agrees with a failure that was proved, or with the sizes; where
    nothing does and the judge names no cause, the lines of undefined accesses that failures show."""
    claimed = record.claim.statement.claimed
    if claimed is None:
        return ()
    file = record.claim.statement.known_as(claimed)
    shown = [
        message("cause.line", file=file, line=number(line["line"]),
                hint=Recorded(str(line["message"])), question=evidence.title(failure.probe))
        for _, line, failure in read_in_source(record)
    ]  # fmt: skip
    if (rule := sizes.rule(record)) is not None:
        line, where = rule
        shown.append(message("cause.sizes", file=file, line=number(line), summary=sentence(where)))
    return tuple(shown) if shown or record.verdict.root_cause else tuple(_accesses(record, file))


def _accesses(record: Record, file: str) -> Iterator[str]:
    """Yield the line of each undefined access that fails the claimed kernel, each once."""
    failed = (one for one in evidence.of_claim(record) if one.claimed and one.grade in ("proved", "undefined"))
    found = [one for one in map(evidence.access, failed) if one is not None and one.get("line")]
    for line, one in {one["line"]: one for one in reversed(found)}.items():
        yield message("cause.access", file=file, line=number(line), kind=Recorded(one["kind"]),
                      told=sentence(str(one["message"])))  # fmt: skip


def generated(record: Record) -> tuple[str, ...]:
    """Return what came of each change that the audit generated, built and asked about; where none is enough, that each
    was tried alone."""
    states = rungs([one.variant for one in record.generated], record.findings)
    claim = record.claim.statement
    alone = len(states) > 1 and not any(rung.state == "passed" for rung in states)
    shown = [
        message("cause.generated", file=f"{GENERATED}/{one.variant.file}",
                claimed=claim.known_as(claim.claimed) if claim.claimed else "",
                change=Recorded(one.change.what), result=_result(rung))
        for one, rung in zip(record.generated, states, strict=True)
    ]  # fmt: skip
    return (*shown, *([message("cause.alone")] if alone else []))


def _result(rung: Rung) -> str:
    if rung.state == "undecided":
        return message("cause.generated_open", why=Recorded(rung.reason))
    known = {
        "passed": "cause.generated_right",
        "failed": "cause.generated_wrong",
        "undefined": "cause.generated_undefined",
    }
    return message(known[rung.state])


Shown = tuple[str, Block]
"""A heading, and the lines below it."""
AROUND = 2
"""Lines that stay, shown before and after those that change."""
MOST_OPEN, MOST_LINES = 20, 200
"""Lines of a change that is shown open, and of any."""


def of_generated(record: Record) -> Iterator[Shown]:
    """Yield the lines of each generated change."""
    claim = record.claim.statement
    before = claim.known_as(claim.claimed) if claim.claimed else ""
    for one in record.generated:
        change = one.change
        lines = (f"@@ -{change.line},{len(change.removed)} +{change.line},{len(change.added)} @@",
                 *(f"-{line}" for line in change.removed), *(f"+{line}" for line in change.added))  # fmt: skip
        yield _heading(before, f"{GENERATED}/{one.variant.file}", (change.what,)), _block(lines)


def of_claim(record: Record, sources: Mapping[str, str]) -> list[Shown]:
    """Return the lines of each single change of the claim's own that makes the kernel right, where its texts are there.

    What the files say about themselves at their head is left out.
    """
    return [shown for pair in _pairs(record) if (shown := _shown(record, pair, sources)) is not None]


def commands(record: Record, sources: Mapping[str, str]) -> tuple[Code, ...]:
    """Return the commands that show those changes where a text is not there, or the change is long."""
    folder = f"kernels/{record.claim.statement.name}"
    apart = [pair for pair in _pairs(record) if (shown := _shown(record, pair, sources)) is None or not is_short(shown)]
    return tuple(Code(shlex.join(("diff", *(f"{folder}/{one.file}" for one in pair)))) for pair in apart)


def is_short(shown: Shown) -> bool:
    """Return whether a change is short enough to be shown open."""
    return shown[1].count("\n") < MOST_OPEN


def _pairs(record: Record) -> Iterator[tuple[Variant, Variant]]:
    """Yield the claimed kernel with each variant whose one change makes it right."""
    claim = record.claim.statement
    known = {one.name: one for one in claim.variant}
    right = [row.variant for row in ablation_table(record) if row.changes and row.right and row.variant in known]
    if claim.claimed is not None and claim.claimed.name not in right:
        yield from ((claim.claimed, known[name]) for name in right)


def _shown(record: Record, pair: tuple[Variant, Variant], sources: Mapping[str, str]) -> Shown | None:
    if any(one.file not in sources for one in pair):
        return None
    lines = _difference(*(sources[one.file] for one in pair), python=pair[0].file.endswith(".py"))
    before, after = map(record.claim.statement.known_as, pair)
    return _heading(before, after, pair[1].changes), _block(lines)


def _heading(before: str, after: str, changes: tuple[str, ...]) -> str:
    return message("cause.difference", before=before, after=after, changes=joined("comma", map(Recorded, changes)))


def _block(lines: Sequence[str]) -> Block:
    """Return the first lines, each at its beginning, and a line that tells how many are left."""
    left = len(lines) - MOST_LINES
    shown = [sanitizer.visible(line[:MOST_CHARACTERS]) for line in lines[:MOST_LINES]]
    return Block("\n".join([*shown, *([f"… (+{left:,})"] if left > 0 else [])]))


def _difference(before: str, after: str, *, python: bool) -> list[str]:
    """Return the lines of a unified diff, without groups of changes that lie within the heads of both files."""
    heads = [_head(text, python=python) for text in (before, after)]
    old, new = before.splitlines(), after.splitlines()
    lines: list[str] = []
    for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(AROUND):
        changed = [one for one in group if one[0] != "equal"]
        if any(one[2] > heads[0] or one[4] > heads[1] for one in changed):
            first, last = group[0], group[-1]
            lines.append(f"@@ -{first[1] + 1},{last[2] - first[1]} +{first[3] + 1},{last[4] - first[3]} @@")
            for kind, *(i, past_i, j, past_j) in group:
                lines += [f" {line}" for line in old[i:past_i]] if kind == "equal" else []
                lines += [f"-{line}" for line in old[i:past_i]] if kind != "equal" else []
                lines += [f"+{line}" for line in new[j:past_j]] if kind != "equal" else []
    return lines


def _head(text: str, *, python: bool) -> int:
    """Return how many lines the docstring of a module has, or the comment that a C++ source begins with."""
    if not python:
        return sum(1 for _ in takewhile(lambda line: line.startswith("//"), text.splitlines()))
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError):
        return 0
    is_text = bool(body) and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    return (body[0].end_lineno or 0) if is_text else 0
