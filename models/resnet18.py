"""ResNet-18 (He et al., Deep Residual Learning for Image Recognition, 2015), written out layer by layer."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from models.initial import randomise, seeded
from models.spec import ModelSpec


def conv3x3(inputs: int, outputs: int, stride: int) -> nn.Conv2d:
    """A padded 3x3 convolution without bias: the normalisation after it has one."""
    return nn.Conv2d(inputs, outputs, kernel_size=3, stride=stride, padding=1, bias=False)


class BasicBlock(nn.Module):
    """Two 3x3 convolutions added to their input; a stride or a change of width projects the input by 1x1."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = conv3x3(inputs, outputs, stride)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = conv3x3(outputs, outputs, 1)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU()
        self.downsample = (
            nn.Identity()
            if stride == 1 and inputs == outputs
            else nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))
        )

    def forward(self, x: Tensor) -> Tensor:
        y = self.relu(self.bn1(self.conv1(x)))
        return self.relu(self.bn2(self.conv2(y)) + self.downsample(x))


class ResNet18(nn.Module):
    """float32 [n, 3, h, w] -> float32 [n, 1000]. Parameter names are those of the published checkpoints."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, kernel_size=7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        self.layer1 = nn.Sequential(BasicBlock(64, 64, 1), BasicBlock(64, 64, 1))
        self.layer2 = nn.Sequential(BasicBlock(64, 128, 2), BasicBlock(128, 128, 1))
        self.layer3 = nn.Sequential(BasicBlock(128, 256, 2), BasicBlock(256, 256, 1))
        self.layer4 = nn.Sequential(BasicBlock(256, 512, 2), BasicBlock(512, 512, 1))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(512, 1000)

    def forward(self, x: Tensor) -> Tensor:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(self.avgpool(x).flatten(1))


def picture() -> Tensor:
    """An image of a few soft blobs with grain, [1, 3, 224, 224].

    Averaged over all pixels, one image of pure noise is like another, and so would be the network's answers.
    """
    blobs = functional.interpolate(torch.randn(1, 3, 4, 4), size=224, mode="bilinear")
    return 2.0 * blobs + 0.3 * torch.randn(1, 3, 224, 224)


def build(seed: int) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """ResNet-18 on one 224x224 image."""
    with seeded(seed):
        model = ResNet18().eval()
        randomise(model)
        return model, (picture(),)


SPEC = ModelSpec("resnet18", "ResNet-18 on one 224x224 image: convolutions, batch norms, residual additions", build)
