"""What is to be reproduced, as a report: a bundle holds the rows of one."""

from __future__ import annotations

import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

from pytest_touchstone.annotations import Annotations
from pytest_touchstone.bundling.file import BundleError, read_bundle
from pytest_touchstone.bundling.replay import Replay, settings_from
from pytest_touchstone.report.model import Report
from pytest_touchstone.run import report_again
from pytest_touchstone.store.bundles import fill
from pytest_touchstone.store.engine import Store


def is_bundle(path: Path) -> bool:
    """Whether a file is to be read as a bundle."""
    return path.suffix == ".zip" or zipfile.is_zipfile(path)


def bundled_report(path: Path) -> Report:
    """The report that a bundle was made from, with the results that the bundle names.

    :raises BundleError, StoreError, SettingsError: where it holds none.
    """
    bundle = read_bundle(path)
    run_id = Replay(bundle, path).run_id
    with TemporaryDirectory(prefix="touchstone-bundle-") as folder:
        url = f"sqlite:///{Path(folder) / 'store.sqlite'}"
        store = Store(url)
        try:
            fill(store, bundle.tables, read=True)
        finally:
            store.close()
        settings = settings_from(bundle, path, url, Path(folder), {})
        report = report_again(settings, run_id, Annotations(bundle.annotations))
    if report is None:
        raise BundleError(f"{path}: holds no run")
    report["snapshot"]["results_sha256"] = bundle.results_sha256
    return report
