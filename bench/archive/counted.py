"""Count verdicts: shares with their 95 % intervals, by task and by cause. Pure functions of the committed rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from committed import ARCHIVE, FAILURES, VERDICTS, WITH_CODE, Row, family, task_names

from audit.apps.selftest.score import interval

BY_CAUSE = ("verdict", "cause", "kernels", "of", "share", "low", "high")
BY_TASK = ("task", "name", "family", "asked", *VERDICTS, "found faulty", "low", "high")


def share(number: int, of: int) -> str:
    """Return a share with its interval in words."""
    low, high = interval(number, of)
    return f"{number / of:.1%} ({low:.1%} to {high:.1%})".replace("%", " %") if of else "none asked"


def percent(number: int, of: int) -> str:
    """Return a share in words, without its interval."""
    return f"{number / of:.0%}".replace("%", " %") if of else "none"


def kernels(of: int) -> str:
    """Return which kernels shares are of, in words."""
    if of >= WITH_CODE:
        return f"all {of:,} kernels with code among {ARCHIVE:,} public ones"
    return f"{of:,} kernels drawn at random from {ARCHIVE:,} public ones"


def verdicts(rows: Iterable[Row]) -> Counter[str]:
    """Return the number of kernels of each verdict."""
    return Counter(row["verdict"] for row in rows)


def faulty(rows: Iterable[Row]) -> int:
    """Return how many kernels have a verdict that finds fault."""
    return sum(row["verdict"] in FAILURES for row in rows)


def on_gpu(rows: Iterable[Row], verdict: str) -> list[str]:
    """Return the answers of a GPU about the kernels of a verdict."""
    return [row["gpu"] for row in rows if row["verdict"] == verdict and row["gpu"] in {"wrong", "right at its inputs"}]


def by_task(rows: Sequence[Row]) -> list[Row]:
    """Return one row a task that was asked, those with the largest share found faulty first."""
    found, names = [], task_names()
    for task in sorted({int(row["task"]) for row in rows}):
        own = [row for row in rows if int(row["task"]) == task]
        counts, bad = verdicts(own), faulty(own)
        low, high = interval(bad, len(own))
        found.append(
            {"task": str(task), "name": names[task], "family": family(task), "asked": str(len(own))}
            | {verdict: str(counts[verdict]) for verdict in VERDICTS}
            | {"found faulty": f"{bad / len(own):.3f}", "low": f"{low:.3f}", "high": f"{high:.3f}"}
        )
    return sorted(found, key=lambda row: -float(row["found faulty"]))


def causes(rows: Iterable[Row]) -> list[tuple[str, str, list[Row]]]:
    """Return verdict, class and kernels of each class, in the order of verdicts, the largest first."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row["cause"]:
            groups.setdefault((row["verdict"], row["cause"]), []).append(row)
    order = sorted(groups, key=lambda key: (VERDICTS.index(key[0]), key[1] == "other", -len(groups[key])))
    return [(*key, groups[key]) for key in order]


def by_cause(rows: Sequence[Row]) -> list[Row]:
    """Return one row a class, with its share of all kernels asked."""
    found = []
    for verdict, name, own in causes(rows):
        low, high = interval(len(own), len(rows))
        numbers = (str(len(own)), str(len(rows)), f"{len(own) / len(rows):.4f}", f"{low:.4f}", f"{high:.4f}")
        found.append(dict(zip(BY_CAUSE, (verdict, name, *numbers), strict=True)))
    return found
