"""The bounds that are worked out from what a machine has."""

from __future__ import annotations

import resource

import pytest

from audit.sandbox import limits
from audit.sandbox.limits import GIB


def test_a_limit_of_the_user_is_a_bound_for_everything_contained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (5 * GIB, resource.RLIM_INFINITY))
    found = limits.of_this_machine.__wrapped__()
    assert (found.memory, found.data) == (3 * GIB, 5 * GIB)
