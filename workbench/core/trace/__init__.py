"""The trace on disk: an append-only event log, and everything that can be rebuilt from it. See traces/README.md."""

from workbench.core.trace.reader import Trace, find_trace, list_traces
from workbench.core.trace.writer import TraceWriter

__all__ = ["Trace", "TraceWriter", "find_trace", "list_traces"]
