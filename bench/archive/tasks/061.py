"""Transposed 3D convolution of a cube with a cubic kernel."""
import torch

batch_size = 16
in_channels = 3
out_channels = 64
kernel_size = 3
depth = 32
height = 32
width = 32

def module_fn(x, weight, bias, stride, padding, output_padding, groups):
    return torch.nn.functional.conv_transpose3d(x, weight, bias, stride, padding, output_padding, groups)

class Model(torch.nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size):
        super().__init__()
        self.weight = torch.nn.ConvTranspose3d(in_channels, out_channels, kernel_size, bias=False).weight

    def forward(self, x, fn=module_fn):
        return fn(x, self.weight, None, 1, 0, 0, 1)

def get_inputs():
    return [torch.randn(batch_size, in_channels, depth, height, width)]

def get_init_inputs():
    return [in_channels, out_channels, kernel_size]
