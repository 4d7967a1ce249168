"""Where things lie in a trace, and how blobs and constants are shared."""

import contextlib
import gzip
import hashlib
import io
import json
import os
import secrets
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.arrays import numpy_dtype

FORMAT = "workbench-trace"
VERSION = "1.0"
"""Major.minor. Readers accept any minor of their major and ignore fields they do not know."""

MANIFEST = "manifest.json"
EVENTS = "events.ndjson"
_SHARED_CONSTANTS = ".consts"


def write_atomic(path: Path, data: bytes) -> None:
    """Write `data` so that a reader sees the old file or the new one, never half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        fresh.write_bytes(data)
        fresh.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            fresh.unlink()
        raise


def write_json(path: Path, data: Any) -> None:
    """Write JSON atomically, indented, keys in the given order."""
    write_atomic(path, (json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode())


LARGE_STAGE = 256 * 1024
"""Bytes of stage text above which the file in stages/ is gzip-compressed."""


def write_stage(root: Path, file: str, text: str) -> str:
    """Write a stage's text at `file`, or compressed at `<file>.gz` when it is large; returns the path written."""
    data = text.encode()
    if len(data) <= LARGE_STAGE:
        write_atomic(root / file, data)
        return file
    write_atomic(root / f"{file}.gz", gzip.compress(data, compresslevel=4, mtime=0))
    return f"{file}.gz"


def read_stage(root: Path, file: str) -> str:
    """Text of a stage. Where `<name>.gz` was written, an uncompressed `<name>` beside it (an edited copy) comes first.

    Raises OSError, EOFError or UnicodeDecodeError when it is missing or damaged.
    """
    plain = root / file.removesuffix(".gz")
    if plain.exists():
        return plain.read_bytes().decode()
    return gzip.decompress((root / file).read_bytes()).decode()


def blob_path(root: Path, digest: str) -> Path:
    """Path of the blob whose uncompressed content has this SHA-256."""
    return root / "blobs" / "sha256" / digest[:2] / f"{digest}.gz"


def put_blob(root: Path, text: str) -> str:
    """Store text once, gzip-compressed, under the SHA-256 of its UTF-8 bytes; returns that digest."""
    data = text.encode()
    digest = hashlib.sha256(data).hexdigest()
    path = blob_path(root, digest)
    if not path.exists():
        write_atomic(path, gzip.compress(data, compresslevel=2, mtime=0))
    return digest


def get_blob(root: Path, digest: str) -> str:
    """Text stored under `digest`. Raises FileNotFoundError, OSError or UnicodeDecodeError when missing or damaged."""
    return gzip.decompress(blob_path(root, digest).read_bytes()).decode()


def put_constant(store: Path, array: "np.ndarray[Any, Any]") -> str:
    """Store a weight as `<store>/<sha256>.npy` and return the digest (over dtype, shape and bytes).

    Runs under one root share the bytes: the file is a hard link into `<root>/.consts` where the file system allows.
    dtypes numpy cannot name (bfloat16, float8) are stored as the unsigned integer of their width.
    """
    array = np.ascontiguousarray(array)
    if array.dtype.kind == "V" or array.dtype.name.startswith(("bfloat", "float8")):
        array = array.view(f"u{array.dtype.itemsize}")
    header = f"{array.dtype.str}{array.shape}".encode()
    digest = hashlib.sha256(header + array.tobytes()).hexdigest()
    path = store / f"{digest}.npy"
    if path.exists():
        return digest
    store.mkdir(parents=True, exist_ok=True)
    shared = store.parent.parent / _SHARED_CONSTANTS / path.name
    if not shared.exists():
        buffer = io.BytesIO()
        np.save(buffer, array, allow_pickle=False)
        write_atomic(shared, buffer.getvalue())
    try:
        os.link(shared, path)
    except OSError:
        shutil.copyfile(shared, path)
    return digest


def get_constant(store: Path, digest: str, dtype: str) -> "np.ndarray[Any, Any]":
    """Read a weight back. `dtype` is the tensor's own ("bfloat16" is returned as ml_dtypes.bfloat16)."""
    array = np.load(store / f"{digest}.npy", allow_pickle=False, mmap_mode="r")
    return np.asarray(array if array.dtype.name == dtype else array.view(numpy_dtype(dtype)))
