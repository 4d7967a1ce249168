"""The command line, end to end, mostly on what goes wrong."""
