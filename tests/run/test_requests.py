"""Requests on the wire: each kind comes out as it went in, and a key too many or too few is refused by name."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from audit.build.settings import CheckedSettings, CudaPythonSettings, CudaSettings
from audit.model import Harness
from audit.run.messages import requests, timing_requests, wire

COMPILED = CudaSettings(digests={}, library=Path("/a/m.so"), module="m", memory="poison_nan", pattern=0xFFF5FFF5)
CHECKED = CheckedSettings(digests={}, library=Path("/a/m.so"), module="m", sanitizer=Path("/s"))
PYTHON = CudaPythonSettings(
    digests={},
    python=Path("/a/k.py"),
    init_inputs=[3, 0.5, None, [1, 2], {"a": None}],
    folder=Path("/f"),
    extensions={"built": ["l.so", "n"], "refused": "no"},
    environment={"PATH": "/x"},
    memory="plain",
)
PROTOCOL = timing_requests.Protocol(name="p", of_mean=True, warmup_ms=25, rep_ms=300)
FILES: dict[str, Any] = {
    "reference": Path("/r.py"), "folder": Path("/o"), "caches": Path("/c"), "inputs": (Path("/i"),),
}  # fmt: skip
STEPS = (requests.Step(run="claim", case=0, order=[0, 1], flush_from=1), requests.Step(run="held", case=0, of=0))
EVERY: tuple[wire.AnyRequest, ...] = (
    requests.Session(
        device=CHECKED, entry=None, harness=Harness(host=(0, 1)), folder=Path("/o"), output_bytes=((4,),), steps=STEPS
    ),
    timing_requests.Published(
        **FILES, variants=(timing_requests.Timed(name="claimed", entry="f", device=COMPILED),), protocols=(PROTOCOL,)
    ),
    timing_requests.Compiled(**FILES, compiled=("compile",), compile_workers=2, inductor=Path("/d")),
    timing_requests.Interleaved(
        **FILES,
        variants=(timing_requests.Timed(name="claimed", entry="f", device=PYTHON, relative=1e-3),),
        relative={"fp32": 0.0},
        baselines=None,
        budget_s=3.0,
        half_width=0.01,
        seed=2**62,
        kept_calls=2,
        inductor=Path("/d"),
        shape={"N": 4},
        profile=3,
        published=(PROTOCOL,),
        ceilings=True,
    ),
    requests.Release(),
)


@pytest.mark.parametrize("request_", EVERY, ids=lambda one: one.kind)
def test_a_request_comes_out_as_it_went_in(request_: wire.AnyRequest) -> None:
    here, there = socket.socketpair()
    with here, there:
        wire.send(here, request_)
        assert wire.receive(there) == (request_, [])


@pytest.mark.parametrize(
    ("change", "words"), [({"more": 1}, "more"), ({"steps": None}, "steps"), ({"kind": "x"}, "kind")]
)
def test_a_request_with_other_keys_is_refused_by_name(change: dict[str, Any], words: str) -> None:
    known = json.loads(EVERY[0].model_dump_json())
    with pytest.raises(ValidationError, match=words):
        wire.parsed(json.dumps({**known, **change}))
