"""The parts of the archive's page that follow from the committed tables, as Markdown."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Sequence

import committed
import states
from committed import (
    FAILURES,
    SCRIPTS,
    VERDICTS,
    WITH_CODE,
    WITHIN_TASKS,
    Row,
    family,
    percent,
    read,
    sample,
    share,
    task_names,
)

MEANINGS = {
    "no defect found": "every probe that was asked passed; this is no proof",
    "wrong": "the values, the shape or the launch are wrong at the claimed size, or at one that counts for it",
    "undefined": "undefined by CUDA's rules, whatever the values are: a race, a read of an unwritten or absent value",
    "aliased result": "right when the call returns, in memory that a later call overwrites",
    "reduced precision": "right to fewer bits than the task's type has",
    "mistimed": "work goes on after the call has returned, where a timer does not see it",
    "overstated": "a library or torch does the work, or the claimed size launches none of the source's kernels",
    "vacuous": "the task takes a trivial candidate, such as zeros, for right",
    "cannot be built": "nvcc 13 with the headers of torch 2.11 or later refuses it, or Python cannot import it",
    "no answer": "the emulated device cannot tell ([why](failures.md#causes))",
}
ON_GPU = {"wrong": ", on a GPU too", **{name: f", on a GPU {name}" for name in committed.SOUND_ON_GPU}}
REFERENCE = "the task's own reference fails"
"""The class of kernels without an answer for that reason, see `causes.py`."""
HOSTS = {"2 cores": 2, "a host of one GPU, 16 cores": 16, "a host of four GPUs, 64 cores": 64}
LEAST = 3
"""Kernels of a class that has a line of its own."""


def lined(head: Sequence[str], rows: Iterable[Sequence[object]], *, right: int = 0) -> str:
    """Return a table whose first columns are text and the last `right` numbers."""
    rule = ["---"] * (len(head) - right) + ["---:"] * right
    cells = [[str(cell).replace("|", "\\|") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in (list(head), rule, *cells))


def headline(rows: Sequence[Row]) -> str:
    """Return the answer in one sentence."""
    counts, of = committed.verdicts(rows), len(rows)
    return (
        f"**Of {committed.kernels(of)}, no defect was found in "
        f"{percent(counts['no defect found'], of)}. {percent(committed.faulty(rows), of)} are wrong, rest on undefined "
        f"behaviour or leave the work to a library; {percent(counts['cannot be built'], of)} cannot be built; "
        f"{percent(counts['no answer'], of)} have no answer.**"
    )


def drawn(rows: Sequence[Row]) -> str:
    """Return how many kernels were drawn in which way."""
    if len(rows) >= WITH_CODE:
        return f"All {len(rows):,} kernels with code were asked, and every share of all is of these."
    of_all, tasks = len(sample(rows)), {row["task"] for row in rows if row["drawn"] == WITHIN_TASKS}
    return (
        f"{of_all:,} of the {len(rows):,} kernels asked were drawn from all of them; every share of all is of these. "
        f"The other {len(rows) - of_all:,}, of {len(tasks)} tasks, are in [verdicts.csv](verdicts.csv) and in the "
        "shares of tasks."
    )


def verdicts(rows: Sequence[Row]) -> str:
    """Return the counts of verdicts with what each says."""
    counts = committed.verdicts(rows)
    lines = [(name, MEANINGS[name], counts[name], share(counts[name], len(rows))) for name in VERDICTS if counts[name]]
    return lined(("Verdict", "What it says", "Kernels", "Share (95 %)"), lines, right=2)


def families(rows: Sequence[Row]) -> str:
    """Return the figure of families with its numbers in words."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(family(int(row["task"])), []).append(row)
    told = "; ".join(f"{name}: {committed.faulty(own)} of {len(own)} found faulty" for name, own in groups.items())
    return f"![Verdicts by family of tasks. {told}.](figures/by_family.png)"


def tasks(by_task: Sequence[Row]) -> str:
    """Return the tasks with the largest shares, and how many have none."""
    top = [row for row in by_task if int(row["asked"]) >= 5][:5]
    told = "; ".join(f"{row['task']}, {row['name']}: {_faulty(row)} of {row['asked']}" for row in top)
    none = sum(_faulty(row) == 0 for row in by_task)
    return (
        f"{len(by_task)} tasks were drawn. Of those with five kernels or more these have the largest shares found "
        f"faulty: {told}. "
        f"In {none} tasks no kernel was found faulty. A share of ten kernels is uncertain by 25 points: "
        "[by_task.csv](by_task.csv) has every task with its counts and intervals."
    )


def archive(rows: Sequence[Row]) -> str:
    """Return how many kernels of the whole archive have each state, and how many are copies."""
    every = states.of_today(read("states.csv"), rows)
    lines = [(name, f"{number:,}", f"{100 * number / len(every):.2f} %")
             for name, number in states.counted(every).items()]  # fmt: skip
    copied, same = states.copies(every)
    without = [f"`{row['id']}.cu`" for row in every if row["state"] == states.NO_CODE]
    return (
        f"{lined(('State', 'Kernels', 'Share of the archive'), lines, right=2)}\n\n"
        f"*not asked*: nothing ran. *no code*: the file is empty ({', '.join(without)}). {copied} kernels are further "
        f"copies of the same text, and {len(every) - copied:,} texts are distinct; {same} that were not asked have the "
        "text of one of their task that was. [states.csv](states.csv) has every id with its hash and state."
    )


