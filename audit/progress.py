"""Progress on a terminal or in a notebook: stage, what is done, elapsed time; never silent for five seconds."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from audit import terminal

QUIET_S = 4.0
MOST_NAMED = 3


class Progress:
    """Prints one plain line for each thing done, and one for every few seconds in which nothing was."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout
        self._started = self._last = time.monotonic()
        self._stage = ""
        self._lock = threading.Lock()
        self._doing: dict[str, float] = {}
        self.stages: list[tuple[str, float]] = []

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Names the stage that runs in the body and keeps its wall-clock seconds in `stages`."""
        began = time.monotonic()
        ended = threading.Event()
        ticker = threading.Thread(target=self._tick, args=(name, ended), daemon=True)
        self._stage = name
        ticker.start()
        try:
            yield
        finally:
            ended.set()
            ticker.join()
            self.stages.append((name, round(time.monotonic() - began, 2)))

    def say(self, text: str) -> None:
        """One line, with the seconds since the start and the stage before it."""
        with self._lock:
            self._last = time.monotonic()
            seconds = self._last - self._started
            terminal.say(f"{seconds:7.1f} s  {self._stage:<8} {text}", file=self._stream)

    @contextmanager
    def doing(self, what: str) -> Iterator[None]:
        """Names something the body does, which may take a while; may be nested and used from several threads."""
        with self._lock:
            self._doing[what] = time.monotonic()
        try:
            yield
        finally:
            with self._lock:
                self._doing.pop(what, None)

    def _tick(self, name: str, ended: threading.Event) -> None:
        while not ended.wait(0.5):
            if time.monotonic() - self._last > QUIET_S:
                self.say(self.under_way() or f"still in {name}")

    def under_way(self) -> str:
        """What is being done and for how long, longest first."""
        with self._lock:
            now = time.monotonic()
            told = [f"{what} ({now - since:.0f} s)" for what, since in self._doing.items()]
        more = f" and {len(told) - MOST_NAMED} more" if len(told) > MOST_NAMED else ""
        return ", ".join(told[:MOST_NAMED]) + more
