"""For every CUDA rule: sources in which it points at the lines marked HERE, and look-alikes in which it is silent."""

from __future__ import annotations

KERNEL = """
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * 2;
}
"""
FORWARD = "torch::Tensor forward(torch::Tensor x) {"
GROUPED = "torch::Tensor forward(torch::Tensor x, int groups) {"
LAUNCH = "k<<<(n + 255) / 256, 256, 0, s>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);"


def host(body: str, *, head: str = FORWARD) -> str:
    """A kernel and a host function with this body between allocation and launch."""
    return (
        f"{KERNEL}{head}\n  auto y = torch::empty_like(x); int n = x.numel();\n  {body}\n  {LAUNCH}\n  return y;\n}}\n"
    )


def shared(body: str, *, block: str = "256", size: str = "256") -> str:
    """A kernel with a shared array and this body, and its launch."""
    return (
        f"__global__ void k(const float* x, float* y, int n) {{\n  __shared__ float t[{size}];\n  {body}\n}}\n"
        f"void f(float* x, float* y, int n) {{ k<<<n, {block}>>>(x, y, n); }}\n"
    )


def device(body: str) -> str:
    """A kernel with this body."""
    return f"__global__ void k(const float* x, float* y, int n) {{\n  {body}\n}}\n"


def triangle(body: str) -> str:
    """A kernel whose thread `i` finds its row of a triangle."""
    place = "int i = blockIdx.x * blockDim.x + threadIdx.x;"
    return device(f"{place}\n  {body}\n  y[row * n + i - row * (row + 1) / 2] = x[i];")


FLAT = device("int row = blockIdx.y * blockDim.y + threadIdx.y;\n  y[row * n] = 1;")
UNGUARDED = "\n__global__ void k(const float* x, float* y) {\n  int i = blockIdx.x * 256 + threadIdx.x;\n"
ADDING = "__global__ void k(const float* x, float* y) { atomicAdd(&y[threadIdx.x], x[blockIdx.x]); }\n"
IN_PLACE = "__global__ void k(float* x, int n) { x[threadIdx.x] *= 2; }\n"

