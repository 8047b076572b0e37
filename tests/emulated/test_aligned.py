"""An access at every offset that a GPU was asked about: the emulated device stops at the same ones."""

from __future__ import annotations

import json
import re

import pytest

from audit.build.emulated.build import build
from tests.emulated.child import FOLDER, run

GPU = json.loads((FOLDER / "conformance" / "answers" / "faults.json").read_text())
CASE = re.compile(r"(?:load|store|shared load|ldg|atomicAdd|async from|async to) \w+ at \d+")
ASKED = sorted(name for name in GPU if CASE.fullmatch(name))
_ALL = """
for name in NAMES:
    what, at = name.replace(" ", "_").rsplit("_at_", 1)
    runtime.configure(allocator="plain")
    functions[what](torch.ones(64), torch.zeros(64), int(at))
    answer[name] = [functions["error"](), sorted({each["kind"] for each in runtime.reports()})]
    runtime.reset()
    runtime.recover()
"""


@pytest.fixture(scope="module")
def seen():
    return run(build(FOLDER / "aligned.cu"), _ALL.replace("NAMES", repr(ASKED)))


def test_every_offset_that_a_gpu_was_asked_about_is_asked(seen):
    assert len(seen) == len(ASKED) == 222
    assert {error for error, _ in seen.values()} == {0, 716}


@pytest.mark.parametrize("name", ASKED)
def test_an_access_faults_where_it_does_on_a_gpu(name, seen):
    error, kinds = seen[name]
    assert error == int(GPU[name].split()[2])
    assert kinds == (["misaligned-access"] if error else [])
