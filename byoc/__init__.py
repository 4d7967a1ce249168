"""Accelerators reached by bring-your-own-codegen."""
