from __future__ import annotations

import sys
from pathlib import Path

import pytest

from audit.probes import PROBES
from audit.probes.probe_table import controls_of, markdown, question

PAGE = Path(__file__).parents[2] / "docs/probes.md"


@pytest.mark.parametrize("probe", PROBES)
def test_every_probe_asks_names_mechanisms_and_has_a_rogue(probe: str) -> None:
    module = sys.modules[PROBES[probe].__module__]
    assert question(module).endswith("?")
    assert probe == module.NAME
    assert module.MECHANISMS
    assert controls_of(probe)


def test_the_page_is_what_the_probes_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == markdown(), "python -m audit.probes.probe_table > docs/probes.md"
