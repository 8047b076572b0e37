// shared_weights: each value of x is read once for all 16 channels.
//   changed    against fixed_channel_sums.cu: a thread computes all 16 channels of a position, with the weights in
//              shared memory, so x is read a sixteenth as often; float sums in a block, float64 between blocks
//   launch     convolve: (ceil(positions / 1024), batch) blocks of 256 threads, 4 positions a thread; finish: one block
//              of 32 threads a sample
//   needs      compute capability 7.5
//   the line   `values[channel] += here * taps[tap * OUT_CHANNELS + channel]`: 16 multiply-adds for one read of x
//   precision  float32 products; sums over a block's 1024 positions in float32, over blocks in float64

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>

constexpr int IN_CHANNELS = 3;
constexpr int OUT_CHANNELS = 16;
constexpr int SIDE = 3;  // of the convolution's kernel
constexpr int TAPS = IN_CHANNELS * SIDE * SIDE * SIDE;
constexpr int GROUPS = 8;
constexpr int IN_GROUP = OUT_CHANNELS / GROUPS;
constexpr int THREADS = 256;
constexpr int WARP = 32;
constexpr int WARPS = THREADS / WARP;
constexpr int EACH = 4;  // positions a thread
constexpr int PLACES = THREADS * EACH;
constexpr int KINDS = 2;  // of sums: values and squares
constexpr double EPSILON = 1e-5;
constexpr unsigned ALL = 0xffffffffu;

struct Extent {
    int depth;
    int height;
    int width;
};

// All 16 channels at one position of the output; `from` is the first element of x that it sees.
__device__ void convolve(float (&values)[OUT_CHANNELS], const float* __restrict__ from, const float* taps,
                         const float* __restrict__ bias, const Extent& in) {
#pragma unroll
    for (int channel = 0; channel < OUT_CHANNELS; ++channel) {
        values[channel] = bias[channel];
    }
    int tap = 0;
    for (int c = 0; c < IN_CHANNELS; ++c) {
        for (int i = 0; i < SIDE; ++i) {
            for (int j = 0; j < SIDE; ++j) {
                const float* line = from + (static_cast<int64_t>(c * in.depth + i) * in.height + j) * in.width;
#pragma unroll
                for (int k = 0; k < SIDE; ++k, ++tap) {
                    const float here = line[k];
#pragma unroll
                    for (int channel = 0; channel < OUT_CHANNELS; ++channel) {
                        values[channel] += here * taps[tap * OUT_CHANNELS + channel];
                    }
                }
            }
        }
    }
}

// Sums of a chunk of positions of one sample, to sums[((sample * chunks + chunk) * 2 + kind) * 16 + channel].
__global__ void __launch_bounds__(THREADS)
convolve_kernel(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
                float* __restrict__ sums, const Extent in) {
    __shared__ float taps[TAPS * OUT_CHANNELS];
    __shared__ float partial[WARPS][KINDS * OUT_CHANNELS];
    for (int at = threadIdx.x; at < TAPS * OUT_CHANNELS; at += THREADS) {
        taps[at % TAPS * OUT_CHANNELS + at / TAPS] = weight[at];  // channels side by side
    }
    __syncthreads();
    const Extent out = {in.depth - SIDE + 1, in.height - SIDE + 1, in.width - SIDE + 1};
    const int places = out.depth * out.height * out.width;
    const float* sample = x + static_cast<int64_t>(blockIdx.y) * IN_CHANNELS * in.depth * in.height * in.width;
    float own[KINDS][OUT_CHANNELS] = {};
    for (int i = 0; i < EACH; ++i) {
        const int place = blockIdx.x * PLACES + i * THREADS + threadIdx.x;
        if (place >= places) {
            break;
        }
        const int col = place % out.width;
        const int row = place / out.width % out.height;
        const int slice = place / (out.width * out.height);
        float values[OUT_CHANNELS];
        convolve(values, sample + (static_cast<int64_t>(slice) * in.height + row) * in.width + col, taps, bias, in);
#pragma unroll
        for (int channel = 0; channel < OUT_CHANNELS; ++channel) {
            own[0][channel] += values[channel];
            own[1][channel] += values[channel] * values[channel];
        }
    }
#pragma unroll
    for (int at = 0; at < KINDS * OUT_CHANNELS; ++at) {
        float sum = own[at / OUT_CHANNELS][at % OUT_CHANNELS];
        for (int apart = WARP / 2; apart > 0; apart /= 2) {
            sum += __shfl_down_sync(ALL, sum, apart);
        }
        if (threadIdx.x % WARP == 0) {
            partial[threadIdx.x / WARP][at] = sum;
        }
    }
    __syncthreads();
    if (threadIdx.x < KINDS * OUT_CHANNELS) {
        float sum = 0.0f;
        for (int warp = 0; warp < WARPS; ++warp) {
            sum += partial[warp][threadIdx.x];
        }
        const int64_t chunk = static_cast<int64_t>(blockIdx.y) * gridDim.x + blockIdx.x;
        sums[chunk * KINDS * OUT_CHANNELS + threadIdx.x] = sum;
    }
}

