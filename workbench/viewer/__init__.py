"""Traces as pages: reads files only, never a compiler."""
