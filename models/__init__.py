"""The model zoo: one ModelSpec a file, listed in `workbench.catalog.MODELS`."""
