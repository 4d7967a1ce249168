"""A simulated systolic array: machine, instruction stream, two simulators that agree, cost and lowering."""
