"""The CPU leg: loops to LLVM, host assembly, and running it."""
