"""Other people's errors, short enough to quote in a line of ours."""

import contextlib
import io
import logging
import warnings
from collections.abc import Generator, Sequence


def one_line(error: BaseException) -> str:
    """`Type: first line` of an exception."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def root_of(error: BaseException) -> BaseException:
    """The exception that `error` came from in the first place."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def listed(names: Sequence[str], limit: int = 3) -> str:
    """`a, b, c and 4 more`."""
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more


@contextlib.contextmanager
def quiet() -> Generator[None]:
    """Keep a library's warnings and dumps off the terminal; what matters of them is in the exception it raises."""
    disabled = logging.root.manager.disable
    logging.disable(logging.ERROR)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled)
