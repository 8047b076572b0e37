"""Progress on a terminal or in a notebook: the stage, the share done, the time left.

On a terminal its last line is brought up to date; elsewhere there is a line after every half minute without one.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from audit.report import terminal

if TYPE_CHECKING:
    from audit.report.view import Tone

QUIET_S, STALLED_S = 30.0, 60.0
LOOK_S = 0.5
LEAST_SHARE = 0.05
MOST_NAMED = 3


class Progress:
    """Print a line for each step done, and what is under way: on a terminal's last line, else after `QUIET_S`.

    Args:
        stream: where the lines go; None is standard output.
        watch: is called with this object when a stage begins, every half second of it, and when it ends.
    """

    def __init__(self, stream: TextIO | None = None, *, watch: Callable[[Progress], None] | None = None) -> None:
        self._stream = stream or sys.stdout
        self._watch = watch or (lambda _: None)
        self._started = self._last = time.monotonic()
        self.running = ""
        """The running stage; empty where none runs."""
        self._counted_since = self._advanced = self._started
        self._lock = threading.Lock()
        self._rewrites, self._status = self._stream.isatty(), ""
        self._doing: dict[str, float] = {}
        self._expected = self._done = 0
        self.planned: tuple[str, ...] = ()
        self.stages: list[tuple[str, float]] = []

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Run the body as a stage and keep its wall-clock seconds in `stages`.

        A stage may run within another, and several in threads of their own.
        """
        before, began, ended = self.running, time.monotonic(), threading.Event()
        ticker = threading.Thread(target=self._tick, args=(name, ended), daemon=True)
        self.running = name
        self._watch(self)
        ticker.start()
        try:
            yield
        finally:
            ended.set()
            ticker.join()
            self._show("")
            self.stages.append((name, round(time.monotonic() - began, 2)))
            self.running = before
            self._watch(self)

    def plan(self, stages: Sequence[str]) -> None:
        """Print the stages to come, in their order."""
        self.planned = tuple(stages)
        self.say(f"stages: {', '.join(stages)}")

    def expect(self, pieces: int) -> None:
        """Add pieces of work to be done, fewer where it is less than expected; a piece is one answer of one probe."""
        with self._lock:
            self._expected += pieces

    def begin(self, pieces: int) -> None:
        """Start to count anew, with pieces of another size: their share and their pace tell nothing of earlier ones."""
        with self._lock:
            self._expected, self._done = pieces, 0
            self._counted_since = self._advanced = time.monotonic()

    def advance(self, pieces: int = 1) -> None:
        """Count pieces of work as done."""
        with self._lock:
            self._done, self._advanced = min(self._done + pieces, self._expected), time.monotonic()

    def complete(self) -> None:
        """Count all expected work as done, needless work included."""
        with self._lock:
            self._done = self._expected

    @property
    def share(self) -> float:
        """The share of the expected work that is done, from 0 to 1; 0 where none is expected."""
        return self._done / self._expected if self._expected else 0.0

    def left(self) -> str:
        """Return the share done and the time left at the pace so far; empty where too little is done to show a pace.

        Where nothing was done for STALLED_S the pace says nothing, and the time left would grow while it is read.
        """
        if self.share < LEAST_SHARE:
            return ""
        if self.share == 1:
            return "100% done"
        now, done = time.monotonic(), f"{min(99, round(100 * self.share))}% done"
        if now - self._advanced > STALLED_S:
            return done
        return f"{done}, about {(now - self._counted_since) * (1 - self.share) / self.share:.0f} s left"

    def say(self, text: str, *, mark: tuple[str, Tone] | None = None) -> None:
        """Print one line after the seconds since the start and the stage; `mark` as in `terminal.say`."""
        with self._lock:
            self._last = time.monotonic()
            if self._status:
                terminal.rewrite("", file=self._stream)
            terminal.say(self._line(text), file=self._stream, mark=mark)
            if self._status:
                terminal.rewrite(self._status, file=self._stream)

    @contextmanager
    def doing(self, what: str) -> Iterator[None]:
        """Name the work of the body, which may take a while; may be nested and used from several threads."""
        with self._lock:
            self._doing[what] = time.monotonic()
        try:
            yield
        finally:
            with self._lock:
                self._doing.pop(what, None)

    def _tick(self, name: str, ended: threading.Event) -> None:
        while not ended.wait(LOOK_S):
            self._watch(self)
            text = "; ".join(filter(None, (self.left(), self.under_way() or f"still in {name}")))
            if self._rewrites:
                self._show(self._line(text))
            elif time.monotonic() - self._last > QUIET_S:
                self.say(text)

    def _line(self, text: str) -> str:
        return f"{time.monotonic() - self._started:7.1f} s  {self.running:<8} {text}"

    def _show(self, status: str) -> None:
        """Show the status on the terminal's last line; elsewhere there is none."""
        with self._lock:
            if status != self._status:
                self._status = status
                terminal.rewrite(status, file=self._stream)

    def under_way(self) -> str:
        """Return the work under way with its seconds, longest first."""
        with self._lock:
            now = time.monotonic()
            shown = [f"{what} ({now - since:.0f} s)" for what, since in self._doing.items()]
        more = f" and {len(shown) - MOST_NAMED} more" if len(shown) > MOST_NAMED else ""
        return ", ".join(shown[:MOST_NAMED]) + more