// One warp a sample: lane (kind, channel) adds up the chunks, then lane 0 normalises the 32 sums.
__global__ void finish_kernel(const float* __restrict__ sums, const float* __restrict__ scale,
                              const float* __restrict__ shift, float* __restrict__ y, const int chunks,
                              const double places) {
    __shared__ double totals[KINDS][OUT_CHANNELS];
    const float* own = sums + static_cast<int64_t>(blockIdx.x) * chunks * KINDS * OUT_CHANNELS + threadIdx.x;
    double total = 0.0;
    for (int chunk = 0; chunk < chunks; ++chunk) {
        total += own[chunk * KINDS * OUT_CHANNELS];
    }
    totals[threadIdx.x / OUT_CHANNELS][threadIdx.x % OUT_CHANNELS] = total / places;
    __syncthreads();
    if (threadIdx.x != 0) {
        return;
    }
    double mean = 0.0;
    for (int group = 0; group < GROUPS; ++group) {
        double of_group = 0.0, squares = 0.0;
        for (int i = 0; i < IN_GROUP; ++i) {
            of_group += totals[0][group * IN_GROUP + i] / IN_GROUP;
            squares += totals[1][group * IN_GROUP + i] / IN_GROUP;
        }
        const double spread = 1.0 / sqrt(fmax(squares - of_group * of_group, 0.0) + EPSILON);
        for (int i = 0; i < IN_GROUP; ++i) {
            const int channel = group * IN_GROUP + i;
            mean += scale[channel] * (totals[0][channel] - of_group) * spread + shift[channel];
        }
    }
    y[blockIdx.x] = static_cast<float>(mean / OUT_CHANNELS);
}

void check_inputs(const torch::Tensor& x, const torch::Tensor& weight) {
    TORCH_CHECK(x.is_cuda() && x.device() == weight.device(), "all inputs must be on one GPU");
    TORCH_CHECK(x.scalar_type() == torch::kFloat32, "x must be float32");
    TORCH_CHECK(x.dim() == 5 && x.size(1) == IN_CHANNELS, "x must be (batch, 3, D, H, W), got ", x.sizes());
    TORCH_CHECK(weight.size(0) == OUT_CHANNELS && weight.numel() == OUT_CHANNELS * TAPS, "weight must be 16 x 3 x 3^3");
    TORCH_CHECK(x.size(2) >= SIDE && x.size(3) >= SIDE && x.size(4) >= SIDE, "x must be 3 wide along every axis");
}

torch::Tensor forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, torch::Tensor scale,
                      torch::Tensor shift) {
    check_inputs(x, weight);
    const c10::cuda::CUDAGuard guard(x.device());
    x = x.contiguous();
    weight = weight.contiguous();
    bias = bias.contiguous();
    scale = scale.contiguous();
    shift = shift.contiguous();
    const int batch = x.size(0);
    const Extent in = {static_cast<int>(x.size(2)), static_cast<int>(x.size(3)), static_cast<int>(x.size(4))};
    const int places = (in.depth - SIDE + 1) * (in.height - SIDE + 1) * (in.width - SIDE + 1);
    const int chunks = (places + PLACES - 1) / PLACES;
    auto y = torch::empty({batch}, x.options());
    auto sums = torch::empty({batch, chunks, KINDS, OUT_CHANNELS}, x.options());
    const auto stream = at::cuda::getCurrentCUDAStream();
    const dim3 blocks(chunks, batch);
    convolve_kernel<<<blocks, THREADS, 0, stream>>>(x.data_ptr<float>(), weight.data_ptr<float>(),
                                                    bias.data_ptr<float>(), sums.data_ptr<float>(), in);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    finish_kernel<<<batch, WARP, 0, stream>>>(sums.data_ptr<float>(), scale.data_ptr<float>(), shift.data_ptr<float>(),
                                              y.data_ptr<float>(), chunks, places);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "mean of group_norm(conv3d(x))");
}
