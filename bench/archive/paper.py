"""The parts of `docs/findings.md` that follow from committed data: the archive, the lints, the reconstructions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import counted
from committed import ARCHIVE, FAILURES, FOLDER, ROOT, Row, read
from counted import percent, share
from tables import LEAST, lined

from audit import judge
from audit.apps.pages import self_test
from audit.apps.pages.tables import ratios_claimed

LINTS = {
    "cuda_l1": ("Median against the strongest", "Rows whose own baselines", "Published figures"),
    "cuda_l2": ("Median against the strongest", "Rows that hold half", "Published figures"),
}
"""Published datasets, and the beginnings of the lines of their lints that the page repeats."""
TOLD = {
    "wrong": "are wrong",
    "undefined": "rest on undefined behaviour",
    "overstated": "leave the work to a library",
    "cannot be built": "cannot be built",
    "no answer": "have no answer",
}
LARGEST = 6
"""Classes of causes in the short table."""


def abstract(rows: Sequence[Row]) -> str:
    """Return what was found in the archive, in one paragraph."""
    counts, of = counted.verdicts(rows), len(rows)
    judged = Counter(row["judgement"] for row in read("readings.csv"))
    sound = counted.on_gpu(rows, "no defect found")
    bad, missed = counted.faulty(rows), sound.count("wrong")
    return (
        f"Of {of:,} kernels drawn at random from {ARCHIVE:,}, {bad:,} were found faulty: {share(bad, of)}. "
        f"{counts['wrong']:,} are wrong, {counts['undefined']:,} rest on undefined behaviour and "
        f"{counts['overstated']:,} leave the work to a library or launch none of their kernels. "
        f"{counts['no defect found']:,} ({percent(counts['no defect found'], of)}) had no defect found, "
        f"{counts['cannot be built']:,} cannot be built and {counts['no answer']:,} have no answer. Readers held "
        f"{judged.total()} verdicts of failure against the sources: {judged['right']} are right and "
        f"{judged['false']} false, {share(judged['false'], judged.total())}. Of {len(sound)} kernels with no "
        f"defect found that a GPU answered for, it found {missed} wrong: {share(missed, len(sound))}. "
        "Shares have Wilson's 95 % interval."
    )


def causes(rows: Sequence[Row]) -> str:
    """Return the largest classes of failures, and the tasks that hold most of them."""
    found = [one for one in counted.causes(rows) if one[0] in FAILURES and len(one[2]) >= LEAST]
    top = sorted(found, key=lambda one: -len(one[2]))[:LARGEST]
    lines = [(f"{verdict}: {name}", len(own), share(len(own), len(rows))) for verdict, name, own in top]
    tasks = Counter(row["task"] for row in rows if row["verdict"] in FAILURES).most_common(3)
    told = ", ".join(f"task {task}: {number}" for task, number in tasks)
    table = lined(("Verdict: class of the cause", "Kernels", "Share of all (95 %)"), lines, right=2)
    return f"{table}\n\nThe tasks with most failures are {told}."


def repairs() -> str:
    """Return how many instructive failures one change repairs."""
    every = read("instructive.csv")
    after = Counter(row["repaired"] for row in every)
    sound = after.pop("no defect found", 0)
    rest = ", ".join(f"{number} {verdict}" for verdict, number in after.items())
    return (
        f"{len(every)} failures are told with a line and one change "
        "([table](../reports/datasets/ai_cuda_engineer/README.md#instructive-failures)). After the change the kit "
        f"finds no defect in {sound} of them{f'; the others then read {rest}' if rest else ''}."
    )


def lint(name: str) -> str:
    """Return the lines of a lint that the page repeats."""
    page = (ROOT / "reports" / "datasets" / name / "lint.md").read_text(encoding="utf-8")
    short = page.partition("## In short\n")[2].partition("\n## ")[0].splitlines()
    return "\n".join(line for start in LINTS[name] for line in short if line.startswith(f"- {start}"))


def reconstructions() -> str:
    """Return claim, published ratio and verdict of each reconstruction, on its GPU where one was asked."""
    lines = []
    for folder in sorted({path.parents[1] for path in (ROOT / "reports").glob("*/*/record.json")}):
        every = [(path.parent.name, judge.opened(path)) for path in sorted(folder.glob("*/record.json"))]
        place, record = sorted(every, key=lambda one: one[1].device.kind == "cuda")[-1]
        link = f"[{folder.name}](../reports/{folder.name}/{place}/report.md)"
        lines.append((link, record.claim.statement.title, ratios_claimed(record), record.verdict.name))
    return lined(("Claim", "What was claimed", "Published ratio", "Verdict"), lines)


def error_rates() -> str:
    """Return the kit's own error rates, as the README has them."""
    return self_test.part(ROOT / "reports" / "self_test").rstrip("\n")


def gallery(rows: Sequence[Row]) -> str:
    """Return the paragraph of the gallery."""
    counts, of = counted.verdicts(rows), len(rows)
    judged = Counter(row["judgement"] for row in read("readings.csv"))
    told = ", ".join(f"{percent(counts[name], of)} {words}" for name, words in TOLD.items())
    page = f"../{FOLDER.relative_to(ROOT).as_posix()}/README.md"
    return (
        f"[{of:,} kernels drawn at random]({page}) from the {ARCHIVE:,} public ones of level 1 were asked on the "
        f"emulated device: no defect was found in {percent(counts['no defect found'], of)}, {told}. "
        f"Of {judged.total()} sources of failures that were read, {judged['right']} verdicts are right and "
        f"{judged['false']} false. "
        "[What was found in all sets](findings.md), in two pages."
    )
