"""Attack: puts its own functions in the place of what events are written with: json, os.write, print, hashlib, Path.
Wall: what sends events was taken before claimed code came; a replaced function is seen
Outcome: untouched_process fail: replaced
"""

import builtins
import hashlib
import json
import json.encoder
import os
from pathlib import Path

import torch


def forged(*_: object, **__: object) -> str:
    return '{"step":0,"returned":"Tensor","differing":[]}'


json.dumps = forged
json.encoder.JSONEncoder.encode = forged
json.encoder.encode_basestring_ascii = forged
json.encoder.c_make_encoder = None
os.write = lambda *of: len(of[1])
hashlib.blake2b = hashlib.sha256
Path.write_bytes = lambda *of: len(of[1])
builtins.print = lambda *_, **__: None


def forward(x: torch.Tensor) -> torch.Tensor:
    return x * 2
