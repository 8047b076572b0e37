"""Reading the profiler's time line: which kernels belong to which call, and how long they ran."""

from audit.run.timing.other_clocks import MARKER, Activity, between_markers, busy_ms, span_ms


def line(*kernels: tuple[str, int, int]) -> list[Activity]:
    return [Activity(name, start, end) for name, start, end in kernels]


def test_calls_lie_between_markers_and_flushes_outside() -> None:
    text = line(("Memset", 0, 50), (MARKER, 51, 52), ("a", 60, 90), (MARKER, 95, 96), ("Memset", 100, 150),
                (MARKER, 151, 152), (MARKER, 160, 161))  # fmt: skip
    first, second = between_markers(reversed(text))  # type: ignore[arg-type]
    assert [one.name for one in first] == ["a"]
    assert second == []


def test_busy_counts_overlaps_once_and_span_counts_gaps() -> None:
    kernels = line(("a", 0, 1_000_000), ("b", 500_000, 1_500_000), ("c", 2_000_000, 2_250_000))
    assert busy_ms(kernels) == 1.75
    assert span_ms(kernels) == 2.25
    assert (busy_ms([]), span_ms([])) == (0, 0)
