"""Statistics come from raw samples, and what was not measured has none."""

import pytest

from audit.measure import DO_BENCH, HOST_CLOCK, OURS, median_ms, samples, speedup
from audit.model import Measurement


def timing(variant: str, *samples_ms: float, protocol: str = OURS) -> Measurement:
    return Measurement(variant=variant, shape={"N": 4096}, protocol=protocol, samples_ms=samples_ms)


def test_the_median_is_of_that_variant_and_protocol() -> None:
    known = [timing("a", 3.0, 1.0, 2.0), timing("a", 9.0, protocol=DO_BENCH), timing("b", 5.0)]
    assert median_ms(known, "a") == 2.0
    assert median_ms(known, "a", DO_BENCH) == 9.0


def test_what_was_not_measured_is_none_and_never_zero() -> None:
    known = [timing("a", 1.0, protocol=DO_BENCH)]
    assert median_ms(known, "a") is None
    assert speedup(known, "a", "baseline:eager") is None
    assert samples.clocks_disagree(known, "a") is None


def test_a_speedup_is_of_medians_under_one_protocol() -> None:
    known = [
        timing("a", 0.5),
        timing("baseline:eager", 2.0, 3.0, 2.5),
        timing("baseline:eager", 99.0, protocol=DO_BENCH),
    ]
    assert speedup(known, "a", "baseline:eager") == pytest.approx(5.0)
    assert speedup(iter(known), "a", "baseline:eager") == pytest.approx(5.0)


@pytest.mark.parametrize(
    ("events", "host", "seen"),
    [(0.33, 0.35, False), (0.006, 0.03, False), (0.1, 0.5, True), (2.7, 5.6, True)],
)
def test_work_that_events_do_not_see(events: float, host: float, seen: bool) -> None:
    known = [timing("a", events), timing("a", host, protocol=HOST_CLOCK)]
    assert samples.clocks_disagree(known, "a") == ((events, host) if seen else None)
