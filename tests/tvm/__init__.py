"""The TVM route."""
