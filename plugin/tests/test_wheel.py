"""The wheel: what another project installs carries all that `touchstone run` needs."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    subprocess.run([*command, str(ROOT)], check=True, capture_output=True, timeout=120)
    return next(folder.glob("*.whl"))


def test_the_wheel_holds_one_import_package_and_the_layout(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    tops = {name.split("/")[0] for name in names if not name.split("/")[0].endswith(".dist-info")}
    assert tops == {"pytest_touchstone"}
    shipped = {
        "py.typed",
        "report/report.schema.json",
        "report/page/page.css",
        "report/page/cases.js",
        "report/page/vendor/plot.min.js",
        "report/page/vendor/plot.LICENSE.txt",
        "layout/tests/test_retrieval.py",
        "layout/evaluation/prompts/baseline_answer.md",
        "layout/evaluation/settings.yaml",
        "layout/evaluation/demo/audit/vectors.npz",
    }
    assert {f"pytest_touchstone/{name}" for name in shipped} <= names
    assert not any("__pycache__" in name or name.endswith(".sqlite") for name in names)


def test_an_unpacked_wheel_evaluates_a_project_of_its_own(wheel: Path, tmp_path: Path) -> None:
    unpacked, project = tmp_path / "site", tmp_path / "project"
    zipfile.ZipFile(wheel).extractall(unpacked)
    (project / "evaluation").mkdir(parents=True)
    (project / "app.py").write_text(
        "from pathlib import Path\n"
        "import pytest_touchstone\n"
        "Path('where').write_text(pytest_touchstone.__file__)\n"
        "def ask(messages, session):\n"
        "    return {'text': 'Yes.', 'passages': [{'id': 'c1', 'text': 'Yes.'}], 'usage': []}\n"
    )
    (project / "evaluation/gold.jsonl").write_text(
        '{"id": "q1", "type": "factual", "question": "Is it?", "answer": "Yes.",'
        ' "gold_chunks": ["c1"]}\n'
    )
    (project / "evaluation/settings.yaml").write_text(
        "dataset: gold.jsonl\nsystem: mine\nbaseline: none\nsystems: {mine: {ask: 'app:ask'}}\n"
    )
    environment = os.environ | {"PYTHONPATH": str(unpacked), "COLUMNS": "100"}
    ended = subprocess.run(
        [sys.executable, "-m", "pytest_touchstone.shell.cli", "run"],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "Recall@5" in ended.stdout
    assert "test_retrieval.py" in ended.stdout
    assert "warning" not in ended.stdout
    assert (project / "where").read_text() == str(unpacked / "pytest_touchstone/__init__.py")
    assert len(list((project / "reports").glob("*.json"))) == 1
