"""The two figures of a linted dataset: all its ratios, and its mean without the largest of them. Pure functions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Sheet
from matplotlib.ticker import LogLocator, NullFormatter

from audit.lint.datasets.answer import times
from audit.lint.datasets.dataset import Dataset
from audit.lint.datasets.rules.baselines import strongest
from audit.report.figures import raster
from audit.report.figures.raster import Palette
from audit.report.view import Figure

MOST_GPUS = 8
TAKEN_OUT = 12
JITTER = 0.17
WIDE = 8.4
LINES: tuple[str | tuple[int, tuple[int, ...]], ...] = (
    "-", "--", "-.", ":", (0, (7, 2)), (0, (1, 3)), (0, (5, 1, 1, 1, 1, 1)), (0, (9, 4)),
)  # fmt: skip
"""One for each of the most GPUs shown."""


def draw(data: Dataset) -> dict[str, Figure]:
    """Return the figures there are rows for, by the rule they belong to."""
    parts = data.by_gpu()[:MOST_GPUS]
    if not parts:
        return {}
    ratios = _figure("ratios", lambda palette: _ratios(parts, data, palette), _ratios_told(parts, data))
    without = _figure("without_largest", lambda palette: _without(parts, data, palette), _without_told(parts, data))
    return {"strongest_baseline": ratios, "carried_mean": without}


def _figure(name: str, drawn: Callable[[Palette], bytes], found: tuple[str, str]) -> Figure:
    caption, alt = found
    return Figure(name=name, alt=alt, caption=caption, png=drawn(raster.LIGHT), dark=drawn(raster.DARK))


def _ratios(parts: list[tuple[str, pd.DataFrame]], data: Dataset, palette: Palette) -> bytes:
    several = len(data.baselines) > 1
    with raster.style(palette):
        tall = 1.5 + (0.92 if several else 0.6) * len(parts)
        sheet, axis = _framed(tall, left=1.35, top=0.45)
        for height, (_, rows) in enumerate(parts):
            first = f"against {data.baselines[0]}"
            _strip(axis, height - 0.22 * several, rows[data.headline], palette, colour=palette.warm, name=first)
            if several:
                name = "against the strongest of its own baselines"
                _strip(axis, height + 0.22, strongest(rows, data), palette, colour=palette.cool, name=name)
        axis.axvline(1, color=palette.quiet, linewidth=1, zorder=0)
        axis.set_yticks(range(len(parts)), [raster.label(gpu, limit=18) for gpu, _ in parts])
        axis.set_ylim(len(parts) - 0.45, -0.55)
        _log(axis)
        axis.set_xlabel("times faster than the baseline, log scale; bar: median, diamond: mean")
        handles, names = axis.get_legend_handles_labels()
        once = dict(zip(names, handles, strict=True))
        sheet.legend(once.values(), once.keys(), loc="upper left", ncols=2, frameon=False, fontsize=9.5, markerscale=3)
        return raster.encoded(sheet)


def _framed(tall: float, *, left: float, top: float) -> tuple[Sheet, Axes]:
    """Return a figure of that height in inches with those margins; automatic margins take as long as drawing."""
    sheet = raster.sheet(WIDE, tall)
    sheet.set_layout_engine("none")
    bottom = 0.62
    return sheet, sheet.add_axes((left / WIDE, bottom / tall, 1 - (left + 0.2) / WIDE, 1 - (bottom + top) / tall))


def _strip(axis: Axes, height: float, values: pd.Series, palette: Palette, *, colour: str, name: str) -> None:
    known = values.dropna().to_numpy()
    places = height + np.random.default_rng(0).uniform(-JITTER, JITTER, len(known))  # the same rows, the same picture
    axis.scatter(known, places, s=7, color=colour, alpha=0.45, linewidth=0, zorder=2, label=name)
    median, mean = float(np.median(known)), float(known.mean())
    axis.plot([median, median], [height - 0.2, height + 0.2], color=palette.ink, linewidth=2.2, zorder=4)
    axis.scatter(
        [mean], [height], marker="D", s=34, facecolor=palette.page, edgecolor=palette.ink, linewidth=1.4, zorder=5
    )


def _without(parts: list[tuple[str, pd.DataFrame]], data: Dataset, palette: Palette) -> bytes:
    with raster.style(palette):
        sheet, axis = _framed(3.4, left=0.75, top=0.15)
        curves = [(gpu, _means(rows[data.headline])) for gpu, rows in parts]
        for place, (gpu, means) in enumerate(curves):
            colour = palette.warm if means[0] == max(one[0] for _, one in curves) else palette.cool
            name = raster.label(gpu, limit=18)
            axis.plot(range(len(means)), means, linestyle=LINES[place], color=colour, linewidth=1.8, label=name)
        axis.set_xlabel("rows taken out, the largest ratios first")
        axis.set_ylabel(f"mean ratio against {raster.label(data.baselines[0])}")
        axis.yaxis.set_major_formatter(lambda value, _: f"{value:g}x")
        axis.set_ylim(bottom=0)
        axis.axhline(1, color=palette.quiet, linewidth=1, zorder=0)
        axis.set_xlim(0, max(len(means) for _, means in curves) - 1 or 1)
        axis.legend(frameon=False, fontsize=9.5, ncols=2, handlelength=3.5)
        return raster.encoded(sheet)


def _means(values: pd.Series) -> list[float]:
    """Return the mean of all, then without the largest, without the two largest, and so on."""
    ordered = np.sort(values.dropna().to_numpy())
    return [float(ordered[: len(ordered) - out].mean()) for out in range(min(TAKEN_OUT, len(ordered) - 1) + 1)]


def _log(axis: Axes) -> None:
    axis.set_xscale("log")
    axis.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
    axis.xaxis.set_major_formatter(lambda value, _: f"{value:g}x")
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.tick_params(axis="y", length=0)
    axis.spines["left"].set_visible(False)


def _ratios_told(parts: list[tuple[str, pd.DataFrame]], data: Dataset) -> tuple[str, str]:
    caption = "Every row's ratio. What lies left of one is slower than the baseline."
    if len(data.baselines) > 1:
        caption += " The smallest of several noisy ratios errs low (see above)."
    medians = "; ".join(
        f"{gpu}: median {times(rows[data.headline].median())} against {data.baselines[0]}, "
        f"{times(strongest(rows, data).median())} against the strongest"
        for gpu, rows in parts
    )
    return caption, f"Dots of all ratios per GPU on a log axis. {medians}."


def _without_told(parts: list[tuple[str, pd.DataFrame]], data: Dataset) -> tuple[str, str]:
    means = {gpu: _means(rows[data.headline]) for gpu, rows in parts}
    text = "; ".join(f"{gpu}: {times(one[0])}, then {times(one[min(1, len(one) - 1)])}" for gpu, one in means.items())
    caption = "The mean as its largest rows are taken out one by one. A steep start is a mean that few rows carry."
    return caption, f"Lines of the mean ratio against rows taken out. {text}."
