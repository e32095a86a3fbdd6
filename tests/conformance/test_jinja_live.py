"""The template engine against the reference: all real templates times many conversations, and
every construct alone. TD_TEST_SCALE below 1 takes fewer pairs."""
import os
import random
import re

import conversations
import jinja_live as live
import jinja_snippets
import pytest
from jinja_live import fixed_moment  # noqa: F401 - used by every test

SCALE = float(os.environ.get("TD_TEST_SCALE", "1"))
ADDRESS = re.compile(r"at 0x[0-9a-f]+")
# What prints a Python object by its type and address; nobody can depend on it.
PRINTS_OBJECT = ("{{ d.items }}|",)

pytestmark = pytest.mark.skipif(not live.TOOL.exists(), reason=f"{live.TOOL} is not built")


@pytest.fixture(scope="module")
def engine():
    with live.engine() as e:
        yield e


def requests():
    for name, request in conversations.conversations():
        request = {"bos_token": "<s>", "eos_token": "</s>", "add_generation_prompt": True, **request}
        request.pop("continue_final_message", None)  # handled before and after the template
        yield name, live.shaped(request)


def test_templates(engine, template_dir):
    """Text for text, error for error, over every collected template."""
    cases = list(requests())
    assert len(cases) >= 150
    paths = sorted(template_dir.glob("*.jinja"))
    assert len(paths) > 300
    chosen = random.Random(7)
    bad, pairs, rendered = [], 0, 0
    for path in paths:
        source = path.read_bytes().decode()
        template, error = live.reference_compile(source)
        answer = engine.ask(template=source, vars={})
        if template is None:
            assert live.difference(answer, None, error) is None, path.name
            continue
        for name, variables in cases if SCALE >= 1 else chosen.sample(cases, max(1, int(len(cases) * SCALE))):
            text, error = live.reference_render(template, variables)
            answer = engine.ask(vars=variables)
            pairs += 1
            rendered += error is None
            difference = live.difference(answer, text, error)
            if difference is not None:
                bad.append(f"{path.name}, {name}: {difference[:500]}")
    assert not bad, f"{len(bad)} of {pairs} pairs differ:\n" + "\n".join(bad[:10])
    assert rendered > pairs / 2


def test_snippets(engine):
    bad, count = [], 0
    for source in jinja_snippets.snippets():
        template, error = live.reference_compile(source)
        text, error = (None, error) if template is None else live.reference_render(template, jinja_snippets.VARIABLES)
        answer = engine.ask(template=source, vars=jinja_snippets.VARIABLES)
        count += 1
        if text is not None and ADDRESS.search(text) or any(part in source for part in PRINTS_OBJECT):
            assert "ok" in answer, source
            continue
        difference = live.difference(answer, text, error)
        if difference is not None:
            bad.append(f"{source!r}: {difference[:500]}")
    assert count > 2000
    assert not bad, f"{len(bad)} of {count} snippets differ:\n" + "\n".join(bad[:20])


def test_generation_spans(engine):
    """Offsets of generation blocks in code points as the reference counts them, and the same places
    in bytes."""
    checked = 0
    for source in jinja_snippets.snippets():
        if "generation" not in source:
            continue
        template, error = live.reference_compile(source)
        assert error is None, source
        try:
            text, spans = live.reference._render_with_assistant_indices(
                template, messages=[], tools=None, documents=None, add_generation_prompt=False, **jinja_snippets.VARIABLES)
        except Exception as e:  # noqa: BLE001
            text, spans, error = None, None, e
        answer = engine.ask(template=source, vars={**jinja_snippets.VARIABLES, "messages": [], "tools": None, "documents": None, "add_generation_prompt": False}, spans=True)
        assert live.difference(answer, text, error) is None, source
        if error is not None:
            continue
        assert [tuple(s[2:]) for s in answer["spans"]] == spans, source
        for start, end, first, last in answer["spans"]:
            encoded = text.encode()
            assert encoded[start:end].decode() == text[first:last], source
        checked += 1
    assert checked >= 6
