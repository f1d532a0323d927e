"""One zip to hand to someone else: a trace or some of its steps, what is wrong with it, and what it was read with.

The same trace gives the same bytes: files in a fixed order, without times.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Collection, Iterable
from typing import Any

from agent import jsontext
from agent.redact import redact
from agent.trace import SCHEMA, Trace
from traces.export import Exported, file_name, markdown, native
from traces.export.facts import facts
from traces.redacting import Removed, removed_between, without_secrets
from traces.report import ImportReport
from traces.selecting import select_steps
from traces.versions import versions

SUFFIX = ".bundle.zip"
MIME = "application/zip"

_PACKAGES = ("streamlit", "openai", "pandas", "plotly", "pydantic", "orjson")
_EPOCH = (1980, 1, 1, 0, 0, 0)
_README = """\
A trace of an agent, packed by Agent Loop Lab.

trace.json          the messages, steps, tools and numbers: the native format {schema}, plain JSON
transcript.md       the same to read
findings.json       what the linter says about it: what, where, why it matters, how to mend it
import-report.json  what was read of the original file, what was repaired and what was left out
removed.json        which secrets were taken out, and where they stood; never the secrets themselves
versions.json       the programs that made this bundle

Positions of messages count from 0 in findings.json, as in trace.json, and from 1 in everything else.

To open it: python -m traces summary trace.json, or drop trace.json on the Traces page.
"""


def bundle(
    trace: Trace,
    report: ImportReport | None = None,
    *,
    steps: Collection[int] | None = None,
    secrets: Iterable[str] = (),
) -> Exported:
    """Pack a trace, without its secrets, with everything that someone else needs to look into it.

    Args:
        trace: never changed.
        report: of the file that it was read from.
        steps: numbers of the steps to pack, from 1; None: all.
        secrets: exact values that must not leave, such as the key in use.

    Raises:
        InputError: the trace has none of the steps.
    """
    from traces.lint import lint

    secrets = tuple(secrets)
    clean, removed = without_secrets(trace if steps is None else select_steps(trace, steps), secrets)
    findings = _without_secrets([finding.to_dict() for finding in lint(clean)], "findings", secrets, removed)
    about = _without_secrets(_import_report(report), "import-report", secrets, removed)
    texts = {
        "README.txt": (_README.format(schema=SCHEMA) + "\n" + _facts(clean)).encode(),
        "findings.json": _json(findings),
        "import-report.json": _json(about),
        "removed.json": _json([item.to_dict() for item in removed]),
        "trace.json": native.write(clean),
        "transcript.md": markdown.write(clean),
        "versions.json": _json({"trace format": SCHEMA, **versions(_PACKAGES)}),
    }
    return Exported(_zipped(texts), file_name(clean, SUFFIX), MIME, removed)


def _without_secrets(value: Any, name: str, secrets: tuple[str, ...], removed: list[Removed]) -> Any:
    clean = redact(value, secrets)
    removed += [
        Removed(None, f"{name}: {item.where}", item.kind, item.length) for item in removed_between(value, clean)
    ]
    return clean


def _import_report(report: ImportReport | None) -> dict[str, Any] | None:
    """What reading gave. Of the file's name only its last part: folders are nobody's business."""
    if report is None:
        return None
    return {
        "file": report.file.replace("\\", "/").rpartition("/")[2],
        "format": report.format,
        "container": report.container,
        "conversations": len(report.traces),
        "bad_lines": [line.to_dict() for line in report.bad_lines],
        "unread": report.unread,
        "repaired": report.repaired,
        "warnings": report.warnings,
    }


def _facts(trace: Trace) -> str:
    lines = [f"{name}: {' '.join(value.split())}" for name, value in facts(trace)]
    return jsontext.clean("\n".join(lines)) + "\n"


def _json(value: Any) -> bytes:
    return jsontext.dumps(value, indent=True).encode() + b"\n"


def _zipped(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(files.items()):
            info = zipfile.ZipInfo(name, _EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o600 << 16
            archive.writestr(info, data)
    return made.getvalue()
