"""Padded transposed 2D convolution with unequal sides of image and kernel."""
import torch

batch_size = 16
in_channels = 32
out_channels = 64
kernel_size = (3, 5)
height = 128
width = 256
padding = (1, 2)

def module_fn(x, weight, bias, stride, padding):
    return torch.nn.functional.conv_transpose2d(x, weight, bias, stride, padding)

class Model(torch.nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size):
        super().__init__()
        self.weight = torch.nn.ConvTranspose2d(in_channels, out_channels, kernel_size, bias=False).weight

    def forward(self, x, fn=module_fn):
        return fn(x, self.weight, None, (1, 1), padding)

def get_inputs():
    return [torch.randn(batch_size, in_channels, height, width)]

def get_init_inputs():
    return [in_channels, out_channels, kernel_size]
