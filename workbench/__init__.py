"""The lowering workbench: take a model down to the machine and keep every form it takes on the way."""

__version__ = "0.1.0"
