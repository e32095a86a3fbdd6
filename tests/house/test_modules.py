"""Test and tool modules have names of their own: they share one module path when pytest runs."""
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_module_names_are_unique():
    names = Counter(p.name for folder in ("tests", "tools", "bench")
                    for p in (ROOT / folder).rglob("*.py") if p.name != "conftest.py")
    assert [name for name, count in names.items() if count > 1] == []
