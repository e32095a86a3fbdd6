"""Parts of the benches that can be wrong without anybody seeing it."""
import sys
import xml.etree.ElementTree as tree
from pathlib import Path

import pytest

import make_workload
import pending

sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))
import common  # noqa: E402
import live_run  # noqa: E402
import plot  # noqa: E402

pytestmark = pytest.mark.once
SVG = "{http://www.w3.org/2000/svg}"


def test_chart():
    lines = {"a < b": [(16, 0.1), (1024, 3)], "none": [(16, 0), (128, 0), (1024, 0)]}
    root = tree.fromstring(plot.chart("title", "x", "y", lines))
    points = [(float(c.get("cx")), float(c.get("cy"))) for c in root.iter(SVG + "circle")]
    assert len(points) == 5 and len(list(root.iter(SVG + "polyline"))) == 2
    low, high = points[:2]
    assert low[0] < high[0] and low[1] > high[1]  # y grows downwards
    assert points[2][0] == low[0] and points[4] == (high[0], points[2][1])
    texts = [t.text for t in root.iter(SVG + "text")]
    assert {"title", "x", "y", "a < b", "none", "16", "1.024k"} <= set(texts)


def test_live_run(program):
    chosen = list(make_workload.trajectories(limit=3))
    events = pending.issue_order(2, chosen=chosen)
    run = live_run.Run([program, "count"], live_run.Lines(chosen), events, 0.5).collect()
    assert run["issued"] == sum(len(t["cuts"]) for t in chosen)
    assert (run["final_pending"], run["failed"], run["fallbacks"]) == (0, 0, 0)
    assert 0 < run["completed"] < run["issued"] and run["pending_at_drain"] <= run["most_pending"]


def test_python_with_peers(tmp_path, monkeypatch):
    """A folder or what cannot be run is refused with a text, not with a traceback."""
    monkeypatch.delenv("TD_PEERS", raising=False)
    assert common.python_with_peers(None, tmp_path) == str(tmp_path / "bench/peers/bin/python")
    assert common.python_with_peers(sys.executable, tmp_path) == sys.executable
    with pytest.raises(SystemExit, match="is a folder: TD_PEERS must name a Python program"):
        common.python_with_peers(str(tmp_path), tmp_path)
    monkeypatch.setenv("TD_PEERS", str(tmp_path / "nope"))
    with pytest.raises(SystemExit, match="is no program that can be run"):
        common.python_with_peers(None, tmp_path)
