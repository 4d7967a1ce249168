"""torch.export programs to the torch dialect."""
