"""The parts of `docs/findings.md` that follow from committed data: the archive, the lints, the reconstructions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import committed
from committed import FAILURES, FOLDER, ROOT, Row, percent, read, share
from tables import LEAST, lined

from audit import judge
from audit.apps.pages import self_test
from audit.apps.selftest.score import rates, shortfalls

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
    counts, of = committed.verdicts(rows), len(rows)
    judged = Counter(row["judgement"] for row in read("readings.csv"))
    sound = committed.on_gpu(rows, "no defect found")
    bad, missed = committed.faulty(rows), sound.count("wrong")
    return (
        f"Of {committed.kernels(of)}, {bad:,} were found faulty: {share(bad, of)}. "
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
    found = [one for one in committed.causes(rows) if one[0] in FAILURES and len(one[2]) >= LEAST]
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
        "([table](../reports/datasets/ai_cuda_engineer/failures.md#instructive-failures)). After the change the kit "
        f"finds no defect in {sound} of them{f'; the others then read {rest}' if rest else ''}."
    )


def lint(name: str) -> str:
    """Return the lines of a lint that the page repeats."""
    page = (ROOT / "reports" / "datasets" / name / "lint.md").read_text(encoding="utf-8")
    short = page.partition("## In short\n")[2].partition("\n## ")[0].splitlines()
    return "\n".join(line for start in LINTS[name] for line in short if line.startswith(f"- {start}"))


def lint_table(name: str, title: str) -> str:
    """Return the table of a lint that stands under that title."""
    page = (ROOT / "reports" / "datasets" / name / "lint.md").read_text(encoding="utf-8")
    found = page.partition(f"**{title}**\n\n")[2].partition("\n\n")[0]
    if not found.startswith("|"):
        raise SystemExit(f"{name}/lint.md has no table of the title {title}")
    return found


def reconstructions() -> str:
    """Return how many reconstructions have each verdict, on the GPU where one was asked, and their names."""
    found: dict[str, list[str]] = {}
    for folder in sorted({path.parents[1] for path in (ROOT / "reports").glob("*/*/record.json")}):
        records = [judge.opened(path) for path in sorted(folder.glob("*/record.json"))]
        last = sorted(records, key=lambda record: record.device.kind == "cuda")[-1]
        if last.claim.statement.source.fidelity == "given":
            continue  # an example of ours, which nobody published
        found.setdefault(last.verdict.name, []).append(f"`{folder.name}`")
    told = "; ".join(f"*{verdict}* ({len(names)}): {', '.join(names)}" for verdict, names in found.items())
    return (
        f"{sum(map(len, found.values()))} claims were written again by us from published facts, and audited on a "
        f"GPU where one was there: {told}. "
        "[Published ratios, root causes and reports](gallery.md#ten-published-mechanisms)."
    )


def error_rates() -> str:
    """Return the kit's own error rates on each device, a row a run over controls."""
    lines = []
    for record in self_test.last(self_test.published(ROOT / "reports" / "self_test")):
        known, device = rates(record.rows), record.device.name
        name = f"{device}, short of the aim" if shortfalls(record) else device
        caught = known.proved if self_test.blind(record) else known.caught
        kind = "blind, proved" if self_test.blind(record) else "made for a probe, caught"
        failed = f"{known.falsely_failed} of {known.known_good}"
        lines.append((name, kind, f"{caught} of {known.known_bad}", failed))
    return lined(("Device", "Controls", "Known-bad", "Known-good, falsely failed"), lines, right=2)


def gallery(rows: Sequence[Row]) -> str:
    """Return the paragraph of the gallery."""
    counts, of = committed.verdicts(rows), len(rows)
    judged = Counter(row["judgement"] for row in read("readings.csv"))
    told = ", ".join(f"{percent(counts[name], of)} {words}" for name, words in TOLD.items())
    page = f"../{FOLDER.relative_to(ROOT).as_posix()}/README.md"
    return (
        f"Asked on the emulated device were [{committed.kernels(of)}]({page}), of level 1: no "
        f"defect was found in {percent(counts['no defect found'], of)}, {told}. "
        f"Of {judged.total()} sources of failures that were read, {judged['right']} verdicts are right and "
        f"{judged['false']} false. "
        "[What was found in all sets](findings.md), in two pages."
    )
