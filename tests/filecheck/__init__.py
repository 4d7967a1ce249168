"""IR in, IR out: stages on small modules, checked with LLVM's FileCheck."""
