"""The relax toolchain, made where it is missing: WORKBENCH_TOOLCHAINS, or the user's cache."""

import pytest

from workbench.toolchain import TOOLCHAINS, default_root
from workbench.toolchain.install import install


@pytest.fixture(scope="session", autouse=True)
def toolchain() -> None:
    """Needs a network the first time."""
    install(TOOLCHAINS["relax"], default_root(), print)
