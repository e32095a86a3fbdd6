"""Random programs on both sides: equal text, or an error on both. TD_RANDOM_PROGRAMS says how many,
TD_RANDOM_SEED from which seed on; a failure names the seeds, which make the programs again."""
import os
import re

import jinja_live as live
import jinja_random
import pytest
from jinja_live import fixed_moment  # noqa: F401 - used by every test

COUNT = int(os.environ.get("TD_RANDOM_PROGRAMS", "1500"))
FIRST = int(os.environ.get("TD_RANDOM_SEED", "1"))
# Python objects print with their address, which nobody can depend on.
ADDRESS = re.compile(r"0x[0-9a-f]+", re.IGNORECASE)

pytestmark = pytest.mark.skipif(not live.TOOL.exists(), reason=f"{live.TOOL} is not built")


def compare(engine, seed):
    """(difference or None, whether the reference gave a text)."""
    source, variables = jinja_random.program(seed)
    template, error = live.reference_compile(source)
    text = None
    if template is not None:
        text, error = live.reference_render(template, variables)
    answer = engine.ask(template=source, vars=variables)
    if text is not None and ADDRESS.search(text):
        return (None if "ok" in answer else f"engine fails: {answer}"), True
    return live.difference(answer, text, error), error is None


def test_random_programs():
    bad, texts = [], 0
    with live.engine() as engine:
        for seed in range(FIRST, FIRST + COUNT):
            difference, is_text = compare(engine, seed)
            texts += is_text
            if difference is not None:
                bad.append(f"seed {seed}: {difference[:300]}")
    assert not bad, f"{len(bad)} of {COUNT} programs differ:\n" + "\n".join(bad[:20])
    assert texts > COUNT / 5, f"only {texts} of {COUNT} programs give a text"
