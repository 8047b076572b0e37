"""Transposed 3D convolution of a cube with unequal sides of the kernel."""
import torch

batch_size = 16
in_channels = 32
out_channels = 64
kernel_depth = 3
kernel_width = 5
kernel_height = 5
depth = 64
width = 64
height = 64

def module_fn(x, weight, bias, stride, padding, output_padding, groups):
    return torch.nn.functional.conv_transpose3d(x, weight, bias, stride, padding, output_padding, groups)

class Model(torch.nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size):
        super().__init__()
        self.weight = torch.nn.ConvTranspose3d(in_channels, out_channels, kernel_size, bias=False).weight

    def forward(self, x, fn=module_fn):
        return fn(x, self.weight, None, (1, 1, 1), (0, 0, 0), (0, 0, 0), 1)

def get_inputs():
    return [torch.randn(batch_size, in_channels, depth, width, height)]

def get_init_inputs():
    return [in_channels, out_channels, (kernel_depth, kernel_width, kernel_height)]
