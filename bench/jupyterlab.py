"""JupyterLab opens a notebook and runs all of it, in a headless Chromium: what a person would see, also on a phone.

    python bench/jupyterlab.py [notebook] [--screenshots FOLDER]

Needs the extra `notebook` and chromium. Starts `jupyter lab` on a copy of the notebook beside this checkout, so that
nothing in it is saved over, drives it through the DevTools protocol, and writes `bench/results/jupyterlab.json`: every
cell's state, where the verdict stands on each screen of `SCREENS`, what the console said, and every address that was
asked for outside this machine. On a screen but the first the notebook is opened again as it was saved.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

from measured import ROOT, keep
from tornado.websocket import websocket_connect

from audit.apps.batch.jobs import python_path

LIMIT_S = 540.0
BIGGEST = 64 << 20
OPEN = """jupyterapp.restored.then(() => jupyterapp.commands.execute('docmanager:open',
  {{path: 'notebooks/{notebook}', factory: 'Notebook'}})).then(panel => {{ window.panel = panel;
  jupyterapp.shell.activateById(panel.id); return panel.sessionContext.ready; }}).then(() => true)"""
IDLE = "panel.sessionContext.session?.kernel?.status === 'idle'"
RUN = "jupyterapp.shell.activateById(panel.id); jupyterapp.commands.execute('notebook:run-all-cells'); true"
CELLS = """JSON.stringify(panel.content.widgets.map(one => ({
  type: one.model.type, id: one.model.id, count: one.model.sharedModel.execution_count ?? null,
  state: one.model.executionState ?? null,
  outputs: (one.model.sharedModel.outputs ?? []).map(output => output.output_type),
  told: (one.model.sharedModel.outputs ?? []).filter(output => output.output_type === 'error').map(o => o.evalue)})))"""
VERDICT = """(() => { const found = [...document.querySelectorAll('.jp-RenderedMarkdown strong')]
  .filter(one => one.textContent.startsWith('Verdict'))[0]; const lines = found?.closest('.jp-RenderedMarkdown');
  return found ? {text: found.textContent, top_px: Math.round(found.getBoundingClientRect().top),
    wider_px: lines.scrollWidth - lines.clientWidth} : null; })()"""
AT = """(() => { const notebook = panel.content;
  const at = notebook.widgets.findIndex(one => one.model.id === '{cell}');
  notebook.activeCellIndex = Math.max(at, 0); notebook.scrollToItem(notebook.activeCellIndex, 'start');
  return true; })()"""
FOLD = """Promise.all([jupyterapp.shell.leftCollapsed || jupyterapp.commands.execute('application:toggle-left-area'),
  ...['left', 'right'].map(side => jupyterapp.commands.execute('application:toggle-side-tabbar', {side}))])
  .then(() => true)"""
"""On a phone a person folds the file browser and the bars of tabs, which leave the notebook no room."""
SCREENS = ((1280, 1400), (390, 844))
"""Widths and heights, in pixels of CSS."""


class Browser:
    """One page of a Chromium, over DevTools; keeps what the console says and which addresses are asked for."""

    def __init__(self, socket: Any) -> None:
        self._socket = socket
        self._number = 0
        self.console: list[str] = []
        self.requests: list[str] = []

    async def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The answer to one command; events before it are kept."""
        self._number += 1
        await self._socket.write_message(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            values = json.loads(await self._socket.read_message())
            if values.get("id") == self._number:
                return dict(values["result"])
            self._event(values)

    async def value(self, expression: str) -> Any:
        """What an expression gives in the page; None where it raises."""
        result = await self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        return result["result"].get("value")

    async def until(self, expression: str, *, limit_s: float) -> None:
        """Waits until an expression is true. Raises TimeoutError."""
        ends = time.monotonic() + limit_s
        while not await self.value(f"Boolean({expression})"):
            if time.monotonic() > ends:
                raise TimeoutError(f"not within {limit_s:.0f} s: {expression}; {self.console}")
            await asyncio.sleep(0.5)

    def _event(self, by_name: dict[str, Any]) -> None:
        values = by_name.get("params", {})
        if by_name.get("method") == "Runtime.exceptionThrown":
            self.console.append(values["exceptionDetails"].get("text", "exception"))
        elif by_name.get("method") == "Log.entryAdded" and values["entry"]["level"] == "error":
            self.console.append(f"{values['entry']['text']} {values['entry'].get('url', '')}".strip())
        elif by_name.get("method") == "Network.requestWillBeSent":
            self.requests.append(values["request"]["url"])


@contextmanager
def lab(folder: Path) -> Iterator[str]:
    """A JupyterLab on that folder, without a token, on an address only this machine reaches; gives its address."""
    settings = ["--no-browser", "--ip=127.0.0.1", "--port=0", "--IdentityProvider.token=", "--LabApp.news_url=None",
                "--LabApp.expose_app_in_browser=True", "--ServerApp.disable_check_xsrf=True"]  # fmt: skip
    command = [sys.executable, "-m", "jupyterlab", *settings, f"--ServerApp.root_dir={folder}"]
    if os.geteuid() == 0:
        command.append("--allow-root")
    with started(command, r"http://127\.0\.0\.1:\d+/lab") as found:
        yield found


@contextmanager
def chromium(folder: Path) -> Iterator[int]:
    """A headless Chromium with a profile of its own; gives the port of its DevTools."""
    program = shutil.which("chromium") or shutil.which("google-chrome") or "chromium"
    settings = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", "--window-size=1280,1400",
                f"--user-data-dir={folder}", "--no-first-run", "about:blank"]  # fmt: skip
    with started([program, *settings], r"ws://127\.0\.0\.1:(\d+)/") as found:
        yield int(found.rpartition(":")[2].rstrip("/"))


