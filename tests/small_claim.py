"""A claim of one Python kernel with all of a `claim.toml`, `harness` left open; a claim with few of its variants."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from audit import claims

CLAIM = """
name = "claim"
title = "a claim"
task = "a product"
dtype = "float32"
baseline = "eager"

[source]
title = "t"
authors = "a"
published = "unknown"
url = "u"
fidelity = "reconstruction"
note = "n"

[protocol]
steps = ["s"]

[harness]
{harness}

[tolerance]
relative = 1e-4
reason = "r"

[shapes]
claimed = {{ N = 65 }}
others = []
emulated = [{{ N = 33 }}, {{ N = 65 }}]

[[variant]]
file = "claimed.py"
role = "claimed"
technique = "t"
"""


def trimmed(name: str, folder: Path, kept: tuple[str, ...], **claimed: int) -> Path:
    """A copy of a claim with some of its variants, so that little has to be compiled.

    `claimed` are other sizes of the claimed shape: an audit asks for the right result there too, which takes seconds at
    a size that keeps a GPU busy.
    """
    copy = Path(shutil.copytree(claims.KERNELS / name, folder / Path(name).name))
    head, *variants = re.split(r"(?m)^(?=\[\[variant\]\])", (copy / "claim.toml").read_text(encoding="utf-8"))
    left = [variant for variant in variants if any(f'"{file}"' in variant for file in kept)]
    assert len(left) == len(kept)
    for size, value in claimed.items():
        head, changed = re.subn(rf"(?m)^(claimed = .*\b{size} = )\d+", rf"\g<1>{value}", head)
        assert changed
    (copy / "claim.toml").write_text("".join([head, *left]), encoding="utf-8")
    return copy
