"""Progress of a batch: a line for each audit that ended, with counts and the time it may still take."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection
from typing import TextIO

from audit.report import terminal

QUIET_S = 4.0


class Told:
    """Prints plain lines.

    Args:
        total: audits of the batch.
        skipped: of these, finished before.
    """

    def __init__(self, total: int, *, skipped: int = 0, stream: TextIO | None = None) -> None:
        self._total = total
        self._done = self._skipped = skipped
        self._stream = stream or sys.stdout
        self._began = self._last = time.monotonic()
        if skipped:
            self._say(f"{skipped} of {total} finished before and are left as they are")

    def ended(self, name: str, state: str, word: str, *, seconds: float) -> None:
        """An audit is over."""
        self._done += 1
        self._say(f"{name}: {state}: {word} ({seconds:.1f} s); {self.left()}")

    def again(self, name: str, reason: str) -> None:
        """An audit is tried again."""
        self._say(f"{name}: tried again: {reason}")

    def tick(self, running: Collection[str]) -> None:
        """Something every few seconds, though nothing ended."""
        if time.monotonic() - self._last > QUIET_S:
            named = ", ".join(list(running)[:3]) + (f" and {len(running) - 3} more" if len(running) > 3 else "")
            self._say(f"at work: {named or 'nothing'}; {self.left()}")

    def left(self) -> str:
        """How many are left, and for how long at the pace so far."""
        rest, here = self._total - self._done, self._done - self._skipped
        if not rest:
            return "none left"
        pace = f"about {rest * (time.monotonic() - self._began) / here:.0f} s" if here else "no pace known yet"
        return f"{rest} left, {pace}"

    def _say(self, text: str) -> None:
        self._last = time.monotonic()
        count = f"[{self._done:>{len(str(self._total))}}/{self._total}]"
        terminal.say(f"{self._last - self._began:7.1f} s  {count} {text}", file=self._stream)
