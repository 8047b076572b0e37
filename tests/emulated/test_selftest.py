"""The emulated device models what it says, at both optimisation levels: else no kernel may be failed."""

from __future__ import annotations

import pytest

from audit.apps.doctor import selftest


@pytest.mark.parametrize("optimisation", ["O2", "O0"])
def test_every_feature_in_three_orders(optimisation):
    results = selftest(optimisation=optimisation)
    assert len(results) >= 15
    assert {each.name: each.detail for each in results if not each.passed} == {}
