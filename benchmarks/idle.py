"""What the installed plugin costs a project without settings, beside pytest without the plugin.

``python benchmarks/idle.py [PAIRS]``: pairs of ``pytest --collect-only``, with and without the
plugin, in turn, in an empty project.  Prints both medians and the median of the differences.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def main() -> None:
    """Measure and print."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "test_nothing.py").write_text("def test_nothing():\n    pass\n")
        _seconds(folder)  # the first start compiles modules
        with_plugin, without = [], []
        for _ in range(pairs):
            with_plugin.append(_seconds(folder))
            without.append(_seconds(folder, "-p", "no:touchstone"))
    difference = statistics.median(a - b for a, b in zip(with_plugin, without, strict=True))
    print(f"with the plugin    {statistics.median(with_plugin):.3f} s")
    print(f"without            {statistics.median(without):.3f} s")
    print(f"difference         {difference:+.3f} s (median of {pairs} pairs)")


def _seconds(folder: str, *arguments: str) -> float:
    # Modules must be compiled, as they are for everybody else.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", *arguments]
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