@contextmanager
def started(command: list[str], says: str) -> Iterator[str]:
    """A process, once its standard error says that; ended with the body."""
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=log, cwd=ROOT, env={**os.environ, "PYTHONPATH": python_path()}
        )
        try:
            yield _said(process, log, says)
        finally:
            process.terminate()
            process.wait(30)


def _said(process: subprocess.Popen[bytes], log: Any, says: str) -> str:
    for _ in range(480):
        log.seek(0)
        text = log.read()
        if (found := re.search(says, text)) is not None:
            return found[0]
        if process.poll() is not None:
            break
        time.sleep(0.25)
    raise RuntimeError(f"{process.args!r}: {text[-800:]}")


async def run(address: str, port: int, notebook: str, screenshots: Path | None) -> dict[str, Any]:
    """Opens the notebook, runs all cells, and tells what there was to see."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/json") as answer:
        page = next(one for one in json.load(answer) if one["type"] == "page")
    browser = Browser(await websocket_connect(page["webSocketDebuggerUrl"], max_message_size=BIGGEST))
    for domain in ("Page", "Runtime", "Log", "Network"):
        await browser.ask(f"{domain}.enable")
    await browser.ask("Emulation.setFocusEmulationEnabled", enabled=True)  # JupyterLab runs what has the focus
    began = time.monotonic()
    await _opened(browser, address, notebook, SCREENS[0])
    opened = time.monotonic()
    await browser.value(RUN)
    cells = await _finished(browser)
    ended = time.monotonic()
    seen: list[dict[str, Any]] = []
    for screen in SCREENS:
        if seen:
            await browser.value("jupyterapp.commands.execute('docmanager:save')")
            await _opened(browser, address, notebook, screen)
        seen.append({"screen_px": screen, "verdict": await _verdict(browser, screenshots)})
    return {
        "load_average": round(os.getloadavg()[0], 1),
        "seconds_to_open": round(opened - began, 1),
        "seconds_to_run": round(ended - opened, 1),
        "cells": [cell for cell in cells if cell["type"] == "code"],
        "screens": seen,
        "console_errors": browser.console,
        "asked_elsewhere": sorted({url for url in browser.requests if _elsewhere(url)}),
    }


async def _opened(browser: Browser, address: str, notebook: str, screen: tuple[int, int]) -> None:
    """Opens JupyterLab anew on that screen, and the notebook in it; its kernel is ready then."""
    size = {"width": screen[0], "height": screen[1], "deviceScaleFactor": 1, "mobile": False}
    await browser.ask("Emulation.setDeviceMetricsOverride", **size)
    await browser.ask("Page.navigate", url=f"{address}?reset")
    await browser.until("window.jupyterapp", limit_s=120)
    await browser.value(OPEN.format(notebook=notebook))
    await browser.until(IDLE, limit_s=120)
    if screen != SCREENS[0]:
        await browser.value(FOLD)


async def _verdict(browser: Browser, screenshots: Path | None) -> dict[str, Any]:
    """The verdict with its distance from the top of the screen, at the first cell and at the cell of the audit."""
    seen = {}
    for cell in ("first", "run"):
        await browser.value(AT.replace("{cell}", cell))
        await asyncio.sleep(4)
        seen[f"at_{cell}_cell"] = await browser.value(VERDICT)
        if screenshots is not None:
            width = await browser.value("innerWidth")
            picture = await browser.ask("Page.captureScreenshot", format="png")
            (screenshots / f"{width}_{cell}.png").write_bytes(base64.b64decode(picture["data"]))
    return seen


async def _finished(browser: Browser) -> list[dict[str, Any]]:
    """The cells once every code cell has run or one has failed."""
    ends = time.monotonic() + LIMIT_S
    while time.monotonic() < ends:
        await asyncio.sleep(1)
        cells: list[dict[str, Any]] = json.loads(await browser.value(CELLS))
        code = [cell for cell in cells if cell["type"] == "code"]
        failed = any("error" in cell["outputs"] for cell in code)
        if (failed or all(cell["count"] for cell in code)) and await browser.value(f"Boolean({IDLE})"):
            return cells
    raise TimeoutError(f"not all cells ran within {LIMIT_S:.0f} s")


def _elsewhere(url: str) -> bool:
    return not re.match(r"(https?|wss?)://(127\.0\.0\.1|localhost)[:/]|data:|blob:|about:", url)


def main() -> None:
    """Runs it, prints and keeps what was seen."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebook", nargs="?", default="audit_claim.ipynb")
    parser.add_argument("--screenshots", type=Path, help="a folder for a picture of each screen")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        copy = Path(made) / "kit"
        (copy / "notebooks").mkdir(parents=True)
        shutil.copy(ROOT / "notebooks" / options.notebook, copy / "notebooks")
        (copy / "audit").symlink_to(ROOT / "audit")
        with lab(copy) as address, chromium(Path(made) / "profile") as port:
            result = asyncio.run(run(address, port, options.notebook, options.screenshots))
    versions = {name: metadata.version(name) for name in ("jupyterlab", "ipykernel", "ipywidgets")}
    keep("jupyterlab", {"versions": versions, "notebook": options.notebook, **result})
    errors = [cell for cell in result["cells"] if "error" in cell["outputs"]]
    print(f"{options.notebook}: {len(result['cells'])} code cells, {len(errors)} with an error")
    for screen in result["screens"]:
        print(f"{screen['screen_px']}: {screen['verdict']}")
    print(f"opened in {result['seconds_to_open']} s, ran in {result['seconds_to_run']} s")
    print(f"console errors: {result['console_errors'] or 'none'}")
    print(f"asked elsewhere: {result['asked_elsewhere'] or 'nothing'}")


if __name__ == "__main__":
    main()
