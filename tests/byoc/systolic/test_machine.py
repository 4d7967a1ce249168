"""Machine descriptions: presets, files, and what is wrong with them."""

from pathlib import Path

import pytest

from byoc.systolic.machine import PRESETS, Dataflow, load_machine, presets
from workbench.core.errors import UsageError


def test_presets() -> None:
    assert presets() == ("gemmini16", "lab4", "tpu128")
    sizes = {name: (load_machine(name).rows, load_machine(name).columns) for name in presets()}
    assert sizes == {"lab4": (4, 4), "gemmini16": (16, 16), "tpu128": (128, 128)}
    assert all(load_machine(name).name == name for name in presets())


def test_capacities_count_elements_and_words() -> None:
    machine = load_machine("gemmini16")
    assert machine.scratchpad_elements("int8") == 262144
    assert machine.scratchpad_elements("bfloat16") == 131072
    assert machine.accumulator_words == 16384
    assert machine.dtypes == ("int8", "float16", "bfloat16", "float32")


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text((PRESETS / "lab4.toml").read_text().replace('dataflow = "ws"', 'dataflow = "os"'))
    assert load_machine(path).dataflow is Dataflow.OS
    path.write_text((PRESETS / "lab4.toml").read_text().replace("rows = 4", "rows = 8"))
    assert load_machine(str(path)).rows == 8


@pytest.mark.parametrize(
    "before,after,message",
    [
        ("rows = 4", "rows = 3", "array.rows must be an integer from 4 to 256, not 3"),
        ("rows = 4", "rows = 257", "array.rows must be an integer from 4 to 256, not 257"),
        ("rows = 4", 'rows = "4"', "array.rows must be an integer from 4 to 256, not '4'"),
        ("rows = 4\n", "", "array.rows must be an integer from 4 to 256; it is missing"),
        ('"ws"', '"rs"', "array.dataflow must be one of ws, os, is, not 'rs'"),
        ("double_buffered = true", "double_buffered = 2", "memory.double_buffered must be true or false, not 2"),
        ("clock_mhz = 100", "clock_mhz = 0", "clock_mhz must be a positive number, not 0"),
        ("clock_mhz = 100", "clock_mhz = nan", "clock_mhz must be a positive number, not nan"),
        ("clock_mhz = 100", "clock_mhz = 100\nclock_ghz = 1", "unknown key clock_ghz; known: array, clock_mhz"),
        ("channels = 1", "channels = 1\nchanels = 2", "unknown key dram.chanels"),
        ("int8 = 0.3, ", "int4 = 0.3, ", "unknown key energy_pj.mac.int4"),
        ("[memory]", "[memory", "is not TOML"),
        ("[dram]", "[ddr]", "dram must be a table; it is missing"),
    ],
)
def test_a_wrong_file_is_named_with_its_key(before: str, after: str, message: str, tmp_path: Path) -> None:
    path, text = tmp_path / "wrong.toml", (PRESETS / "lab4.toml").read_text()
    assert before in text
    path.write_text(text.replace(before, after))
    with pytest.raises(UsageError) as error:
        load_machine(path)
    assert str(path) in str(error.value) and message in str(error.value)


def test_unknown_names_and_files() -> None:
    with pytest.raises(UsageError, match="no accelerator 'tpu'; known: gemmini16, lab4, tpu128"):
        load_machine("tpu")
    with pytest.raises(UsageError, match=r"absent\.toml: No such file"):
        load_machine("absent.toml")
