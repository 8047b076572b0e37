"""A claim of one Python kernel with everything that a `claim.toml` must have; `harness` is left open."""

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
