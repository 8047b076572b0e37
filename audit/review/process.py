"""The review of a claim's sources in one process with limits of its own: a source that breaks it breaks nothing else.

`python -m audit.review.process` reads lines of JSON, a list of sources each, and prints the findings of each source on
a line. It waits for the sources of the next audit: to start Python and the parser takes longer than most reviews.
"""

from __future__ import annotations

import atexit
import json
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from audit.model import Finding
from audit.review import reach
from audit.review.hints import REVIEW, review_python, review_source

SECONDS, BYTES = 20, 8 << 30
"""Of processor time for one source, and of address space: four million characters take less than half of either."""
MOST_CHARACTERS = 1_000_000
"""Of sources after which the process waits for more."""
_KIT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Source:
    """One source to review; see `hints.review_source` for the rest.

    Args:
        text: of the source.
        python: whether it is Python, not CUDA.
    """

    text: str
    python: bool
    target: str
    precision: str
    advice: bool


def findings(sources: Sequence[Source]) -> list[list[Finding]]:
    """Return the findings of each source; one that says why where a source ended the process."""
    found: list[list[Finding]] = []
    with _ONE_AT_A_TIME:
        while len(found) < len(sources):
            code, lines = _asked(sources[len(found) :])
            found += [[Finding.model_validate(each) for each in json.loads(line)] for line in lines]
            if len(found) < len(sources):
                found.append(_unreviewed(sources[len(found)], code))
    return found


_ONE_AT_A_TIME = threading.Lock()
_waiting: dict[int, subprocess.Popen[str]] = {}
"""The process that waits for more sources, by the number of its parent: a fork does not use the one it inherits."""


def _asked(sources: Sequence[Source]) -> tuple[int, list[str]]:
    """Return the exit code of the process that reviews these sources, 0 where it goes on, and the lines it finished."""
    process, lines = _waiting.pop(os.getpid(), None) or _started(), list[str]()
    try:
        with suppress(BrokenPipeError):
            print(json.dumps([asdict(one) for one in sources]), file=process.stdin, flush=True)
        assert process.stdout is not None
        while len(lines) < len(sources) and (line := process.stdout.readline()).endswith("\n"):
            lines.append(line)
    except BaseException:
        process.kill()
        process.wait()
        raise
    if len(lines) < len(sources):
        return process.wait(), lines
    if sum(len(one.text) for one in sources) > MOST_CHARACTERS:
        process.communicate()  # the memory that large sources took goes with it
    else:
        _waiting[os.getpid()] = process
    return 0, lines


def _started() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "audit.review.process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="ascii",
        cwd=_KIT,
        process_group=0,  # Ctrl-C is for the audit, which ends it
    )


@atexit.register
def _end_waiting() -> None:
    process = _waiting.pop(os.getpid(), None)
    if process is not None:
        process.communicate()


def _unreviewed(source: Source, code: int) -> list[Finding]:
    """Return the error of the review; of a Python source it is one of `reach` too, which blocks a verdict."""
    why = f"it takes more than {SECONDS} s" if -code == signal.SIGXCPU else f"its process ended with code {code}"
    text, names = f"the source could not be reviewed: {why}", (REVIEW, reach.NAME) if source.python else (REVIEW,)
    return [Finding(probe=name, target=source.target, outcome="error", summary=text) for name in names]


def _review(source: Source) -> list[Finding]:
    spent = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(spent.ru_utime + spent.ru_stime) + SECONDS + 1
    resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.getrlimit(resource.RLIMIT_CPU)[1]))
    ask = review_python if source.python else review_source
    return ask(source.text, target=source.target, precision=source.precision, advice=source.advice)


def main() -> None:
    """Reviews one source after another until its input ends."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (BYTES if hard < 0 else min(BYTES, hard), hard))
    for line in sys.stdin:
        for source in json.loads(line):
            found = _review(Source(**source))
            print(json.dumps([each.model_dump(mode="json") for each in found]), flush=True)


if __name__ == "__main__":
    main()