def references(by_task: Sequence[Row], rows: Sequence[Row]) -> str:
    """Return in how many tasks the task's own reference is seen to pass, and where it is known to fail."""
    task_of = {row["id"]: row["task"] for row in rows}
    repaired = {task_of[row["id"]] for row in read("instructive.csv") if row["repaired"] == "no defect found"}
    silent = [row["task"] for row in by_task if row["no defect found"] == "0"]
    unseen = sorted({*silent} - repaired, key=int)
    failed = {row["task"] for row in rows if row["cause"] == REFERENCE}
    vacuous = [row["task"] for row in by_task if row["vacuous"] != "0"]
    return (
        f"Tasks whose own reference fails: {len(failed)} of {len(by_task)}. In {len(by_task) - len(silent)} tasks a "
        f"kernel has no defect found, in {len(silent) - len(unseen)} more a repaired one, so that the reference passes "
        f"every probe too; in {len(unseen)} none has ({', '.join(unseen) or 'none'}), and the reference was held to "
        f"the probes that a kernel failed alone. Tasks that take a trivial candidate for right: {len(vacuous)} "
        f"({', '.join(vacuous) or 'none'})."
    )


def cost(_: Sequence[Row]) -> str:
    """Return the processor time of the whole archive, as an estimate from the kernels that were asked."""
    number = Counter(int(row["task"]) for row in read("states.csv") if row["state"] != states.NO_CODE)
    with (SCRIPTS / "costs.csv").open(newline="") as file:
        seconds = sum(float(row["seconds"]) * number[int(row["task"])] for row in csv.DictReader(file))
    lines = [(where, f"{_hours(seconds / cores)} h") for where, cores in HOSTS.items()]
    return (
        f"{lined(('Machine, one process a core', 'All kernels'), lines, right=1)}\n\n"
        "An estimate, not a run: the seconds that a kernel of each task took on a host of 32 or 64 cores "
        f"(`bench/archive/costs.csv`), times its kernels: {round(seconds, -3):,.0f} process-seconds. It errs high: "
        "there were more processes than cores, and kernels of one task share its right results."
    )


def _hours(seconds: float) -> str:
    hours = seconds / 3600
    return f"{hours:.0f}" if hours >= 10 else f"{hours:.1f}"


def _faulty(row: Row) -> int:
    return sum(int(row[name]) for name in FAILURES)


def causes(rows: Sequence[Row]) -> str:
    """Return the classes of failures, with what the readers made of those of them that they read."""
    said = {row["id"]: row for row in read("readings.csv")}
    every = [one for one in committed.causes(rows) if one[0] in (*FAILURES, "vacuous")]
    lines = []
    for verdict, name, own in (one for one in every if len(one[2]) >= LEAST):
        there = [said[row["id"]] for row in own if row["id"] in said]
        right = sum(row["judgement"] == "right" for row in there)
        words = Counter(row["defect"] for row in there).most_common(1)
        often = f"{words[0][0]} ({words[0][1]})" if words else ""
        of = f"{right} of {len(there)}" if there else ""
        lines.append((verdict, name, often, of, len(own), share(len(own), len(rows))))
    head = ("Verdict", "Class", "Readers' most frequent words", "Read and right", "Kernels", "Share of all (95 %)")
    rest = sum(len(own) for _, _, own in every if len(own) < LEAST)
    return f"{lined(head, lines, right=3)}\n\n{rest} kernels are in classes of less than {LEAST}."


def unanswered(rows: Sequence[Row]) -> str:
    """Return the classes of kernels that cannot be built or have no answer."""
    told = list[str]()
    for wanted in ("cannot be built", "no answer"):
        own = ", ".join(f"{name} ({len(of)})" for verdict, name, of in committed.causes(rows) if verdict == wanted)
        told.append(f"- *{wanted}*: {own or 'none'}.")
    last = "[by_cause.csv](by_cause.csv) has every class with its interval, `verdicts.csv` that of each kernel."
    return "\n".join([*told, "", last])


def readers(rows: Sequence[Row]) -> str:
    """Return what readers of the sources said."""
    judged = Counter(row["judgement"] for row in read("readings.csv"))
    of = judged.total()
    failed = [row for row in rows if row["verdict"] in FAILURES]
    seen = sum(bool(row["read"]) or row["gpu"] == "wrong" for row in failed)
    table = lined(("Judgement of the reader", "Kernels"), judged.most_common(), right=1)
    return (
        f"{seen:,} of {len(failed):,} failures have a second witness: a reader of the source, who was asked to find "
        "the kit wrong ([readings.csv](readings.csv)), or an H200, where the values are wrong as well. "
        f"Of {of} sources read, the verdict is false in {share(judged['false'], of)}.\n\n{table}"
    )


def gpu(rows: Sequence[Row]) -> str:
    """Return the verdicts of both devices side by side."""
    pairs = Counter((row["verdict"], row["gpu"]) for row in rows if row["gpu"])
    sound = committed.on_gpu(rows, "no defect found")
    lines = [(here, there, number) for (here, there), number in sorted(pairs.items())]
    return (
        f"{lined(('Emulated device', 'On the GPU', 'Kernels'), lines, right=1)}\n\n"
        f"Of {len(sound)} kernels with no defect found and an answer on the GPU, wrong there are "
        f"{sound.count('wrong')}: {share(sound.count('wrong'), len(sound))}."
    )


def examples(rows: Sequence[Row]) -> str:
    """Return the instructive failures: what happens, the one change, and the verdict of the repaired source."""
    known, names = {row["id"]: row for row in rows}, task_names()
    lines = []
    for one in read("instructive.csv"):
        own = known[one["id"]]
        verdict = own["verdict"] + ON_GPU.get(own["gpu"], "")
        task = f"{own['task']}: {names[int(own['task'])]}"
        lines.append((one["id"], task, verdict, one["line"], one["happens"], one["change"], one["repaired"]))
    head = ("Id", "Task", "Verdict", "Line", "What happens", "One change", "Verdict then")
    return lined(head, lines)
