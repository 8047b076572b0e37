// fixed_chain: the whole chain, as the task states it, whatever its result.
//   changed    against claimed.py: nothing is left out; a kernel of its own for each step
//   launch     convolve: (16, batch) blocks of 256 threads, one for each channel of each sample; finish: (8, batch)
//              blocks of 256 threads, one for each group of each sample
//   needs      compute capability 7.5
//   the line   `own[at] = fminf(fmaxf(fminf(value, low), low), HIGH)`: at most low, then at least low
//   precision  float32 products and sums of 81 terms; statistics in float64

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
constexpr double EPSILON = 1e-5;
constexpr float HIGH = 1.0f;

struct Extent {
    int depth;
    int height;
    int width;
};

// One channel of one sample of the convolution, to y.
__global__ void __launch_bounds__(THREADS)
convolve_kernel(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
                float* __restrict__ y, const Extent in) {
    __shared__ float taps[TAPS];
    const int channel = blockIdx.x;
    for (int tap = threadIdx.x; tap < TAPS; tap += THREADS) {
        taps[tap] = weight[channel * TAPS + tap];
    }
    __syncthreads();
    const Extent out = {in.depth - SIDE + 1, in.height - SIDE + 1, in.width - SIDE + 1};
    const int places = out.depth * out.height * out.width;
    const int64_t plane = static_cast<int64_t>(in.height) * in.width;
    const float* sample = x + blockIdx.y * IN_CHANNELS * in.depth * plane;
    float* to = y + (static_cast<int64_t>(blockIdx.y) * OUT_CHANNELS + channel) * places;
    for (int place = threadIdx.x; place < places; place += THREADS) {
        const int col = place % out.width;
        const int row = place / out.width % out.height;
        const int slice = place / (out.width * out.height);
        float value = bias[channel];
        int tap = 0;
        for (int c = 0; c < IN_CHANNELS; ++c) {
            for (int i = 0; i < SIDE; ++i) {
                for (int j = 0; j < SIDE; ++j) {
                    const float* from = sample + (c * in.depth + slice + i) * plane + (row + j) * in.width + col;
                    for (int k = 0; k < SIDE; ++k) {
                        value += from[k] * taps[tap++];
                    }
                }
            }
        }
        to[place] = value;
    }
}

// Normalises one group of one sample where it lies, then min and clamp; the channels of a group are neighbours.
__global__ void __launch_bounds__(THREADS)
finish_kernel(const float* __restrict__ scale, const float* __restrict__ shift, float* y, const int places,
              const float low) {
    __shared__ double partial[2][THREADS];
    const int count = IN_GROUP * places;
    float* own = y + (static_cast<int64_t>(blockIdx.y) * GROUPS + blockIdx.x) * count;
    double sum = 0.0, squares = 0.0;
    for (int at = threadIdx.x; at < count; at += THREADS) {
        sum += own[at];
        squares += static_cast<double>(own[at]) * own[at];
    }
    partial[0][threadIdx.x] = sum;
    partial[1][threadIdx.x] = squares;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            partial[0][threadIdx.x] += partial[0][threadIdx.x + half];
            partial[1][threadIdx.x] += partial[1][threadIdx.x + half];
        }
    }
    __syncthreads();
    const double mean = partial[0][0] / count;
    const double spread = 1.0 / sqrt(fmax(partial[1][0] / count - mean * mean, 0.0) + EPSILON);
    for (int at = threadIdx.x; at < count; at += THREADS) {
        const int channel = blockIdx.x * IN_GROUP + at / places;
        const float value = static_cast<float>((own[at] - mean) * spread) * scale[channel] + shift[channel];
        own[at] = fminf(fmaxf(fminf(value, low), low), HIGH);
    }
}

void check_inputs(const torch::Tensor& x, const torch::Tensor& weight) {
    TORCH_CHECK(x.is_cuda() && x.device() == weight.device(), "all inputs must be on one GPU");
    TORCH_CHECK(x.scalar_type() == torch::kFloat32, "x must be float32");
    TORCH_CHECK(x.dim() == 5 && x.size(1) == IN_CHANNELS, "x must be (batch, 3, D, H, W), got ", x.sizes());
    TORCH_CHECK(weight.size(0) == OUT_CHANNELS && weight.numel() == OUT_CHANNELS * TAPS, "weight must be 16 x 3 x 3^3");
    TORCH_CHECK(x.size(2) >= SIDE && x.size(3) >= SIDE && x.size(4) >= SIDE, "x must be 3 wide along every axis");
}

torch::Tensor forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, torch::Tensor scale,
                      torch::Tensor shift, double low) {
    check_inputs(x, weight);
    const c10::cuda::CUDAGuard guard(x.device());
    x = x.contiguous();
    weight = weight.contiguous();
    bias = bias.contiguous();
    scale = scale.contiguous();
    shift = shift.contiguous();
    const int batch = x.size(0);
    const Extent in = {static_cast<int>(x.size(2)), static_cast<int>(x.size(3)), static_cast<int>(x.size(4))};
    const Extent out = {in.depth - SIDE + 1, in.height - SIDE + 1, in.width - SIDE + 1};
    auto y = torch::empty({batch, OUT_CHANNELS, out.depth, out.height, out.width}, x.options());
    const auto stream = at::cuda::getCurrentCUDAStream();
    const dim3 channels(OUT_CHANNELS, batch);
    convolve_kernel<<<channels, THREADS, 0, stream>>>(x.data_ptr<float>(), weight.data_ptr<float>(),
                                                      bias.data_ptr<float>(), y.data_ptr<float>(), in);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    const dim3 groups(GROUPS, batch);
    finish_kernel<<<groups, THREADS, 0, stream>>>(scale.data_ptr<float>(), shift.data_ptr<float>(), y.data_ptr<float>(),
                                                  out.depth * out.height * out.width, low);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "clamp(min(group_norm(conv3d(x)), low), low, 1)");
}
