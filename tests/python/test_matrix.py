"""Model.apply_chat_template and Model.count beside transformers: all collected templates times the
conversations of the template engine's own suite (conversations.py), in each form that a caller may
ask for, with the real tokenizers in rotation.

A template's conversations are dealt out to the tokenizers in an order that TD_TEST_SEED shuffles,
so that every pair has its own. The default takes one hand of each template; TD_TEST_SCALE=13 all."""
import copy
import datetime
import os
import random

import pytest

import reference_clock
from conversations import conversations
from sameness import attempt, same

tokdrain = pytest.importorskip("tokdrain", reason="the Python package is not built")
SCALE = float(os.environ.get("TD_TEST_SCALE", "1"))
SEED = int(os.environ.get("TD_TEST_SEED", "7"))
MODELS = ["default", "claude", "deepseek_v3", "deepseek_v4", "gemini", "gemma3", "gpt35turbo",
          "gpt4o", "gptoss", "llama2", "llama3", "llama3_1", "qwen3"]
NOW = datetime.datetime(2026, 3, 4, 5, 6, 7)
FORMS = ({"tokenize": False}, {}, {"return_dict": False}, {"return_assistant_tokens_mask": True})


def hands(place, cases):
    """(round, conversations) of the template at this place: round r is dealt to a model."""
    order = random.Random(SEED * 1000 + place).sample(cases, len(cases))
    for r in range(min(len(MODELS), max(1, round(SCALE)))):
        hand = order[r::len(MODELS)]
        yield r, hand if SCALE >= 1 else hand[:max(1, round(len(hand) * SCALE))]


def compare(model, tokenizer, template, request, arguments):
    """Whether transformers renders it; raises AssertionError where the two differ."""
    messages = request["messages"]
    ids = None
    for form in FORMS:
        given = {**arguments, **form, "chat_template": template}
        want = attempt(lambda: tokenizer.apply_chat_template(copy.deepcopy(messages),
                                                             **copy.deepcopy(given)))
        same(attempt(lambda: model.apply_chat_template(messages, **given)), want)
        if form == {"return_dict": False} and not isinstance(want, Exception):
            ids = want
    given = {"add_generation_prompt": False, **arguments, "chat_template": template}
    if ids is not None:
        assert model.count(messages, **given) == len(ids)
    return ids is not None


@pytest.mark.parametrize("name", MODELS)
def test_matrix(name, load, template_dir, monkeypatch, record_property):
    model, tokenizer = load(name)
    model = model.with_options(now=NOW)
    reference_clock.fix(monkeypatch, NOW)
    cases = list(conversations())
    paths = sorted(template_dir.glob("*.jinja"))
    assert len(paths) > 300 and len(cases) > 150
    bad, pairs, rendered = [], 0, 0
    for place, path in enumerate(paths):
        chosen = [c for r, hand in hands(place, cases) for c in hand
                  if MODELS[(place + r) % len(MODELS)] == name]
        template = path.read_bytes().decode()
        for number, (title, request) in enumerate(chosen):
            arguments = {k: v for k, v in request.items() if k != "messages"}
            if number % 2 and "continue_final_message" not in arguments:
                arguments.setdefault("add_generation_prompt", True)
            pairs += 1
            try:
                rendered += compare(model, tokenizer, template, request, arguments)
            except AssertionError as error:
                bad.append(f"{path.name}, {title}: {str(error)[:500]}")
    record_property("pairs", pairs)
    record_property("rendered", rendered)
    assert not bad, f"{len(bad)} of {pairs} pairs differ:\n" + "\n".join(bad[:10])
    assert pairs and rendered > pairs / 3
