"""Over a thousand odd sources, the same ones every time: whole files spoiled, and shapes no file should have."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from audit.claims import KERNELS
from tests.review.sample import SAMPLE

SEED = 20261121
SPOILED = {"cuda": 1000, "python": 600}
_PIECES = [
    "\0",
    "'",
    '"',
    '"""',
    "{",
    "}",
    "(",
    ")",
    "[",
    "<<<",
    ">>>",
    "/*",
    "//",
    "\\\n",
    "#if 0\n",
    "é",
    "\t",
    ";",
    ":",
]
_KERNEL = "__global__ void k(float* a, int n) { "


def cuda() -> Iterator[str]:
    """Spoiled CUDA sources, then deep and long ones."""
    yield from _spoiled([SAMPLE, *_texts("controls", ".cu"), *_texts("triangular_mm", "claimed.cu")], SPOILED["cuda"])
    yield from ("(" * 20_000, '"' * 5_000, "/*" * 5_000, "a<" * 3_000, "k<<<" * 300, "#define X \\\n" * 500)
    yield _KERNEL + "{" * 3_000
    yield _KERNEL + "a[" + "(" * 3_000 + "blockIdx.y" + ")" * 3_000 + "] = 0; }"
    yield _KERNEL + "a[" + "a + " * 5_000 + "threadIdx.x] = 0; }"
    yield _KERNEL + "if (threadIdx.x < n) " * 1_000 + "__syncthreads(); }"
    yield _KERNEL + "int v0 = threadIdx.x; " + "".join(f"int v{i} = v{i - 1}; " for i in range(1, 800)) + "}"
    yield _KERNEL + "a[threadIdx.x] = n; " * 3_000 + "}"
    yield "void f() { " + "k<<<1, 2>>>(a); " * 500 + "}"
    yield "void f() { " + "g(" * 3_000 + ")" * 3_000 + "; }"
    yield "void f() { " + "[&] {" * 500 + "}" * 500 + "}"
    yield "".join(f"constexpr int c{i} = c{i - 1} * c{i - 1};\n" for i in range(300)) + _KERNEL + "}"
    yield "".join(f"__global__ void k{i}(float* a) {{ a[threadIdx.x] = 1; }}\n" for i in range(200))


def python() -> Iterator[str]:
    """Spoiled Python sources, then deep and long ones; many are no Python any more."""
    yield from _spoiled(_texts("controls_python", ".py"), SPOILED["python"])
    yield from ("(" * 3_000, "x = " + "a+" * 3_000 + "1\n", "x = a" + ".b" * 900 + "\n", "x = a" + "[0]" * 900 + "\n")
    yield from (
        "x = " + "f(" * 90 + ")" * 90 + "\n",
        "x = [" + "1, " * 20_000 + "]\n",
        "\\\n" * 500,
        "\0",
        "x = " + "-" * 3_000,
    )
    yield from ("".join(" " * i + "if x:\n" for i in range(95)) + " " * 95 + "pass\n", "\ufeffx = 1\n", "\r" * 100)
    yield "".join(f"def f{i}(x):\n    self.a += 1\n    return self.a[x.shape]\n" for i in range(300))
    yield "def forward(x):\n" + "    y = x.f().g().h()\n" * 1_000
    yield "x = '''" + (_KERNEL + "}\n") * 300 + "'''\n"
    yield "x = f'''{y}" + (_KERNEL.replace("{", "{{") + "}}\n") * 30 + "'''\n"


def _texts(folder: str, ending: str) -> list[str]:
    return [path.read_text(encoding="utf-8") for path in sorted(Path(KERNELS / folder).glob(f"*{ending}"))]


def _spoiled(texts: list[str], count: int) -> Iterator[str]:
    """Cut short, with lost, doubled, flipped and foreign characters, and two files in one."""
    source = random.Random(SEED)
    for _ in range(count):
        text, other = source.choice(texts), source.choice(texts)
        start = source.randrange(len(text))
        end = min(len(text), start + source.randrange(1, 200))
        yield source.choice(
            [
                text[:start],
                text[start:],
                text[:start] + text[end:],
                text[:end] + text[start:],
                text[:start] + source.choice(_PIECES) * source.choice([1, 1, 3, 50]) + text[start:],
                text[:start] + chr(ord(text[start]) ^ (1 << source.randrange(7))) + text[start + 1 :],
                text[:start] + other[source.randrange(len(other)) :],
                text[:start] + text[start:end].replace("\n", " ") + text[end:],
            ]
        )
