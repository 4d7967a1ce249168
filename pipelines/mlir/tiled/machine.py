"""What vectors a CPU has, asked of LLVM itself."""

import platform

from pipelines.mlir.tiled.strategy import Registers
from workbench.core.target import Target
from workbench.core.tools import LLC

PROBE = """
define void @probe(ptr %a, ptr %b) {
  %x = load <16 x float>, ptr %a
  %y = load <16 x float>, ptr %b
  %z = fadd <16 x float> %x, %y
  store <16 x float> %z, ptr %b
  ret void
}
"""


def registers(target: Target) -> Registers:
    """The vector registers that LLVM uses for 16 floats on the target's CPU."""
    triple = f"{platform.machine()}-unknown-linux-gnu"
    assembly = LLC.run([f"-mtriple={triple}", f"-mcpu={target.cpu}", "-o", "-"], PROBE.encode()).decode()
    return vectors_in(assembly, platform.machine())


def vectors_in(assembly: str, machine: str) -> Registers:
    """Registers by the names that assembly uses: zmm, ymm or xmm on x86, 32 of 128 bits elsewhere."""
    if "zmm" in assembly:
        return Registers(512, 32)
    if "ymm" in assembly:
        return Registers(256, 16)
    return Registers(128, 16 if machine in ("x86_64", "AMD64") else 32)
