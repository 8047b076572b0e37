"""The review of a claim's sources in one process with limits of its own: a source that breaks it breaks nothing else.

`python -m audit.review.process SECONDS BYTES` reads sources as JSON from standard input and prints the findings of each
on a line, or the changes that repair it where its failures stand beside it.
"""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from audit.model import Change, Finding
from audit.review import reach
from audit.review.hints import REVIEW, review_python, review_source
from audit.review.repairs import propose, propose_python

SECONDS, BYTES = 20, 8 << 30
"""Of processor time for one source, and of address space: four million characters take less than half of either."""
_KIT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Source:
    """One source to review, in Python or in CUDA; see `hints.review_source` for the rest."""

    text: str
    python: bool
    target: str
    precision: str
    advice: bool
    entry: str = ""
    lines: int | None = None


def findings(sources: Sequence[Source]) -> list[list[Finding]]:
    """Return the findings of each source; one that says why where a source ended the process."""
    found: list[list[Finding]] = []
    while len(found) < len(sources):
        code, lines = _asked([asdict(one) for one in sources[len(found) :]])
        found += [[Finding.model_validate(each) for each in json.loads(line)] for line in lines]
        if len(found) < len(sources):
            found.append(_unreviewed(sources[len(found)], code))
    return found


def changes(text: str, proved: Sequence[Finding], *, python: bool = False) -> list[Change]:
    """Return the changes that may repair a source, see `repairs.propose`; none where it ended the process."""
    _, lines = _asked([{"text": text, "python": python, "proved": [one.model_dump(mode="json") for one in proved]}])
    return [Change.model_validate_json(json.dumps(each)) for line in lines for each in json.loads(line)]


def _asked(requests: Sequence[dict[str, Any]]) -> tuple[int, list[str]]:
    """Return the exit code of a process that answers these requests, and the lines it has finished."""
    done = subprocess.run(
        [sys.executable, "-m", "audit.review.process", str(SECONDS), str(BYTES)],
        input=json.dumps(requests),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="ascii",
        cwd=_KIT,
        process_group=0,  # Ctrl-C is for the audit, which ends it
        check=False,
    )
    return done.returncode, [line for line in done.stdout.splitlines(keepends=True) if line.endswith("\n")]


def _unreviewed(source: Source, code: int) -> list[Finding]:
    """Return the error of the review; of a Python source it is one of `reach` too, which blocks a verdict."""
    why = f"it takes more than {SECONDS} s" if -code == signal.SIGXCPU else f"its process ended with code {code}"
    text, names = f"the source could not be reviewed: {why}", (REVIEW, reach.NAME) if source.python else (REVIEW,)
    return [Finding(probe=name, target=source.target, outcome="error", summary=text) for name in names]


def _answered(request: dict[str, Any], seconds: int) -> Sequence[Finding | Change]:
    spent = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(spent.ru_utime + spent.ru_stime) + seconds + 1
    resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.getrlimit(resource.RLIMIT_CPU)[1]))
    if "proved" in request:
        proved = [Finding.model_validate_json(json.dumps(one)) for one in request["proved"]]
        return (propose_python if request["python"] else propose)(request["text"], proved)
    return (review_python if request.pop("python") else review_source)(**request)


def main(seconds: int, most_bytes: int) -> None:
    """Answers one request after another, each within the seconds, and all within the bytes of address space."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (most_bytes if hard < 0 else min(most_bytes, hard), hard))
    for request in json.load(sys.stdin):
        found = _answered(request, seconds)
        print(json.dumps([each.model_dump(mode="json") for each in found]), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