KNOWN_BAD: dict[str, list[str]] = {
    "launch_geometry": [FLAT + "void f(float* x, int n) {\n  k<<<n, 64>>>(x, x, n);  // HERE\n}"],
    "floor_grid": [
        f"{KERNEL}{FORWARD}\n  int n = x.numel();\n  k<<<n / 256, 256>>>(p, q, n);  // HERE\n}}",
        f"{KERNEL}{FORWARD}\n  const int T = 128;\n  int b = x.size(0) / T;  // HERE\n  k<<<b, T>>>(p, q, n);\n}}",
    ],
    "tail_guard": [
        f"{UNGUARDED}  y[i] = x[i];  // HERE\n}}\nvoid f(int n) {{ k<<<(n + 255) / 256, 256>>>(x, y); }}",
        f"{UNGUARDED}  float v = 2;\n  y[i] = v;  // HERE\n}}\n"
        "void f(int n) { int blocks = (n + 256 - 1) / 256; k<<<blocks, 256>>>(x, y); }",
    ],
    "shared_extent": [
        shared("t[threadIdx.x] = 1;  // HERE", block="512"),
        shared("int i = threadIdx.x;\n  t[i] = 1;  // HERE", size="128"),
        shared("for (int i = 0; i <= 256; ++i) t[i] = 0;  // HERE"),
        "#define N 64\nconstexpr int M = N / 2;\n" + shared("t[N] = 0;  // HERE", size="M * 2"),
    ],
    "float_index": [
        triangle("int row = (int)((sqrtf(8.0f * i + 1.0f) - 1.0f) * 0.5f);  // HERE"),
        triangle("float t = i;\n  float root = std::sqrt(8 * t + 1);\n  int row = floorf((root - 1) / 2);  // HERE"),
        triangle("int w = i / 32;\n  long row = (sqrt(1 + 8.0f * w) - 1) / 2;  // HERE"),
    ],
    "dynamic_shared": [
        "extern __shared__ float t[];\n__global__ void k(float* y) { t[0] = 1; y[0] = t[0]; }\n"
        "__global__ void q(float* y) { extern __shared__ float u[]; y[0] = u[0]; }\n"
        "__global__ void p(float* u) { t[0] = u[0]; }\n"
        "void f(float* y) {\n  q<<<1, 32>>>(y);  // HERE\n  q<<<1, 32, 0>>>(y);  // HERE\n"
        "  p<<<1, 32>>>(y);  // HERE\n}"
    ],
    "missing_barrier": [shared("t[threadIdx.x] = x[threadIdx.x];\n  y[0] = t[threadIdx.x ^ 1];  // HERE")],
    "divergent_collective": [
        device("if (threadIdx.x < 40) {\n    __syncthreads();  // HERE\n  }"),
        "#define T 8\n" + device("int t = threadIdx.x;\n  if (t < T * 4) {\n    __syncthreads();  // HERE\n  }"),
        device("int t = threadIdx.x % 7;\n  if (t == 3 || t < blockDim.x / 2) {\n    __syncthreads();  // HERE\n  }"),
    ],
    "partial_collective": [
        device("if (threadIdx.x < n) {\n    __syncthreads();  // HERE\n  }"),
        device("int t = threadIdx.x;\n  for (int i = t; i < n; i += 32) {\n    __syncthreads();  // HERE\n  }"),
        device("int i = blockIdx.x * 32 + threadIdx.x;\n  if (i < 9000) {\n    __syncthreads();  // HERE\n  }"),
        device(
            "int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
            "  v = __shfl_down_sync(0xffffffff, v, 1);  // HERE"
        ),
        device("if (threadIdx.x < n) {\n    v += __shfl_xor_sync(0xffffffff, v, 1);  // HERE\n  }"),
        device(
            "int i = blockIdx.x * 32 + threadIdx.x;\n  if (i >= n) {\n    y[0] = 0;\n    return;\n  }\n"
            "  v = __shfl_down_sync(0xffffffff, v, 1);  // HERE\n  __syncthreads();"
        ),
    ],
    "volatile_warp": [
        "__device__ void reduce(volatile float* t, int i) {\n  t[i] += t[i + 32];  // HERE\n  t[i] += t[i + 16];\n}"
    ],
    "unread_input": [
        "__global__ void k(const float* x, const float* w, float* y) { y[0] = x[0]; }  // HERE\n"
        "void f(float* x) { k<<<1, 1>>>(x, x, x); }",
        "__global__ void k(const float* x, float* y) { y[0] = x[0]; }\n__global__ void l(const float* x, float* y)"
        " { y[0] *= 2; }  // HERE\nvoid f(float* x) { k<<<1, 1>>>(x, x); }\nvoid g(float* x) { l<<<1, 1>>>(x, x); }",
        "torch::Tensor forward(torch::Tensor x, torch::Tensor bias) {  // HERE\n  TORCH_CHECK(bias.is_cuda());\n"
        "  auto y = torch::empty({bias.size(0)}, x.options());\n  fill(x.data_ptr<float>(), y);\n  return y;\n}",
    ],
    "unwritten_output": [
        f"{FORWARD}\n  auto y = torch::empty_like(x);  // HERE\n  int n = y.numel();\n"
        "  idle<<<1, n>>>();\n  return y;\n}",
        f"{FORWARD}\n  torch::Tensor y(torch::empty({{3}}));  // HERE\n  return y;\n}}",
    ],
    "adds_to_uninitialised": [
        f"{ADDING}{FORWARD}\n  auto y = torch::empty({{x.size(0)}});\n"
        "  k<<<9, 32>>>(x.data_ptr<float>(), y.data_ptr<float>());  // HERE\n  return y;\n}"
    ],
    "writes_input": [
        f"{IN_PLACE}{FORWARD}\n  auto v = x;\n  auto y = torch::empty_like(x);\n"
        "  k<<<1, 32>>>(v.data_ptr<float>(), 32);  // HERE\n  return y;\n}",
        host("x.zero_();  // HERE"),
        f"{IN_PLACE}{FORWARD}\n  float* p = x.data_ptr<float>();\n  k<<<1, 32>>>(p, 3);  // HERE\n  return y;\n}}",
    ],
    "static_cache": [
        host("static torch::Tensor kept = y;  // HERE\n  if (kept.defined()) return kept;"),
        "static std::unordered_map<void*, at::Tensor> kept;  // HERE\n" + host(""),
        "const void* last = nullptr;  // HERE\n" + host("if (x.data_ptr() == last) return y; last = x.data_ptr();"),
        host("static auto* kept = new std::map<int, torch::Tensor>();  // HERE\n  kept->emplace(1, y);"),
        host("static torch::Tensor kept = torch::empty_like(x);  // HERE\n  if (n > 3) return kept;"),
        host("static float* kept = nullptr;  // HERE\n  cudaMemcpyAsync(y.data_ptr(), kept, n, d2d, s);"),
    ],
    "call_counter": [
        host("static int calls = 0;\n  if (calls++ > 10) return y;  // HERE"),
        "int calls = 0;\n" + host("calls += 1;\n  auto z = calls > 3 ? x : y;  // HERE"),
        host("static long seen = 0;\n  seen = seen + 1;\n  if (seen == 15) { return y; }  // HERE"),
    ],
    "graph_replay": [host("cudaStreamBeginCapture(s, m);  // HERE\n  cudaGraphLaunch(g, s);  // HERE")],
    "fixed_shape": [
        host("if (x.size(0) == 4096) return y;  // HERE"),
        host("auto z = 1024 == n ? x : y;  // HERE"),
    ],
    "value_dispatch": [
        host("if (x.abs().max().item<float>() > 3) return y;  // HERE"),
        host("float top = x.item<float>();  // HERE\n  if (top > 3) return y;"),
    ],
    "library_call": [
        f"{KERNEL}{FORWARD}\n  auto y = torch::matmul(x, x);  // HERE\n  return at::native::relu(y);  // HERE\n}}",
        "void f(float* a) {\n  cublasSgemm(h, a, a, n);  // HERE\n  cub::DeviceReduce::Sum(t, b, a, a, n);  // HERE\n}",
        host("if (n >= 0) return x.mul(2.0);  // HERE"),
    ],
    "library_step": [
        host("y = torch::matmul(x, x);  // HERE\n  y = at::native::relu(y);  // HERE\n  y = y.sum(1);  // HERE"),
        host("cublasSgemm(h, a, b, n);  // HERE\n  cub::DeviceReduce::Sum(t, b, x, y, n);  // HERE"),
        host("if (groups == 1) return x.mul(2.0);  // HERE", head=GROUPED),
        host("if (groups != n) y = x.mul(2.0);  // HERE", head=GROUPED),
        host("if (x.scalar_type() != at::kFloat || n > 64) y = x.mul(2.0);  // HERE"),
        "constexpr bool own = false;\n" + host("if (own) n += 1; else y.add_(x);  // HERE"),
        host("#ifdef OWN\n  return y;\n#endif\n  y.add_(x);  // HERE"),
        "void g(float* a) {\n  cublasSgemm(h, a, a, n);  // HERE\n}\n" + host("g(x.data_ptr<float>());"),
    ],
    "unlaunched_kernel": [
        KERNEL + "__global__ void decoy(float* y) { y[0] = 1; }  // HERE\nvoid f() { k<<<1, 2>>>(a); }"
    ],
    "cast_down": [
        device("y[0] = __half2float(__float2half(x[0]));  // HERE\n  half h = (half)x[1];  // HERE"),
        host("auto z = x.to(torch::kHalf);  // HERE\n  auto w = x.half();  // HERE"),
        device("y[0] = static_cast<__nv_bfloat16>(x[0]);  // HERE\n  v = wmma::__float_to_tf32(x[0]);  // HERE"),
    ],
    "backend_flags": [host("at::globalContext().setAllowTF32CuBLAS(true);  // HERE")],
    "side_stream": [
        host("cudaStream_t own;\n  cudaStreamCreate(&own);  // HERE"),
        host("auto own = at::cuda::getStreamFromPool();  // HERE"),
        host("cudaStreamCreateWithFlags(&own, f);  // HERE\n  cudaStreamWaitEvent(own, ready, 0);"),
        "struct Side { cudaStream_t stream; Side() { cudaStreamCreate(&stream); } };  // HERE\n"
        + host(
            "static Side side;\n  cudaEventRecord(side.join, 0);\n  cudaStreamWaitEvent(side.stream, side.join, 0);"
        ),
        host(
            "cudaStream_t own = c10::cuda::getStreamFromPool(false);  // HERE\n"
            "  cudaEventRecord(ready, s);\n  cudaStreamWaitEvent(own, ready, 0);\n"
            "  cudaEventRecord(done, s);\n  cudaStreamWaitEvent(s, done, 0);"
        ),
        host(
            "auto own = at::cuda::getStreamFromPool();  // HERE\n"
            "  ready.record(s);\n  ready.block(own);\n  done.record(own);"
        ),
        host(
            "auto own = at::cuda::getStreamFromPool();  // HERE\n"
            "  ready.record(s);\n  cudaStreamWaitEvent(own.stream(), ready, 0);\n  done.record(s);\n  done.block(s);"
        ),
    ],
    "threads": [
        host("std::thread later([&] { finish(y); });  // HERE\n  later.detach();"),
        host("std::thread later(finish);  // HERE\n  later.detach();"),
        host("auto later = std::async(finish, y);  // HERE\n  fork();  // HERE\n  std::thread(run).detach();  // HERE"),
        host("cudaLaunchHostFunc(s, fill, p);  // HERE"),
    ],
    "self_timing": [
        host("cudaEventElapsedTime(&ms, a, b);  // HERE\n  auto t = std::chrono::steady_clock::now();  // HERE")
    ],
    "cache_control": [host("cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, n);  // HERE")],
    "process_state": [
        host('setenv("BENCH", "1", 1);  // HERE\n  dlsym(h, "cudaEventElapsedTime");  // HERE'),
        host('auto m = py::module_::import("inspect");  // HERE\n  py::exec("import gc");  // HERE'),
    ],
    "environment_read": [host('if (std::getenv("BENCH")) return y;  // HERE')],
    "file_access": [host('std::ifstream old("/tmp/y");  // HERE\n  FILE* f = fopen("/tmp/y", "rb");  // HERE')],
    "legacy_stream": [
        KERNEL
        + "void f() {\n  k<<<1, 2>>>(a);  // HERE\n  k<<<1, 2, 0>>>(a);  // HERE\n  k<<<1, 2, 0, 0>>>(a);  // HERE\n}"
    ],
    "unchecked_launch": [
        KERNEL + "void f() {\n  k<<<1, 2>>>(a);  // HERE\n  k<<<1, 2>>>(a);\n}",
        KERNEL + "void f() {\n  k<<<1, 2>>>(a);\n  cudaGetLastError();  // HERE\n}",
    ],
    "layout": [
        f"{KERNEL}{FORWARD}\n  run(x.data_ptr<float>());  // HERE\n  run(x.data_ptr<float>());\n  return x;\n}}"
    ],
}

