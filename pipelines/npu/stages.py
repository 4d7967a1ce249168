"""The npu route's own stages: offload, npu, fences, program, call-array, run-linked. Listing them loads no compiler."""

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

from byoc.systolic.machine import Machine, load_machine
from dialects.bindings import inside, text_of
from pipelines.mlir.passes import PassRunner
from pipelines.mlir.stage import MlirStage, open_module
from workbench.core.arrays import read_npz
from workbench.core.artefact import Artefact
from workbench.core.executable import executed
from workbench.core.kinds import IRKind
from workbench.core.offload import REGIONS, Offload
from workbench.core.stage import Context, Stage

DEFAULT = "gemmini16"
"""The accelerator when none is named."""


def machine_of(ctx: Context) -> Machine:
    """The accelerator that the user named, or the default."""
    return load_machine(ctx.target.accel or DEFAULT)


@dataclass(frozen=True)
class SplitModel(Stage):
    """Products that the array can compute become calls of private functions; what stays has its reason."""

    name: ClassVar[str] = "offload"
    consumes: ClassVar[IRKind] = IRKind.LINALG
    produces: ClassVar[IRKind] = IRKind.LINALG

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        from dialects import bindings
        from pipelines.npu import offload

        machine, module = machine_of(ctx), open_module(ir)
        found: list[Offload] = []
        with inside(module):
            passes = PassRunner(bindings, module, ctx.observers, ctx.capture, text=ir.text)
            passes.rewrite("offload", lambda m: found.append(offload.split(m, machine)))
            text, located = passes.text(), text_of(module, located=True)
        facts = {
            "accelerator": machine.name,
            "regions": len(found[0].regions),
            "offloaded": f"{found[0].share:.2%} of MACs",
        }
        blobs = {REGIONS: found[0].to_json().encode()}
        return ir.derive(self.produces, text, handle=module, located=located, facts=facts, blobs=blobs)


@dataclass(frozen=True)
class TileRegions(Stage):
    """Each region as tiled `npu` operations, loads a tile ahead of products.

    `direct` has the array walk over images of convolutions, instead of DMA making matrices of them.
    """

    direct: bool = False

    name: ClassVar[str] = "npu"
    consumes: ClassVar[IRKind] = IRKind.LINALG
    produces: ClassVar[IRKind] = IRKind.NPU

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        from dialects import bindings
        from dialects.npu.dialect import new_module
        from dialects.npu.verify import verify
        from pipelines.npu import lowering

        machine, source, module = machine_of(ctx), open_module(ir), new_module()
        with inside(source):
            works = lowering.regions(source, machine)
        with inside(module):
            passes = PassRunner(bindings, module, ctx.observers, ctx.capture)
            passes.rewrite("tile", lambda m: lowering.tile(m, works, machine, self.direct))
            passes.rewrite("verify-npu", verify)
            text = passes.text()
        return ir.derive(self.produces, text, facts={"regions": len(works)}, blobs=ir.blobs)


@dataclass(frozen=True)
class InsertFences(Stage):
    """Fences where one operation must wait for another; the dialect's verifier runs before and after."""

    name: ClassVar[str] = "fences"
    consumes: ClassVar[IRKind] = IRKind.NPU
    produces: ClassVar[IRKind] = IRKind.NPU

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        from dialects import bindings
        from dialects.npu.dialect import parse_npu
        from dialects.npu.verify import verify
        from pipelines.npu import lowering

        machine, module = machine_of(ctx), parse_npu(ir.text)
        with inside(module):
            passes = PassRunner(bindings, module, ctx.observers, ctx.capture, text=ir.text)
            passes.rewrite("verify-npu", verify)
            passes.rewrite("insert-fences", lambda m: lowering.fence(m, machine))
            passes.rewrite("verify-npu", verify)
            text = passes.text()
        return ir.derive(self.produces, text, facts={"fences": text.count('"npu.fence"')}, blobs=ir.blobs)


@dataclass(frozen=True)
class TranslatePrograms(Stage):
    """The regions as instruction streams, each simulated without values: what it costs and that it is legal."""

    name: ClassVar[str] = "program"
    consumes: ClassVar[IRKind] = IRKind.NPU
    produces: ClassVar[IRKind] = IRKind.PROGRAM

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        from byoc.report import figures_of
        from byoc.systolic.assembly import print_program
        from byoc.systolic.fast import simulate
        from dialects.npu.dialect import parse_npu
        from pipelines.npu import lowering

        machine = machine_of(ctx)
        module = parse_npu(ir.text)
        with inside(module):
            programs = lowering.programs(module, machine)
        results = {p.name: simulate(p, machine) for p in programs}
        facts = {
            "programs": len(programs),
            "instructions": sum(len(p.instructions) for p in programs),
        }
        blobs = dict(ir.blobs)
        if REGIONS in blobs:
            found = Offload.from_json(blobs[REGIONS].decode())
            costs = {name: {str(machine.dataflow): figures_of(r)} for name, r in results.items()}
            regions = tuple(dataclasses.replace(r, figures=costs[r.name]) for r in found.regions)
            blobs[REGIONS] = dataclasses.replace(found, regions=regions).to_json().encode()
            facts["cycles"] = sum(results[r.name].cycles for r in regions)
        return ir.derive(self.produces, "\n".join(map(print_program, programs)), facts=facts, blobs=blobs)


@dataclass(frozen=True)
class CallArray(MlirStage):
    """The host's half: regions lose their bodies and are called through their C interface."""

    name: ClassVar[str] = "call-array"
    consumes: ClassVar[IRKind] = IRKind.BUFFERS
    produces: ClassVar[IRKind] = IRKind.BUFFERS

    def lower(self, ctx: Context, passes: PassRunner, ir: Artefact) -> None:
        from pipelines.npu.lowering import declare_regions

        passes.rewrite("declare-regions", declare_regions)


@dataclass(frozen=True)
class RunLinked(Stage):
    """Runs the host code; its calls of regions run their programs on the simulated array.

    `budget_ms` bounds the repeated runs that give a time: none beyond the first when that alone takes longer.
    """

    budget_ms: int = 300

    name: ClassVar[str] = "run"
    consumes: ClassVar[IRKind] = IRKind.ASM
    produces: ClassVar[IRKind] = IRKind.RESULT
    needs: ClassVar[tuple[IRKind, ...]] = (IRKind.PROGRAM,)

    def apply(self, ctx: Context, ir: Artefact) -> Artefact:
        from pipelines.mlir.host.run import assemble, openmp_libraries
        from pipelines.npu.linked import LinkedExecutable, read_programs

        assert ir.signature is not None, "host code without a signature"
        programs = read_programs(ctx.latest[IRKind.PROGRAM].text)
        executable = LinkedExecutable(
            assemble(ir.text), ir.signature, ctx.store, openmp_libraries(ctx.target.threads), programs, machine_of(ctx)
        )
        inputs = read_npz(ctx.numerics / "inputs.npz")
        out = executed(ir, executable, inputs, self.budget_ms / 1e3, ctx.target.threads)
        return dataclasses.replace(out, facts=out.facts | executable.facts())


NPU_STAGES: tuple[type[Stage], ...] = (SplitModel, TileRegions, InsertFences, TranslatePrograms, CallArray, RunLinked)
