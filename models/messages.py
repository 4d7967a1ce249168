"""Other people's errors, short enough to quote in a line of ours."""


def one_line(error: BaseException) -> str:
    """`Type: first line` of an exception."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def listed(names: list[str], limit: int = 3) -> str:
    """`a, b, c and 4 more`."""
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more
