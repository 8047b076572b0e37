"""A headless Chromium spoken to through a pipe in its DevTools protocol, with nothing but the standard library."""

from __future__ import annotations

import json
import os
import select
import shlex
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any

from audit.report import formats

LIMIT_S = 60.0


class Page:
    """One page; everything it logs and asks the network for is kept."""

    def __init__(self, profile: Path) -> None:
        result, self._asks = os.pipe()
        self._answers, tells = os.pipe()
        command = [formats.browser_needed(), *formats.options(profile), "--remote-debugging-pipe", "about:blank"]
        # Chromium reads commands from descriptor 3 and writes answers to 4.
        line = f"exec {shlex.join(command)} 3<&{result} 4>&{tells}"
        self._process = subprocess.Popen(["bash", "-c", line], pass_fds=(result, tells), stderr=subprocess.DEVNULL)
        os.close(result)
        os.close(tells)
        self._number, self._buffer, self._session = 0, b"", ""
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Page:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        self._process.wait(timeout=LIMIT_S)
        os.close(self._asks)
        os.close(self._answers)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The result of a command; events that come before it are kept."""
        self._number += 1
        asked = {"id": self._number, "method": method, "params": parameters}
        os.write(
            self._asks, json.dumps(asked | ({"sessionId": self._session} if self._session else {})).encode() + b"\0"
        )
        while (answer := self._next()).get("id") != self._number:
            self.events.append(answer)
        assert "error" not in answer, answer["error"]
        result: dict[str, Any] = answer["result"]
        return result

    def open(self, file: Path) -> None:
        """Loads a file and waits until it is there."""
        self.events.clear()
        self.call("Page.navigate", url=file.as_uri())
        end = time.monotonic() + LIMIT_S
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            assert time.monotonic() < end, "the page did not load"
            self.events.append(self._next())

    def show(self, *, width: int, scheme: str, media: str = "") -> None:
        """The size of the window, the colour scheme the reader prefers, and "print" for paper."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500
        )
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=media, features=features)

    def value(self, expression: str) -> Any:
        """The value of an expression in the page."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._answers], [], [], LIMIT_S)
            assert ready, f"the browser said nothing for {LIMIT_S:.0f} s"
            read = os.read(self._answers, 1 << 20)
            assert read, "the browser ended"
            self._buffer += read
        message, _, self._buffer = self._buffer.partition(b"\0")
        answer: dict[str, Any] = json.loads(message)
        return answer
