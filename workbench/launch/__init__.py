"""Launch plans: what a compiled model runs on a GPU, and the runner that needs only numpy and cuda-core."""
