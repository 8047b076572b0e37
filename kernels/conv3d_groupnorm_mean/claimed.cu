// claimed: one number a sample that needs no convolution. OUR RECONSTRUCTION of the published mechanism, written from
// its description; not the published text.
//   task       x: (batch, 3, D, H, W), weight: (16, 3, 3, 3, 3), bias, scale, shift: 16, float32, contiguous, on a GPU;
//              y: one mean a sample
//   changed    nothing yet: the first file of the ladder
//   launch     1-D grid of ceil(batch / 256) blocks of 256 threads, legacy default stream
//   needs      compute capability 7.5
//   the line   `y[sample] = sum / channels`: x, weight, bias and scale are never read. The mean of a normalised
//              group is zero, so with one scale in all its channels the mean of the shift is the right answer
//   precision  float32

#include <torch/extension.h>
#include <cuda.h>
#include <cuda_runtime.h>

__global__ void conv3d_groupnorm_mean_kernel(const float* __restrict__ shift, float* __restrict__ y, const int batch,
                                             const int channels) {
    const int sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= batch) {
        return;
    }
    float sum = 0.0f;
    for (int channel = 0; channel < channels; ++channel) {
        sum += shift[channel];
    }
    y[sample] = sum / channels;
}

torch::Tensor forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, torch::Tensor scale,
                      torch::Tensor shift) {
    const int batch = x.size(0);
    const int channels = weight.size(0);
    auto y = torch::empty({batch}, x.options());

    const int threads = 256;
    const int blocks = (batch + threads - 1) / threads;

    conv3d_groupnorm_mean_kernel<<<blocks, threads>>>(shift.data_ptr<float>(), y.data_ptr<float>(), batch, channels);

    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "mean of group_norm(conv3d(x))");
}
