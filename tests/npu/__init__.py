"""The npu dialect and the route through it."""
