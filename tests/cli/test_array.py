"""`workbench accel list`, `front` and `simulate`."""

import json
from pathlib import Path

from tests.cli.conftest import Workbench


def test_list(workbench: Workbench) -> None:
    done = workbench("accel", "list", "--json")
    assert [m["name"] for m in done.json()] == ["gemmini16", "lab4", "tpu128"]
    assert "128x128" in workbench("accel", "list").out


def test_front(workbench: Workbench) -> None:
    rows = workbench("accel", "front", "64x64x64", "--accel", "lab4", "--json").json()
    assert [r["cycles"] for r in rows] == sorted(r["cycles"] for r in rows)
    assert {"dataflow", "tile", "simulated", "energy_pj"} <= rows[0].keys()
    assert len(workbench("accel", "front", "64x64x64", "--accel", "lab4").out.splitlines()) == 1 + len(rows)


def test_simulate_a_product_and_its_program(workbench: Workbench, tmp_path: Path) -> None:
    timeline, program = tmp_path / "t.json", tmp_path / "p.txt"
    product = ("accel", "simulate", "2x16x16x16", "--accel", "lab4", "--dataflow", "os")
    found = workbench(*product, "--timeline", str(timeline), "--json").json()
    assert found["macs"] == 2 * 16**3
    assert json.loads(timeline.read_text())["traceEvents"]
    program.write_text(found["program"])
    again = workbench("accel", "simulate", str(program), "--accel", "lab4", "--json").json()
    assert again == found
    assert "config os" in workbench(*product, "--text").out


def test_refusals_are_one_line(workbench: Workbench, tmp_path: Path) -> None:
    program = tmp_path / "p.txt"
    program.write_text("program p int8\nconfig ws\npreload sp[0: 4x4]\n")
    done = workbench("accel", "simulate", str(program))
    assert done.code == 1 and "instruction 1 (preload): reads sp[0: 4x4], which nothing has written" in done.err
    program.write_text("program p int8\nconfig up\n")
    done = workbench("accel", "simulate", str(program))
    assert done.code == 2 and f"{program}, line 2: expected one of ws, os, is, found 'up'" in done.err
    for arguments, message in {
        ("simulate", "4x4"): "'4x4' is neither a file nor a shape such as 512x512x512",
        ("simulate", "1x2x4x4x4"): "'1x2x4x4x4' has 5 sizes",
        ("simulate", "4x4x4", "--dataflow", "rs"): "no dataflow 'rs'; known: ws, os, is",
        ("front", "4x0x4"): "sizes of a GEMM are at least 1",
        ("front", "4x4x4", "--accel", "tpu"): "no accelerator 'tpu'; known: gemmini16, lab4, tpu128",
    }.items():
        done = workbench("accel", *arguments)
        assert done.code == 2 and len(done.error_lines) == 1 and message in done.err, done.err
