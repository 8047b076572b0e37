"""Tests of a wall run where that wall stands; where it does not, they say why."""

from __future__ import annotations

import pytest

from audit.sandbox import check


@pytest.fixture
def wall(request: pytest.FixtureRequest) -> None:
    """Skips a test marked `usefixtures("wall")` whose module's `WALL` is missing on this machine."""
    found = next(one for one in check.around_commands() if one.name == request.module.WALL)
    if not found.up:
        pytest.skip(f"wall {found.name}: {found.why}")
