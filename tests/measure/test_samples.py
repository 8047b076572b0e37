"""What samples say, from which session, and which baseline is the strongest that counts."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from audit.measure import DO_BENCH, OURS, checks, comparison, median_ms, speedup, strongest
from audit.measure.samples import ALONE, least_ms, order_effect, outliers
from audit.model import Measurement
from tests.conftest import finding


def timing(variant: str, *samples: float, protocol: str = OURS, session: str = "") -> Measurement:
    return Measurement(variant=variant, shape={"N": 4096}, protocol=protocol, samples_ms=samples, session=session)


def test_the_median_is_of_that_variant_and_protocol() -> None:
    known = [timing("a", 3.0, 1.0, 2.0), timing("a", 9.0, protocol=DO_BENCH), timing("b", 5.0)]
    assert median_ms(known, "a") == 2.0
    assert median_ms(known, "a", DO_BENCH) == 9.0


def test_what_was_not_measured_is_none_and_never_zero() -> None:
    known = [timing("a", 1.0, protocol=DO_BENCH)]
    assert median_ms(known, "a") is None
    assert speedup(known, "a", "baseline:eager") is None
    assert checks.by_host_clock(known, "a") is None
    assert checks.by_profiler(known, "a") is None
    assert strongest(known, "fp32") is None


def test_a_ratio_is_of_two_medians_of_one_session() -> None:
    known = [
        timing("a", 1.0, session="ladder"),
        timing("baseline:eager", 2.0, session="ladder"),
        timing("a", 1.0, session="claim"),
        timing("baseline:eager", 3.0, session="claim"),
        timing("baseline:blocked", 9.0, session="ladder"),
        timing("b", 1.0, session="claim"),
    ]
    assert speedup(known, "a", "baseline:eager") == 3.0, "the last session that has both"
    assert speedup(known, "a", "baseline:blocked") == 9.0
    assert speedup(known, "b", "baseline:blocked") is None


def test_the_strongest_baseline_beside_a_variant_was_timed_with_it() -> None:
    known = [
        timing("baseline:eager", 3.0, session="ladder"),
        timing("baseline:compile", 1.999, session="ladder"),
        timing("a", 2.0, session="later"),
        timing("baseline:eager", 3.0, session="later"),
        timing("baseline:compile_max", 2.0, session="later"),
    ]
    assert strongest(known, "fp32") == "baseline:compile"
    assert strongest(known, "fp32", beside="a") == "baseline:compile_max"
    assert strongest(known, "fp32", beside="untimed") == "baseline:compile"


def test_the_strongest_baseline_is_as_precise_or_more_and_not_wrong() -> None:
    times = {"eager": 2.7, "blocked": 1.8, "graph_blocked": 1.3, "eager_tf32": 0.4, "eager_bf16": 0.2}
    known = [timing(f"baseline:{name}", ms) for name, ms in times.items()]
    assert strongest(known, "fp32") == strongest(known, "split_fp16") == "baseline:graph_blocked"
    assert strongest(known, "fp16") == strongest(known, "tf32") == "baseline:eager_tf32"
    half = [*known, timing("baseline:diagonals_fp16", 0.1)]
    assert strongest(half, "fp16") == "baseline:diagonals_fp16"
    assert strongest(half, "tf32") == "baseline:eager_tf32", "fp16 has not the range of TF32"
    assert strongest(known, "bf16") == "baseline:eager_bf16"
    bad = comparison.wrong_baselines([finding("timed_outputs", "fail", target="baseline:graph_blocked"),
                                      finding("timed_outputs", target="baseline:blocked"),
                                      finding("timed_outputs", "fail", target="claimed")])  # fmt: skip
    assert strongest(known, "fp32", wrong=bad) == "baseline:blocked"
    with pytest.raises(LookupError, match="unknown precision fp8; known: fp32, split_fp16, tf32, fp16, bf16"):
        strongest(known, "fp8")


def test_as_many_blocks_as_samples_or_none() -> None:
    with pytest.raises(ValidationError, match="as many blocks and positions as samples"):
        Measurement(variant="a", shape={"N": 1}, protocol=OURS, samples_ms=(1.0, 2.0), blocks=(0,))


def test_a_ceiling_is_the_work_at_the_rates_reached() -> None:
    side = {"M": 1000, "N": 1000, "K": 1000}
    known = [Measurement(variant=f"ceiling:{name}", shape=sizes, protocol=ALONE, samples_ms=(ms,))
             for name, sizes, ms in (("copy", {"bytes": 1000}, 1.0), ("matmul_fp32", side, 2.0))]  # fmt: skip
    assert least_ms(known, {"flops": 4e9, "bytes": 1.0}, "fp32") == 4.0
    assert least_ms(known, {"flops": 1.0, "bytes": 5000.0}, "fp32") == 5.0
    assert least_ms(known, {"flops": 1.0, "bytes": 1.0}, "fp16") is None


def test_order_and_outliers_are_told() -> None:
    late = timing("a", 1.0, 1.0, 1.2, 1.2).model_copy(update={"blocks": (0, 1, 2, 3), "positions": (0, 0, 5, 5)})
    assert order_effect(late) == pytest.approx(0.2)
    assert order_effect(timing("a", 1.0, 2.0)) is None
    assert outliers((1.0, 1.01, 1.02, 1.0, 1.01, 9.0)) == 1
    assert outliers((1.0,)) == 0
