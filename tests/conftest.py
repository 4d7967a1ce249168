"""Options shared by every test."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --update-golden."""
    parser.addoption("--update-golden", action="store_true", help="rewrite traces/golden instead of comparing with it")
