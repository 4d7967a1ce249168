"""Cycles of every GEMM of resnet18 and a BERT-base layer by SCALE-Sim, into traces/golden/scalesim/cycles.csv.

    python3 -m venv .venv-scalesim && .venv-scalesim/bin/pip install scalesim==3.0.0 'numpy<2.3'
    .venv-scalesim/bin/python tests/bench/scalesim_table.py [--limit N]

Rows that the table has are not run again; --limit stops after N new ones. A row takes seconds to minutes, hours in all.
SRAM is as large as SCALE-Sim counts addresses for and the bandwidth mode CALC, so that no memory ever stalls; a row
with stalls would raise. `cycles` is "Total Cycles" of COMPUTE_REPORT.csv: the index of the last cycle, from 0;
`seconds` is processor time, left out where it was not taken.
"""

import argparse
import contextlib
import csv
import io
import tempfile
import time
from pathlib import Path

from scalesim.scale_sim import scalesim

TABLE = Path(__file__).parents[2] / "traces" / "golden" / "scalesim" / "cycles.csv"
FIELDS = ("model", "layer", "m", "k", "n", "dataflow", "rows", "columns", "cycles", "seconds")
SIZES = (256, 128, 64, 32)
GEMMS = {
    "square": {"512": (512, 512, 512)},
    "resnet18": {
        "conv1": (12544, 147, 64),
        "layer1": (3136, 576, 64),
        "layer2.0.conv1": (784, 576, 128),
        "layer2": (784, 1152, 128),
        "layer2.0.downsample": (784, 64, 128),
        "layer3.0.conv1": (196, 1152, 256),
        "layer3": (196, 2304, 256),
        "layer3.0.downsample": (196, 128, 256),
        "layer4.0.conv1": (49, 2304, 512),
        "layer4": (49, 4608, 512),
        "layer4.0.downsample": (49, 256, 512),
        "fc": (1, 512, 1000),
    },
    "bert-base, 128 tokens": {
        "query, key, value, output": (128, 768, 768),
        "scores of a head": (128, 64, 128),
        "context of a head": (128, 128, 64),
        "feed-forward up": (128, 768, 3072),
        "feed-forward down": (128, 3072, 768),
    },
}
CONFIG = """
[general]
run_name = run
[architecture_presets]
ArrayHeight = {rows}
ArrayWidth = {columns}
IfmapSramSzkB = 65536
FilterSramSzkB = 65536
OfmapSramSzkB = 65536
IfmapOffset = 0
FilterOffset = 10000000
OfmapOffset = 20000000
Dataflow = {dataflow}
Bandwidth = 10
ReadRequestBuffer = 64
WriteRequestBuffer = 64
[layout]
IfmapCustomLayout = False
IfmapSRAMBankBandwidth = 10
IfmapSRAMBankNum = 10
IfmapSRAMBankPort = 2
FilterCustomLayout = False
FilterSRAMBankBandwidth = 10
FilterSRAMBankNum = 10
FilterSRAMBankPort = 2
[sparsity]
SparsitySupport = false
[run_presets]
InterfaceBandwidth = CALC
UseRamulatorTrace = False
"""


def cycles(m: int, k: int, n: int, dataflow: str, size: int) -> int:
    """Run SCALE-Sim on one GEMM; raises RuntimeError when it counted stalls."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        config, topology, layout = (Path(folder) / name for name in ("run.cfg", "gemm.csv", "layout.csv"))
        config.write_text(CONFIG.format(rows=size, columns=size, dataflow=dataflow))
        topology.write_text(f"Layer,M,N,K,\ngemm,{m},{n},{k},\n")
        layout.write_text("Layer,\n")
        run = scalesim(
            save_disk_space=True,
            verbose=False,
            config=str(config),
            topology=str(topology),
            layout=str(layout),
            input_type_gemm=True,
        )
        run.run_scale(folder)
        with (Path(folder) / "run" / "COMPUTE_REPORT.csv").open() as file:
            row = next(csv.DictReader(file, skipinitialspace=True))
    if float(row["Stall Cycles"]) != 0:
        raise RuntimeError(f"{m}x{k}x{n} {dataflow} {size}: stalled")
    return int(float(row["Total Cycles"]))


def main() -> None:
    """Run what the table lacks, the largest arrays (the quickest rows) first."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=1 << 30, help="new rows to add")
    limit = parser.parse_args().limit
    TABLE.parent.mkdir(parents=True, exist_ok=True)
    if not TABLE.exists():
        TABLE.write_text(",".join(FIELDS) + "\n")
    with TABLE.open(newline="") as file:
        have = {(r["model"], r["layer"], r["dataflow"], r["rows"]) for r in csv.DictReader(file)}
    wanted = [
        (model, layer, sizes, dataflow, size)
        for size in SIZES
        for model, layers in GEMMS.items()
        for layer, sizes in layers.items()
        for dataflow in ("ws", "os", "is")
        if (model, layer, dataflow, str(size)) not in have
    ]
    for model, layer, sizes, dataflow, size in wanted[:limit]:
        started = time.process_time()
        count = cycles(*sizes, dataflow, size)
        seconds = round(time.process_time() - started, 1)
        with TABLE.open("a", newline="") as file:
            csv.writer(file, lineterminator="\n").writerow([model, layer, *sizes, dataflow, size, size, count, seconds])
    raise SystemExit(0 if wanted else 3)


if __name__ == "__main__":
    main()