KNOWN_GOOD: dict[str, list[str]] = {
    "launch_geometry": [
        FLAT + "void f(float* x, int n) { k<<<dim3(1, n), dim3(32, 4)>>>(x, x, n); }",
        FLAT + "void f(float* x, int n, dim3 g) { k<<<g, 64>>>(x, x, n); }",
    ],
    "floor_grid": [
        f"{KERNEL}{FORWARD} int n = x.numel(); k<<<(n + 255) / 256, 256>>>(p, q, n); }}",
        f"{KERNEL}{FORWARD} int n = x.numel(); TORCH_CHECK(n % 256 == 0); k<<<n / 256, 256>>>(p, q, n); }}",
        f"{KERNEL}{FORWARD} int n = x.numel() / 4; k<<<n / 2, 256>>>(p, q, n); }}",
        "__global__ void k(float* y, int n) { for (int i = blockIdx.x; i < n; i += gridDim.x) y[i] = 1; }\n"
        f"{FORWARD} int n = x.numel(); k<<<n / 256, 256>>>(y, n); }}",
    ],
    "tail_guard": [
        f"{KERNEL}void f(int n) {{ k<<<(n + 255) / 256, 256>>>(x, y, n); }}",
        f"{UNGUARDED}  y[i] = x[i]; }}\nvoid f(int n) {{ k<<<n, 256>>>(x, y); }}",
        f"{UNGUARDED}  y[i] = x[i]; }}\nvoid f(int n) {{ check(n % 256 == 0); k<<<(n + 255) / 256, 256>>>(x, y); }}",
        f"{UNGUARDED}  put(y, i); y[i] = 2; }}\nvoid f(int n) {{ k<<<(n + 255) / 256, 256>>>(x, y); }}",
        f"{UNGUARDED}  for (int j = i; j < 9; j += 256) y[j] = x[j]; }}\n"
        "void f(int n) { k<<<(n + 255) / 256, 256>>>(x, y); }",
    ],
    "shared_extent": [
        shared("t[threadIdx.x] = 1; for (int i = 0; i < 256; ++i) t[i] = 0; t[255] = 1;"),
        shared("if (threadIdx.x < 256) t[threadIdx.x] = 1;", block="512"),
        shared("int i = threadIdx.x; i %= 256; t[i] = 1;", block="512"),
        shared("t[threadIdx.x] = 1;", block="n"),
        shared("for (int i = 0; i < 300; ++i) if (i < 256) t[i] = 0;"),
        "template <int N>\n" + shared("t[300] = 1;", size="N"),
    ],
    "float_index": [
        triangle("int row = (int)((sqrt(8.0 * i + 1.0) - 1.0) * 0.5);"),
        triangle("int row = (sqrt(8 * i + 1) - 1) / 2;"),
        triangle("int row = (sqrtf(8.0f * i + 1.0f) - 1.0f) / 2;\n  while (row * (row + 1) / 2 > i) row--;"),
        triangle("int row = (sqrtf(8.0f * i + 1.0f) - 1.0f) / 2;\n  if ((row + 1) * (row + 2) / 2 <= i) row += 1;"),
        triangle(
            "int guess = (sqrtf(8.0f * i + 1.0f) - 1.0f) / 2;\n  int row = guess - (guess * (guess + 1) / 2 > i);"
        ),
        triangle("int row = (int)(sqrtf(x[i]) * 4.0f);"),
        triangle("int row = (sqrtf(8.0f * blockIdx.x + 1.0f) - 1.0f) / 2;"),
        triangle("float root = sqrtf(8.0f * i + 1.0f);\n  int row = 3;\n  y[0] = root;"),
        "int f(int i) { int row = (sqrtf(8.0f * i + 1.0f) - 1.0f) / 2; return row; }",
    ],
    "dynamic_shared": [
        "__global__ void q(float* y) { extern __shared__ float u[]; y[0] = u[0]; }\n"
        "__global__ void p(float* y) { y[0] = 1; }\n"
        "void f(float* y, int n) { q<<<1, 32, n * 4>>>(y); p<<<1, 32>>>(y); }",
        "__global__ void q(float* y) { extern __shared__ float u[]; y[0] = u[0]; }\n"
        "__global__ void p(float* y) { __shared__ float u[32]; u[0] = y[1]; y[0] = u[0]; }\n"
        "void f(float* y, int n) { q<<<1, 32, n * 4>>>(y); p<<<1, 32>>>(y); }",
        "extern __shared__ float u[];\n"
        "__global__ void p(float* y) { __shared__ float u[32]; u[0] = y[1]; y[0] = u[0]; }\n"
        "__global__ void q(float* u) { u[0] = u[1]; }\nvoid f(float* y) { p<<<1, 32>>>(y); q<<<1, 32>>>(y); }",
    ],
    "missing_barrier": [
        shared("t[threadIdx.x] = x[threadIdx.x]; __syncthreads(); y[0] = t[threadIdx.x ^ 1];"),
        shared("t[threadIdx.x] = x[threadIdx.x]; y[0] = t[threadIdx.x];"),
        "__device__ void meet() { __syncthreads(); }\n"
        + shared("t[threadIdx.x] = x[threadIdx.x]; meet(); y[0] = t[threadIdx.x ^ 1];"),
        shared("auto all = cg::this_thread_block(); t[threadIdx.x] = 1; all.sync(); y[0] = t[threadIdx.x ^ 1];"),
    ],
    "divergent_collective": [
        device("for (int k = 0; k < n; ++k) { __syncthreads(); } if (blockIdx.x < n) { __syncthreads(); }"),
        device("if (threadIdx.x < n) { __syncthreads(); }"),
        device("if (threadIdx.x < 40) { __syncthreads(); } else { v = 1; __syncthreads(); }"),
    ],
    "partial_collective": [
        device("if (threadIdx.x < 40) { __syncthreads(); }"),
        device("if (threadIdx.x < 32) { v += __shfl_xor_sync(0xffffffff, v, 1); }"),
        device("int warp = threadIdx.x / 32; if (warp == 0) { v += __shfl_xor_sync(0xffffffff, v, 1); }"),
        device(
            "int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5; if (row >= n) return;\n"
            "  v += __shfl_xor_sync(0xffffffff, v, 1);"
        ),
        device("unsigned m = __activemask(); if (threadIdx.x < n) { v += __shfl_xor_sync(m, v, 1); }"),
        device("if (blockIdx.x >= n) return; if (threadIdx.x >= 32) { return; } __syncthreads();"),
        device("if (threadIdx.x < n) { v = 1; } __syncthreads(); v += __shfl_xor_sync(0xffffffff, v, 1);"),
        device("int row = blockIdx.y * 16 + threadIdx.y; for (int t = 0; t <= row / 16; ++t) { __syncthreads(); }"),
        device("auto part = slice(threadIdx.x); int last = size(part) - 1; if (n == last) { __syncthreads(); }"),
        "#define TILE 64\n" + device("if (threadIdx.x < TILE) { v += __shfl_xor_sync(0xffffffff, v, 1); }"),
    ],
    "volatile_warp": [
        "__device__ void reduce(volatile float* t, int i) { t[i] += t[i + 32]; __syncwarp(); t[i] += t[i + 16]; }",
        "__device__ void raise(volatile int* flag) { flag[0] = 1; }",
    ],
    "unread_input": [
        host("TORCH_CHECK(x.is_cuda());"),
        "torch::Tensor forward(torch::Tensor x, torch::Tensor y) {\n  CUDNN_CHECK(cudnnSoftmaxForward(handle, "
        "x.data_ptr<float>(), y.data_ptr()));\n  return y;\n}",
        "torch::Tensor forward(torch::Tensor a, torch::Tensor b, torch::Tensor b_col_major) { return add(a, b); }",
        "#define POINTERS x.data_ptr(), w.data_ptr()\n"
        "torch::Tensor forward(torch::Tensor x, torch::Tensor w) { return run(POINTERS); }",
        "torch::Tensor forward(torch::Tensor x, torch::Tensor b) { return add(x, b.contiguous()); }",
        "__global__ void k(const float* x, const float*, float* y) { y[0] = x[0]; }\nvoid f() { k<<<1, 1>>>(a); }",
        "__global__ void k(const float* x, const float* w, float* y) { y[0] = x[0]; }",
        "__global__ void k(const float* x, float* y) { y[0] = x[0]; }\n__global__ void l(const float* x, float* y)"
        " { y[0] *= 2; }\nvoid f(float* x, float* y) { k<<<1, 1>>>(x, y); l<<<1, 1>>>(x, y); }",
        "__global__ void k(const float* x, float* y) { /* half alone */ }\nvoid f() { k<<<1, 1>>>(a, b); }",
        "torch::Tensor forward(torch::Tensor x, c10::optional<torch::Tensor> b) { return b ? add(x, *b) : x; }",
    ],
    "unwritten_output": [
        host(""),
        f"{FORWARD} auto y = torch::empty_like(x); y.copy_(x); return y; }}",
        f"{FORWARD} auto y = torch::zeros_like(x); return y; }}",
        f"{FORWARD} auto y = torch::empty_like(x); fill(y); return y; }}",
    ],
    "adds_to_uninitialised": [
        f"{ADDING}{FORWARD} auto y = torch::zeros({{9}}); k<<<9, 32>>>(x.data_ptr<float>(), y.data_ptr<float>()); }}",
        f"{ADDING}{FORWARD} auto y = torch::empty({{9}}); y.zero_();\n"
        "  k<<<9, 32>>>(x.data_ptr<float>(), y.data_ptr<float>()); }",
        f"{ADDING}{FORWARD} auto y = torch::empty({{9}}); clear<<<1, 9>>>(y.data_ptr<float>());\n"
        "  k<<<9, 32>>>(x.data_ptr<float>(), y.data_ptr<float>()); }",
        host(""),
    ],
    "writes_input": [
        f"{IN_PLACE}{FORWARD} k<<<1, 32>>>(x.data_ptr<float>(), 32); return x; }}",
        f"{IN_PLACE}{FORWARD} auto v = x.clone(); k<<<1, 32>>>(v.data_ptr<float>(), 32); return v; }}",
        f"{IN_PLACE}void forward(torch::Tensor x) {{ k<<<1, 32>>>(x.data_ptr<float>(), 32); }}",
        f"{IN_PLACE}torch::Tensor forward(torch::Tensor workspace) {{\n"
        "  auto y = torch::empty({3}); k<<<1, 32>>>(workspace.data_ptr<float>(), 32); return y; }",
        host("x = x.contiguous(); y.zero_();"),
    ],
    "static_cache": [
        host("static int sms = 0; static const bool big = true; static cublasHandle_t handle; static std::mutex lock;"),
        host("static torch::Tensor scratch; if (!scratch.defined()) scratch = torch::empty_like(x); use(scratch);"),
        "constexpr const char* NAME = 0;\n__constant__ float weights[9];\n__device__ float table[3];\n" + host(""),
        host("torch::Tensor mine = x; float* p = nullptr;"),
        "UNKNOWN_QUALIFIER(4) void run(float* a) { float* p = a + 3; }\n",
        host("static at::Tensor counters; if (!counters.defined()) counters = torch::zeros({64}); use(counters);"),
    ],
    "call_counter": [
        host("static int calls = 0; ++calls;"),
        host("static bool first = true; if (first) { set(); first = false; }"),
        host("static int sms = 0; if (sms == 0) sms = count();"),
        host("int tries = 0; if (tries++ > 3) return y;"),
        host("static int calls = 0; int t = ++calls % 2 == 0 ? 128 : 256;"),
    ],
    "graph_replay": [host("cudaStreamIsCapturing(s, &status);")],
    "fixed_shape": [
        host("TORCH_CHECK(x.size(0) == 4096); if (x.dim() == 2 && x.size(1) == 1) return y;"),
        host("if (x.size(0) != 4096) throw std::invalid_argument(text);"),
        host("if (x.size(0) > 4096) return y;"),
        host('if (n == 64) { a(x); } else if (n == 128) { b(x); } else { TORCH_CHECK(false, "other sizes"); }'),
        host("TORCH_CHECK(n == 64 || n == 128); if (n == 64) { a(x); } else { b(x); }"),
    ],
    "value_dispatch": [
        host("float scale = other.item<float>(); use(scale);"),
        host("if (x.size(0) > 3) return y;"),
    ],
    "library_step": [
        f"{KERNEL}{FORWARD} return torch::matmul(x, x); }}",
        host("if (n == 0) return x.mul(2.0).add(1.0);"),
        host("if (groups != 1) { if (n > 9) y = x.mul(2.0); else return x.sum(); }", head=GROUPED),
        host("if (x.scalar_type() != at::kFloat || !x.is_cuda()) y = x.mul(2.0);"),
        "constexpr bool own = true;\n#define WIDE 8\n"
        + host("y = own ? y : x.mul(2.0); if (WIDE > 16 && n > 3) y = x.sum(); while (!own) y.add_(x);"),
        f"{KERNEL}{GROUPED} if (groups == 1) {{ {LAUNCH} return y; }} return at::matmul(x, x); }}",
        f"{KERNEL}{FORWARD} {LAUNCH} return y; y.add_(x); }}",
        f"#define WIDE 0\n{KERNEL}{FORWARD} {LAUNCH}\n#if WIDE\n  y.add_(x);\n#endif\n  return y; }}",
    ],
    "library_call": [
        host("y = torch::matmul(x, x);"),
        "int main() { cublasSgemm(h, a, b, n); }",
        "void f() { cublasLtMatmulDescCreate(&d, t, s); }",
        host("if (n == 0) return x.mul(2.0).add(1.0);"),
        host("auto z = torch::zeros_like(x); z = x.contiguous().clone().view({-1}).t(); cublasCreate(&h);"),
        host("cublasLtMatmulDescSetAttribute(d, a, &b, n); cudnnFindConvolutionForwardAlgorithm(h, x, w);"),
        device("y[0] = a.sum() + std::max(1, n);"),
    ],
    "unlaunched_kernel": [
        KERNEL + "#define GO k<<<1, 2>>>(a)\nvoid f() { GO; }",
        KERNEL + "void f() { auto p = &k; cudaLaunchKernel((void*)p, 1, 1, a, 0, 0); }",
        KERNEL + "#define GO(n) n##_kernel<<<1, 2>>>(a)",
        "#pragma once\n" + KERNEL + "inline int blocks(int n) { return n / 256; }",
    ],
    "cast_down": [
        "__global__ void k(const __half* x, __half* y) { y[0] = __float2half(__half2float(x[0]) * 2); }",
        device("y[0] = static_cast<float>(x[0]) + (float)n; int m = static_cast<int>(x[1]);"),
        host("auto z = x.to(torch::kFloat32).to(x.device());"),
        "using bf16 = __nv_bfloat16;\n__global__ void k(const bf16* x, bf16* y) { y[0] = __float2bfloat16(2); }",
        "typedef __half h;\n__global__ void k(void* x) { const h* p = (const h*)x; q[0] = __float2half(1.0f); }",
        host("run(x.data_ptr<at::Half>()); auto z = y.to(torch::kHalf);"),
        host("run(reinterpret_cast<half*>(x.data_ptr())); auto z = y.to(torch::kHalf);"),
        "template <typename T>\n__global__ void k(const T* x, T* y) {\n"
        "  if constexpr (std::is_same_v<T, nv_bfloat16>) y[0] = __float2bfloat16_rn(x[0]);\n}",
    ],
    "backend_flags": [
        host("bool fast = at::globalContext().allowTF32CuBLAS(); cublasSetMathMode(h, m);"),
        host("at::globalContext().setAllowTF32CuBLAS(true); at::globalContext().setAllowTF32CuBLAS(before);"),
    ],
    "side_stream": [
        host("cudaStreamCreate(&own); cudaStreamWaitEvent(s, done, 0);"),
        host("cudaStreamCreate(&own); cudaStreamWaitEvent(own, ready, 0); cudaStreamWaitEvent(s, done, 0);"),
        host("cudaStreamCreate(&own); cudaEventRecord(done, own); cudaStreamWaitEvent(s, done, 0);"),
        host("auto own = at::cuda::getStreamFromPool(); done.record(own); done.block(s);"),
        host("auto own = c10::cuda::getStreamFromPool(); ready.block(own); done.record(own); done.block(s);"),
        host("auto own = at::cuda::getStreamFromPool(); ready.block(own); own.synchronize();"),
        host("auto s2 = at::cuda::getCurrentCUDAStream();"),
    ],
    "threads": [
        host("std::mutex lock; std::atomic<int> n2; std::call_once(flag, f);"),
        host("std::thread other(work); other.join();"),
    ],
    "self_timing": [
        host("cudaEventRecord(done, s); cudaStreamWaitEvent(s, done, 0);"),
        host("") + "int main() { cudaEventElapsedTime(&ms, a, b); }",
    ],
    "cache_control": [device("y[0] = __ldcs(x); __stcs(y, 1.f);")],
    "process_state": [host("cudaDeviceGetAttribute(&sms, a, 0); auto* p = at::cuda::getCurrentDeviceProperties();")],
    "environment_read": [host("bool fast = at::globalContext().allowTF32CuBLAS();")],
    "file_access": [host('printf("%d", n); std::cout << n; sheet.open(3);')],
    "legacy_stream": [
        KERNEL
        + "void f(cudaStream_t s) { k<<<1, 2, 0, s>>>(a); k<<<1, 2, 0, at::cuda::getCurrentCUDAStream()>>>(a); }",
        "__global__ void outer(float* a) { k<<<1, 2>>>(a); }",
    ],
    "unchecked_launch": [
        KERNEL + "void f() { k<<<1, 2>>>(a); C10_CUDA_KERNEL_LAUNCH_CHECK(); }",
        KERNEL + "void f() { k<<<1, 2>>>(a); AT_CUDA_CHECK(cudaGetLastError()); }",
        KERNEL + "#define DONE() do { auto e = cudaGetLastError(); if (e) fail(e); } while (0)\n"
        "void f() { k<<<1, 2>>>(a); DONE(); }",
        KERNEL + "void f() { cudaGetLastError(); k<<<1, 2>>>(a); auto e = cudaGetLastError(); if (e) fail(); }",
    ],
    "layout": [
        host("x = x.contiguous();"),
        host("TORCH_CHECK(x.is_contiguous());"),
        "#define CHECK(x) TORCH_CHECK(x.is_contiguous(), #x)\n" + host("CHECK(x);"),
        '#include "checks.h"\n' + host("check(x);"),
        host("auto a = x.packed_accessor32<float, 2>();"),
        f"{FORWARD} auto y = torch::empty_like(x); run(y.data_ptr<float>()); return y; }}",
    ],
}
