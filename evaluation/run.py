"""``python -m evaluation.run --dataset D --output R``: the same as ``touchstone run``."""

import sys

from pytest_touchstone.shell.cli import main

if __name__ == "__main__":
    sys.exit(main(["run", *sys.argv[1:]]))
