"""Small networks for the route to an array."""

import torch
from torch import Tensor, nn


class Convolutions(nn.Module):
    """Window sizes, strides and pads that differ by axis, ReLUs, 1x1, a residual addition, and a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 8, (5, 3), stride=(2, 1), padding=(2, 1))
        self.wide = nn.Conv2d(8, 12, 1)
        self.down = nn.Conv2d(12, 12, 3, stride=2, padding=1)
        self.same = nn.Conv2d(12, 12, 3, padding=1)
        self.head = nn.Linear(12, 5)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.wide(torch.relu(self.stem(x))))
        x = self.down(x)
        return self.head((x + self.same(x)).mean((2, 3)))


def convolutions() -> tuple[nn.Module, tuple[Tensor, ...]]:
    torch.manual_seed(0)
    return Convolutions().eval(), (torch.randn(2, 3, 19, 13),)


class Awkward(nn.Module):
    """One convolution that an array takes, among others that it leaves to the host."""

    def __init__(self) -> None:
        super().__init__()
        self.plain = nn.Conv2d(4, 8, 3, padding=1)
        self.dilated = nn.Conv2d(8, 8, 3, padding=2, dilation=2)
        self.grouped = nn.Conv2d(8, 8, 3, padding=1, groups=2)
        self.up = nn.ConvTranspose2d(8, 4, 2, stride=2)

    def forward(self, x: Tensor) -> Tensor:
        return self.up(self.grouped(torch.relu(self.dilated(torch.tanh(self.plain(x))))))


def awkward() -> tuple[nn.Module, tuple[Tensor, ...]]:
    torch.manual_seed(0)
    return Awkward().eval(), (torch.randn(1, 4, 9, 9),)
