# The environment is .venv; every target makes it first when it is missing or pyproject.toml changed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
EXTRAS := import,mlir,cuda,tvm,plot,dev

.PHONY: help setup demo test test-slow check bench bench-accel golden clean

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

setup: $(STAMP) ## make the environment

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' || \
	  { echo "error: Python 3.11 to 3.13 is needed; give one with: make PYTHON=python3.12"; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' || \
	  { echo "error: $(PYTHON) cannot make environments; run: apt-get install python3-venv"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$(EXTRAS)]'
	@# mlir-opt and its kin on the environment's path, where a trace's repro scripts look for them
	@ln -sf $$($(BIN)/python -c 'import mlir; print(list(mlir.__path__)[0])')/bin/mlir-opt $(BIN)/mlir-opt
	@touch $@

demo: setup ## lower resnet18 down to host code, PTX and SASS, and check its numbers
	$(BIN)/python -m workbench lower resnet18 --via mlir

test: setup ## the tests (minutes)
	$(BIN)/python -m pytest -n 2

test-slow: setup ## the slow tests (larger models)
	$(BIN)/python -m pytest -n 2 -m slow

check: setup ## lint, format, types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python

bench: setup ## measure compile and run times against peers; writes docs/benchmarks.md
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$(EXTRAS),bench]'
	$(BIN)/python -m tests.bench

bench-tuned: setup ## measure the committed tuned schedules against TVM's own and onnxruntime
	$(BIN)/python -m tests.bench.tuned

bench-accel: setup ## measure the array's simulators; writes docs/accel-benchmarks.md
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.bench.accel

golden: setup ## rewrite the golden IR after an intended change
	$(BIN)/python -m pytest -n 2 tests/filecheck tests/tvm/test_route.py --update-golden

clean: ## remove the environment and the traces
	rm -rf $(VENV) traces/runs
