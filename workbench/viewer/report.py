"""report.html: one self-contained page made only from a trace's files."""

import html
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from workbench.core.errors import UsageError
from workbench.core.trace import Trace
from workbench.core.trace.layout import write_atomic
from workbench.metrics import dialects

_SHOWN_LINES = 400

_STYLE = """
:root{color-scheme:light dark;--line:#8884;--soft:#8882}
body{font:15px/1.5 system-ui,sans-serif;max-width:76rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.25rem .6rem;border-bottom:1px solid var(--line)}
pre{overflow:auto;max-height:36rem;padding:.8rem;background:var(--soft)}
details{margin:.4rem 0;border:1px solid var(--line);border-radius:6px;padding:.4rem .8rem}summary{cursor:pointer}
.done{color:#1a7f37}.failed{color:#cf222e}.skipped{color:#9a6700}.planned,.running{opacity:.7}
"""


def write_report(trace: Trace) -> Path:
    """Write report.html into the trace and return its path."""
    path = trace.root / "report.html"
    write_atomic(path, page(trace).encode())
    return path


def page(trace: Trace) -> str:
    """The page as text. Everything taken from the trace is escaped."""
    m = trace.manifest
    title = f"{m.get('model', '?')} via {m.get('route', '?')}"
    head = f"<meta charset=utf-8><title>{_e(title)}</title><meta name=viewport content='width=device-width'>"
    parts = [
        f"<h1>{_e(title)}</h1>",
        f"<p>{_e(trace.root.name)} · level {_e(m.get('level', ''))} · "
        f"status <b class='{_e(m['status'])}'>{_e(m['status'])}</b></p>",
        *(f"<p class=failed>{_e(p)}</p>" for p in trace.problems),
        *_failure(m),
        *_verdicts(m),
        "<h2>Stages</h2>",
        _stage_table(trace),
        "<h2>Passes</h2>",
        _pass_table(trace),
        "<h2>Every form</h2>",
        *(_form(trace, s) for s in trace.stages),
    ]
    return f"<!doctype html><html lang=en>{head}<style>{_STYLE}</style><body>{''.join(parts)}</body></html>\n"


def _e(value: object) -> str:
    return html.escape(str(value), quote=True)


def _failure(manifest: dict[str, Any]) -> Iterable[str]:
    error = manifest.get("error")
    if error:
        said = f"{error['kind']}: {error['message']} (exit code {error['exit_code']})"
        yield f"<p class=failed>{_e(said)}</p>"


def _verdicts(manifest: dict[str, Any]) -> Iterable[str]:
    if not manifest["verdicts"]:
        return
    rows = [
        (
            v["stage"],
            o["output"],
            "right" if o["ok"] else o["reason"],
            "infinite" if o["error"] is None else f"{o['error']:.2e}",
            f"{o['tolerance']:.0e}",
        )
        for v in manifest["verdicts"]
        for o in v["outputs"]
    ]
    yield "<h2>Numbers against the float64 reference</h2>"
    yield _table(("executed", "output", "verdict", "error", "limit"), rows)


def _stage_table(trace: Trace) -> str:
    rows = [
        (
            s["index"],
            s["name"],
            s["kind"],
            s["status"],
            "" if s.get("seconds") is None else f"{s['seconds'] * 1e3:.1f} ms",
            s.get("lines", ""),
            s.get("reason") or ", ".join(f"{d} {n}" for d, n in list(dialects(s.get("ops") or {}).items())[:6]),
        )
        for s in trace.stages
    ]
    return _table(("", "stage", "makes", "status", "time", "lines", "operations by dialect"), rows)


def _pass_table(trace: Trace) -> str:
    rows = [
        (
            p["seq"],
            p["stage_name"],
            p["name"],
            "failed" if p["error"] else "changed" if p["changed"] else "no-op",
            f"{p['seconds'] * 1e3:.1f} ms",
            " ".join(f"{name}{n:+d}" for name, n in p["ops"].items()),
        )
        for p in trace.passes()
    ]
    return _table(("#", "stage", "pass", "", "time", "operations"), rows)


def _form(trace: Trace, stage: dict[str, Any]) -> str:
    if not stage.get("file"):
        return ""
    try:
        shown = trace.text(stage).splitlines(keepends=True)[:_SHOWN_LINES]
    except UsageError as error:
        return f"<p class=failed>{_e(error)}</p>"
    more = max(0, stage.get("lines", 0) - len(shown))
    tail = f"\n… {more} more lines in {stage['file']}" if more else ""
    link = f"<a href='{_e(stage['file'])}'>{_e(stage['file'])}</a>"
    return (
        f"<details><summary><b>{_e(stage['name'])}</b> {link}</summary><pre>{_e(''.join(shown) + tail)}</pre></details>"
    )


def _table(header: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    head = "".join(f"<th>{_e(h)}</th>" for h in header)
    body = "".join("<tr>" + "".join(f"<td>{_e(c)}</td>" for c in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
