"""Sources of any size, one family a shape: each repeats, nests or names something so often as its size asks."""

from __future__ import annotations

from collections.abc import Callable

Family = Callable[[int], str]


def _repeated(unit: str, before: str = "", after: str = "") -> Family:
    """Return a family that repeats a text; `@` in it, but for one at its start, is the number of the repetition."""
    if "@" not in unit or unit.startswith("@"):
        return lambda size: before + unit * (size // len(unit)) + after
    return lambda size: before + "".join(unit.replace("@", str(i)) for i in range(size // (len(unit) + 2))) + after


def _nested(opening: str, closing: str, inside: str = "", before: str = "", after: str = "") -> Family:
    """Return a family that nests one pair of texts."""

    def family(size: int) -> str:
        depth = size // len(opening + closing)
        return before + opening * depth + inside + closing * depth + after

    return family


_KERNEL, _HOST = "__global__ void k(float* a, const float* b, int n) { ", "void f(torch::Tensor x, int n) { "
_PLACE = _KERNEL + "int i = blockIdx.x * blockDim.x + threadIdx.x; "
_MANY = "__global__ void k@(float* a, int n) { __shared__ float s[32]; a[threadIdx.x] = s[n]; }\n"

CUDA: dict[str, Family] = {
    "launches": _repeated("k<<<1,1>>>();"),
    "launches in a function": _repeated("k<<<1,1>>>(a); ", _KERNEL + "}\n" + _HOST, "}"),
    "launches with names": _repeated("k<<<g, t>>>(x.data_ptr<float>(), y@); ", _PLACE + "a[i] = 1; }\n" + _HOST, "}"),
    "launches of many kernels": lambda size: (
        _repeated(_MANY)(size // 2)
        + _HOST
        + _repeated("k@<<<n / 32, 32>>>(x.data_ptr<float>(), n);\n")(size // 2)
        + "}"
    ),
    "launches with a dim3 each": _repeated(
        "dim3 g@(n, 1); k<<<g@, 32>>>(a);\n", _KERNEL + "a[blockIdx.y] = 1; }" + _HOST, "}"
    ),
    "one dim3 of many launches": _repeated(
        "k<<<g, g>>>(a);\n", _KERNEL + "a[blockIdx.y * 2 + threadIdx.y] = 1; }" + _HOST + "dim3 g(1);", "}"
    ),
    "launches in macros": _repeated("#define M@(a) k<<<1, 1>>>(a)\n"),
    "launches in one macro": _repeated("k<<<1, 1>>>(a); \\\n", "#define M "),
    "launches that never open": _repeated("<<<"),
    "launches that never close": _repeated("k<<<1,("),
    "kernel expressions": _repeated("a::", "void f() { ", "k<<<1, 1>>>(); }"),
    "kernel expressions with arguments": _repeated("a<1>::", "void f() { ", "k<<<1, 1>>>(); }"),
    "template arguments of a launch": _repeated("1,", "k<", "1><<<1, 1>>>();"),
    "unclosed strings": _repeated('"\\'),
    "lines of an unclosed string": _repeated('"\\\n'),
    "quotes": _repeated('"'),
    "strings": _repeated('"a" '),
    "raw strings": _repeated('R"(a)" '),
    "unclosed raw strings": _repeated('R"a('),
    "characters": _repeated("'a"),
    "unclosed comments": _repeated("/*"),
    "comments": _repeated("/* a */"),
    "line comments": _repeated("// a\n"),
    "slashes": _repeated("/"),
    "stars": _repeated("*"),
    "backslashes": _repeated("\\"),
    "continued lines": _repeated("\\\n"),
    "continued comment": _repeated("\\\n", "//"),
    "blanks": _repeated(" "),
    "blanks before an include": _repeated(" ", "#include", '"a.h"'),
    "line breaks": _repeated("\n"),
    "carriage returns": _repeated("\r\n"),
    "NUL": _repeated("\0"),
    "letters": _repeated("a"),
    "words": _repeated("a "),
    "names": _repeated("a@ "),
    "digits": _repeated("1", "int a = ", ";"),
    "octal digits": _repeated("7", "int a = 0", ";"),
    "digits in an extent": _repeated("9", _KERNEL + "__shared__ float s[", "]; s[threadIdx.x] = 1; }"),
    "digits in a launch": _repeated(
        "9", _KERNEL + "a[blockIdx.y * 2 + threadIdx.y] = 1; } " + _HOST + "k<<<1, ", ">>>(a); }"
    ),
    "digits in a constant": _repeated("9", "#define N ", "\n" + _KERNEL + "__shared__ float s[N]; s[N] = 1; }"),
    "digits and quotes": _repeated("1'"),
    "equals": _repeated("="),
    "operators": _repeated("a + ", _KERNEL + "a[i] = ", "1; }"),
    "sums of places": _repeated("threadIdx.x + ", _KERNEL + "a[", "1] = 1; }"),
    "minus": _repeated("-", "int a = ", "1;"),
    "casts": _repeated("(int)", _PLACE + "a[i] = ", "1; }"),
    "shifts": _repeated("1 << ", _PLACE + "a[i] = ", "n; }"),
    "shifts of a launch": _repeated("1 << ", _KERNEL + "} " + _HOST + "k<<<", "1, 1>>>(a); }"),
    "ternaries": _repeated("n ? 1 : ", _PLACE + "a[i] = ", "1; }"),
    "commas": _repeated(","),
    "less than": _repeated("<"),
    "greater than": _repeated(">"),
    "templates": _nested("a<", ">"),
    "templates of a declaration": _nested("a<", ">", "int", "", " x;"),
    "open templates": _repeated("a<"),
    "open templates of a call": _repeated("f(a < b, "),
    "round brackets": _nested("(", ")"),
    "round brackets of a value": _nested("(", ")", "1", "int a = ", ";"),
    "round brackets of a launch": _nested("(", ")", "1", _KERNEL + "} " + _HOST + "k<<<", ", 1>>>(a); }"),
    "open round brackets": _repeated("("),
    "closed round brackets": _repeated(")"),
    "open square brackets": _repeated("["),
    "square brackets of a value": _nested("a[", "]", "threadIdx.x", _KERNEL, " = 1; }"),
    "braces": _nested("{", "}"),
    "open braces": _repeated("{"),
    "closed braces": _repeated("}"),
    "braces of a kernel": _nested("{", "}", "", _KERNEL, "}"),
    "blocks": _repeated("{ int a = 1; } ", _KERNEL, "}"),
    "conditions": _repeated("if (n < 3) ", _PLACE, "a[i] = 1; }"),
    "conditions around a barrier": _repeated("if (threadIdx.x < n) {", _KERNEL, "__syncthreads(); }"),
    "else": _repeated("if (n == @) a[0] = 1; else ", _KERNEL, "a[1] = 1; }"),
    "conditions on sizes": _repeated("if (x.size(0) == 1024) ", _HOST, "return; }"),
    "loops": _repeated("for (int i = 0; i < n; ++i) ", _KERNEL, "a[i] = 1; }"),
    "loops side by side": _repeated("for (int i = 0; i < n; ++i) a[i] = 1;\n", _KERNEL, "}"),
    "calls in calls": _nested("g(", ")", "1", _PLACE, "; }"),
    "calls in calls of the host": _nested("torch::relu(", ")", "x", _HOST, "; }"),
    "methods": _repeated(".relu()", _HOST + "x", "; }"),
    "calls": _repeated("torch::relu(x);\n", _HOST, "}"),
    "barriers": _repeated("__syncthreads();\n", _PLACE, "}"),
    "barriers under conditions": _repeated("if (threadIdx.x < n) __syncthreads();\n", _KERNEL, "}"),
    "exchanges": _repeated("n += __shfl_down_sync(0xffffffff, n, 1);\n", _KERNEL, "}"),
    "lambdas": _nested("[&] {", "};", "", _HOST, "}"),
    "functions": _repeated("void f@(int n) { return; }\n"),
    "functions of one line": _repeated("void f@(int n) { g(n); } "),
    "device functions that call": _repeated("__device__ int f@(int n) { return f@(n) + f@(n); } "),
    "device functions in a chain": lambda size: (
        "".join(f"__device__ int f{i}(int n) {{ return f{i - 1}(n) + f{i - 1}(n); }}\n" for i in range(1, size // 56))
        + _KERNEL
        + f"a[f{size // 56 - 1}(n)] = 1; }}"
    ),
    "calls of one device function": _repeated(
        "a[f(n)] = 1;\n", "__device__ int f(int n) { return n; }\n" + _KERNEL, "}"
    ),
    "entries": _repeated("torch::Tensor f@(torch::Tensor x) { return x; }\n"),
    "kernels": _repeated(_MANY),
    "kernels of one name": _repeated("__global__ void k(float* a) { a[blockIdx.y * 2 + threadIdx.y] = 1; }\n"),
    "parameters": _repeated("float* a@, ", "__global__ void k(", "int n) { a1[0] = a2[1]; }"),
    "tensors": _repeated("torch::Tensor a@, ", "void f(", "int n) { a1.add_(a2); }"),
    "arguments": _repeated("x, ", _KERNEL + "} " + _HOST + "k<<<1, 1>>>(", "n); }"),
    "shared arrays": _repeated("__shared__ float s@[32];\n", _PLACE, "}"),
    "shared arrays that are read": _repeated("__shared__ float s@[32]; s@[threadIdx.x] = s@[n];\n", _PLACE, "}"),
    "shared arrays outside": _repeated("__shared__ float s@[32];\n", "", _PLACE + "s1[0] = 1; }"),
    "shared words": _repeated("__shared__ "),
    "shared variables": _repeated("s@, ", _KERNEL + "__shared__ float ", "t; }"),
    "extents of a shared array": _repeated("[1]", _KERNEL + "__shared__ float s", "; }"),
    "dynamic shared arrays": _repeated("extern __shared__ float s@[];\n", _PLACE, "}\n" + _HOST + "k<<<1, 1>>>(a); }"),
    "qualifiers": _repeated("static ", "", "int a;"),
    "constants": _repeated("constexpr int c@ = 1;\n", "", _PLACE + "__shared__ float s[c1]; s[c2] = 1; }"),
    "constant memory": _repeated("__constant__ float c@[4];\n"),
    "statics": _repeated("static torch::Tensor t@;\n"),
    "a static that is used": _repeated("t = x; ", "static torch::Tensor t;\n" + _HOST, "}"),
    "statics that are used": lambda size: (
        _repeated("static int t@ = 0;\n")(size // 2) + _HOST + _repeated("if (++t@ > 3) return;\n")(size // 2) + "}"
    ),
    "variables": _repeated("int v@ = threadIdx.x;\n", _PLACE, "}"),
    "variables of one line": _repeated("v@, ", _PLACE + "int ", "w; }"),
    "variables in a chain": lambda size: (
        _KERNEL
        + "int v0 = threadIdx.x;"
        + "".join(f"int v{i} = v{i - 1};\n" for i in range(1, size // 16))
        + "a[v9] = 1; }"
    ),
    "tensors made": _repeated("auto t@ = torch::empty({n});\n", _HOST, "}"),
    "tensors launched": _repeated(
        "auto t@ = torch::empty({n}); k<<<1, 1>>>(t@.data_ptr<float>(), n);\n", _KERNEL + "a[0] += 1; } " + _HOST, "}"
    ),
    "tensors returned": _repeated("auto t@ = torch::empty({n}); return t@;\n", _HOST, "}"),
    "pointers launched": _repeated(
        "float* p@ = x.data_ptr<float>(); k<<<1, 1>>>(p@, n);\n",
        _KERNEL + "a[0] += 1; } torch::Tensor " + _HOST[5:],
        "return n; }",
    ),
    "accesses": _repeated("a[i] = b[i];\n", _PLACE, "}"),
    "accesses of shared memory": _repeated("s[threadIdx.x] = s[n + 1];\n", _KERNEL + "__shared__ float s[32]; ", "}"),
    "comparisons": _repeated("n < threadIdx.x;\n", _KERNEL + "__shared__ float s[32]; s[threadIdx.x] = 1;", "}"),
    "stores to addresses": _repeated("*(a + i) = 1;\n", _PLACE, "}"),
    "atomics": _repeated("atomicAdd(a + n, 1.0f);\n", _PLACE, "}"),
    "steps": _repeated("++n;\n", _PLACE, "}"),
    "values read": _repeated("if (x.item() > @) return;\n", _HOST, "}"),
    "values kept": _repeated("auto v@ = x.item(); if (v@ > 1) return;\n", _HOST, "}"),
    "sizes kept": _repeated("int v@ = x.size(0); if (v@ == 1024) return;\n", _HOST, "}"),
    "settings": _repeated("at::globalContext().setAllowTF32CuBLAS(true);\n", _HOST, "}"),
    "streams": _repeated("cudaStream_t s@; cudaStreamCreate(&s@);\n", _HOST, "}"),
    "casts to half": _repeated("a[0] = __float2half(b[0]);\n", _PLACE, "}"),
    "includes": _repeated("#include <a@.h>\n"),
    "includes of a library": _repeated("#include <cublas_v2.h>\n"),
    "includes that are none": _repeated("#include\n"),
    "macros": _repeated("#define M@ 1\n"),
    "macros that are used": lambda size: (
        _repeated("#define M@ cublasCreate\n")(size // 2) + _repeated("M@;\n")(size // 2)
    ),
    "one macro that is long": _repeated("a \\\n", "#define M "),
    "macros with parameters": _repeated("a@, ", "#define M(", "b) 1\n"),
    "macros that stand for __device__": _repeated("#define D@ __device__\n", "", "D1 D2 int f(int n) { return 1; }"),
    "annotations": _repeated("D ", "#define D __device__\n", "int f(int n) { return 1; }"),
    "directives": _repeated("#"),
    "disabled": _repeated("#if 0\nint a;\n#endif\n"),
    "nested conditionals": _nested("#if 1\n", "#endif\n"),
    "nested disabled": _nested("#if 0\n", "#endif\n"),
    "open conditionals": _repeated("#if 0\n"),
    "attributes": _repeated("__attribute__((aligned(4))) int a@;\n"),
    "attributes in attributes": _repeated("alignas("),
    "launch bounds": _repeated("__global__ void __launch_bounds__(32) k@(float* a) { a[0] = 1; }\n"),
    "launch bounds of a macro": lambda size: (
        "#define B __launch_bounds__(32)\n" + _repeated("__global__ void B k@(float* a) { }\n")(size)
    ),
    "open launch bounds": _repeated("__launch_bounds__("),
    "dispatches": _repeated('AT_DISPATCH_FLOATING_TYPES(x.type(), "f", [&] { k<<<1, 1>>>(a); });\n', _HOST, "}"),
    "open dispatches": _repeated("AT_DISPATCH_ALL("),
    "devices": _repeated('torch::Device("cuda");\n', _HOST, "}"),
    "symbols": _repeated("cudaMemcpyToSymbol(c, x, n);\n", _HOST, "}"),
    "open symbols": _repeated("cudaMemcpyToSymbol<"),
    "library names": _repeated("cublasCreate(&h);\n", _HOST, "}"),
    "library names in macros": _repeated("cublasCreate(&h); \\\n", "#define M "),
    "libraries": _repeated("thrust", "", ""),
    "namespaces": _nested("namespace a {", "}"),
    "classes": _nested("struct a {", "};"),
    "extern": _nested('extern "C" {', "}"),
    "stray letters": _repeated("é"),
    "pointers": _repeated("*", "int ", "a;"),
    "references": _repeated("&", "int ", "a;"),
    "prototypes": _repeated("torch::Tensor f@(torch::Tensor x);\n"),
    "declarators": _nested("(*", ")", "a", "int ", ";"),
    "semicolons": _repeated(";"),
    "colons": _repeated(":"),
    "dots": _repeated("a.", _HOST, "b(); }"),
    "arrows": _repeated("a->", "", "b<<<1, 1>>>();"),
    "template heads": _repeated("template <typename T> ", "", "void f() {}"),
    "asserts": _repeated("TORCH_CHECK(x.size(0) == 1024);\n", _HOST, "}"),
    "assembly": _repeated('asm("");\n', _PLACE, "}"),
}

_FORWARD = "import torch\nclass Model:\n  def forward(self, x):\n"

PYTHON: dict[str, Family] = {
    "assignments": _repeated("a@ = 1\n"),
    "assignments to one name": _repeated("a = 1\n"),
    "assignments in forward": _repeated("    a@ = x.shape\n", _FORWARD),
    "names in a chain": lambda size: (
        "a0 = 'x'\n" + "".join(f"a{i} = a{i - 1} + a{i - 1}\n" for i in range(1, size // 12))
    ),
    "functions": _repeated("def f@(x):\n  return x\n"),
    "tests": _repeated("def test@():\n  test@0()\n"),
    "methods": _repeated("  def f@(self, x):\n    self.a += 1\n    return self.a\n", "class Model:\n"),
    "classes": _repeated("class A@:\n  def forward(self, x):\n    return x\n"),
    "calls": _repeated("    torch.relu(x)\n", _FORWARD),
    "calls in calls": _nested("f(", ")", "x", "a = ", "\n"),
    "calls of calls": _repeated("()", "a = f", "\n"),
    "attributes": _repeated(".b", "a = a", "\n"),
    "methods of methods": _repeated(".relu()", _FORWARD + "    x", "\n"),
    "items of items": _repeated("[0]", "a = a", "\n"),
    "sums": _repeated("1 + ", "a = ", "1\n"),
    "sums of texts": _repeated("'a' + ", "a = ", "'a'\n"),
    "texts side by side": _repeated("'a' ", "a = ", "\n"),
    "minus": _repeated("-", "a = ", "1\n"),
    "not": _repeated("not ", "a = ", "1\n"),
    "digits": _repeated("9", "a = ", "\n"),
    "hexadecimal digits": _repeated("f", "a = 0x", "\n"),
    "hexadecimal digits that are compared": _repeated("f", _FORWARD + "    if x.shape == 0x", ": return x\n"),
    "powers": _repeated("10 ** ", "a = ", "8\n"),
    "shifts": _repeated("1 << ", "a = ", "8\n"),
    "products": lambda size: "a0 = 99999\n" + "".join(f"a{i} = a{i - 1} * a{i - 1}\n" for i in range(1, size // 12)),
    "round brackets": _nested("(", ")", "1", "a = ", "\n"),
    "lists": _nested("[", "]", "1", "a = ", "\n"),
    "list of numbers": _repeated("1, ", "a = [", "]\n"),
    "open brackets": _repeated("("),
    "dicts": _repeated("'a@': 1, ", "a = {", "}\n"),
    "formatted texts": _repeated("{a}", "a = f'", "'\n"),
    "formatted texts in a chain": lambda size: (
        "a0 = 'x'\n" + "".join(f"a{i} = f'{{a{i - 1}}}{{a{i - 1}}}'\n" for i in range(1, size // 22))
    ),
    "open texts": _repeated('"""'),
    "texts": _repeated('"a" "b"\n'),
    "backslashes": _repeated("\\\n"),
    "comments": _repeated("# a\n"),
    "conditions": _repeated("    if x.shape[0] == @: return x\n", _FORWARD),
    "conditions on values": _repeated("    if x.sum() > @: return x\n", _FORWARD),
    "else": _repeated("    elif x.shape[0] == @: return x\n", _FORWARD + "    if x: pass\n"),
    "nested conditions": lambda size: (
        _FORWARD
        + "".join(" " * (4 + i) + "if x.shape[0] == 1024:\n" for i in range(90))
        + " " * 94
        + "return x\n"
        + _repeated("    x = x\n")(size)
    ),
    "attempts": _repeated("    try: torch.relu(x)\n    except: pass\n", _FORWARD),
    "caches": _repeated("    a = self.c[x.shape]\n    return a\n", _FORWARD),
    "counters": _repeated("    self.a@ += 1\n    if self.a@ > 3: return x\n", _FORWARD),
    "imports": _repeated("import a@\n"),
    "settings": _repeated("    torch.backends.cudnn.a@ = True\n", _FORWARD),
    "random states": _repeated("    torch.manual_seed(1)\n", _FORWARD),
    "streams": _repeated("    torch.cuda.stream(x)\n", _FORWARD),
    "files": _repeated("    open(x)\n", _FORWARD),
    "patches": _repeated("torch.a@ = 1\n", "import torch\n"),
    "lambdas": _repeated("lambda: ", "a = ", "1\n"),
    "decorators": _repeated("@a\n", "", "def f(): pass\n"),
    "parameters": _repeated("a@, ", "def forward(", "b): return b\n"),
    "grids": _repeated("    k[(n // 32,)](x)\n", _FORWARD),
    "grids by name": _repeated("    k[g@](x)\n    g@ = (n // 32,)\n", _FORWARD),
    "Triton kernels": _repeated(
        "\n@triton.jit\ndef k@(x):\n  tl.store(x, tl.load(x))\n", "import triton\nimport triton.language as tl\n"
    ),
    "CUDA texts": _repeated('a = "__global__ void k() {}"\n'),
    "a CUDA text": _repeated("__global__ void k@(float* a) { a[0] = 1; }\n", 'a = """', '"""\n'),
    "extensions": _repeated(
        "load_inline('a', 'void f();', functions=['f'])\n", "from torch.utils.cpp_extension import load_inline\n"
    ),
    "stray letters": _repeated("é"),
    "NUL": _repeated("\0"),
    "carriage returns": _repeated("a = 1\r"),
    "line breaks": _repeated("\n"),
    "statements of a line": _repeated("a;", "", "a\n"),
    "indents": lambda size: "".join(" " * i + "if a:\n" for i in range(int(size**0.5))),
}
