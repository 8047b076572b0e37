"""The review of a claim's sources in one process with limits of its own: a source that breaks it breaks nothing else.

`python -m audit.review.process SECONDS BYTES` reads lists of sources as JSON from standard input, a list a line. It
prints the findings of each source on a line, or the changes that repair it where its failures stand beside it. The
next audit of the same process asks the same reviewer, since to start one takes longer than to review most sources.
"""

from __future__ import annotations

import atexit
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from audit.model import Change, Finding
from audit.review import reach
from audit.review.hints import REVIEW, review_python, review_source
from audit.review.repairs import propose, propose_python

SECONDS, BYTES = 20, 8 << 30
"""Of processor time for one source, and of address space: four million characters take less than half of either."""
LARGE = 1 << 20
"""Characters of sources after which a reviewer, which may hold gigabytes then, is not kept."""
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


class _Reviewer:
    """A process that reviews sources until its standard input closes."""

    def __init__(self) -> None:
        self._made_by, self._limits = os.getpid(), (SECONDS, BYTES)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "audit.review.process", str(SECONDS), str(BYTES)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="ascii",
            cwd=_KIT,
            process_group=0,  # Ctrl-C is for the audit, which ends it
        )

    def fits(self) -> bool:
        """Return whether it equals a reviewer started now."""
        now = os.getpid(), (SECONDS, BYTES)
        return (self._made_by, self._limits) == now and self._process.poll() is None

    def ask(self, requests: str, count: int) -> list[str]:
        """Return the lines that answer the requests, fewer where one of them ended it."""
        assert self._process.stdin is not None and self._process.stdout is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(requests + "\n")
            self._process.stdin.flush()
        lines = list(islice(self._process.stdout, count))
        return [line for line in lines if line.endswith("\n")]

    def close(self) -> int:
        """End it; return its exit code."""
        with suppress(BrokenPipeError):
            self._process.communicate()
        return self._process.returncode


_idle: list[_Reviewer] = []


def _reviewer() -> _Reviewer:
    """Return the idle reviewer of an earlier audit of this process, or a new one."""
    with suppress(IndexError):  # another thread may take it first
        if (reviewer := _idle.pop()).fits():
            return reviewer
    return _Reviewer()


def _asked(requests: Sequence[dict[str, Any]]) -> tuple[int, list[str]]:
    """Return the answers of a reviewer, with its exit code if a request ended it."""
    reviewer, text = _reviewer(), json.dumps(requests)
    lines = reviewer.ask(text, len(requests))
    if len(lines) < len(requests) or len(text) > LARGE or _idle:
        return reviewer.close(), lines
    _idle.append(reviewer)
    return 0, lines


@atexit.register
def _close_idle() -> None:
    for reviewer in _idle:
        if reviewer.fits():
            reviewer.close()


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
    for line in sys.stdin:
        for request in json.loads(line):
            found = _answered(request, seconds)
            print(json.dumps([each.model_dump(mode="json") for each in found]), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
