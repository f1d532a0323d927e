"""The house rules that a machine can keep: the direction of imports, the size of files, and what an import costs."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("agent", "traces", "pages")
SOURCES = [path for name in PACKAGES for path in sorted((ROOT / name).rglob("*.py"))] + [ROOT / "app.py"]
IDS = [str(path.relative_to(ROOT)) for path in SOURCES]
MAX_LINES = 400


def imports_of(path: Path) -> Iterator[str]:
    """Dotted names of everything that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)


def package_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0]


FORBIDDEN = {
    "agent": {"streamlit", "pandas", "plotly", "traces", "pages"},
    "traces": {"streamlit", "pages"},
    "pages": set(),
    "app.py": {"agent", "traces", "pandas", "plotly"},
}


@pytest.mark.parametrize("path", SOURCES, ids=IDS)
def test_imports_go_from_pages_over_traces_to_agent_and_never_back(path: Path) -> None:
    roots = {name.split(".")[0] for name in imports_of(path)}
    assert not roots & FORBIDDEN[package_of(path)]


MAY_IMPORT_YAML = {f"agent/scripts/{name}.py" for name in ("yaml_source", "source")}  # the latter for types alone
MAY_IMPORT_PYDANTIC = {
    "agent/signature.py",
    *(f"agent/scripts/{name}.py" for name in ("strict", "when_fields", "turn_fields", "fields", "problems")),
    *(f"traces/experiments/design/{name}.py" for name in ("strict", "condition_fields", "fields")),
    "traces/lessons/fields.py",
}


@pytest.mark.parametrize("path", SOURCES, ids=IDS)
def test_heavy_packages_are_imported_in_one_place(path: Path) -> None:
    names = list(imports_of(path))
    place = path.relative_to(ROOT).as_posix()
    if not place.startswith("traces/figures/"):
        assert not any(name.split(".")[0] == "plotly" for name in names)
    if not place.startswith("agent/models/"):
        assert not any(name.split(".")[0] == "openai" for name in names)
    if place not in MAY_IMPORT_YAML:
        assert not any(name.split(".")[0] == "yaml" for name in names)
    if place not in MAY_IMPORT_PYDANTIC:
        assert not any(name.split(".")[0] in ("pydantic", "pydantic_core") for name in names)
    assert not any(name.startswith("plotly.express") for name in names)


def test_no_reader_imports_another_reader() -> None:
    folder = ROOT / "traces" / "readers"
    readers = {path.stem for path in folder.glob("*.py") if "\ndef matches(" in path.read_text(encoding="utf-8")}
    assert "native" in readers
    for path in folder.glob("*.py"):
        used = {name.removeprefix("traces.readers.").split(".")[0] for name in imports_of(path) if "readers." in name}
        assert path.stem == "__init__" or not used & readers, path


def test_pages_do_not_import_each_other() -> None:
    for path in (ROOT / "pages").glob("*.py"):
        for name in imports_of(path):
            assert not name.startswith("pages.") or name.startswith("pages.parts"), f"{path.name}: {name}"


@pytest.mark.parametrize("path", SOURCES, ids=IDS)
def test_files_stay_small(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_LINES


def test_importing_agent_loads_nothing_heavy() -> None:
    heavy = "openai, pandas, plotly, streamlit, pydantic, yaml, jsonschema_rs, numpy"
    code = f"import sys, agent; print([m for m in '{heavy}'.split(', ') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_json_script_is_read_without_the_library_for_yaml_and_none_needs_that_for_models() -> None:
    code = "import sys; from agent.scripts import parse_script; parse_script('[\"hello\"]', 'x.json')"
    code += "; print([m for m in ('yaml', 'openai', 'pandas') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_type_checker_sees_the_same_public_names() -> None:
    import agent

    tree = ast.parse((ROOT / "agent" / "__init__.py").read_text(encoding="utf-8"))
    checked = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        (node.module, name.name) for node in checked.body if isinstance(node, ast.ImportFrom) for name in node.names
    }
    assert seen == {(f"agent.{module}", name) for module, names in agent._WHERE.items() for name in names}


def test_every_public_name_can_be_imported() -> None:
    code = "import agent; print([n for n in agent.__all__ if getattr(agent, n, None) is None], len(dir(agent)) > 20)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] True"
