"""Reuse of counted segments changes no count: random edits of conversations, one changed input at
a time, and a memo that is too small. The program recounts every prompt itself (--verify).

The edits of a case follow from its name; TD_TEST_SCALE=8 makes more than 100,000 of them."""
import copy
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "conformance")]
from conversations import SEARCH, WEATHER, conversations  # noqa: E402

SCALE = float(os.environ.get("TD_TEST_SCALE", "1"))
STEPS = max(100, round(1000 * SCALE))
# case -> template, tokenizer, added tokens of its own; None: the built-in model's own
GLM = ["[gMASK]", "<sop>", "<|system|>", "<|user|>", "<|assistant|>", "<|observation|>", "<think>",
       "</think>", "<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>",
       "</arg_value>"]
KIMI = ["<|im_user|>", "<|im_assistant|>", "<|im_system|>", "<|im_middle|>", "[EOS]", "[BOS]",
        "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>", "<|tool_call_begin|>",
        "<|tool_call_argument_begin|>", "<|tool_call_end|>"]
MODELS = {
    "built-in": (None, None, []),
    "qwen3.6-thinking": ("qwen3.6-qwen3_6-trl", "qwen3", []),
    "qwen3-thinking": ("qwen3-qwen3-trl", "qwen3", []),
    "deepseek": ("deepseek-deepseek-ai-DeepSeek-V3.1-llamacpp", "deepseek_v3", []),
    "glm": ("glm-GLM-4.6-llamacpp", "qwen3", GLM),
    "kimi": ("kimi-moonshotai-Kimi-K2-Thinking-hfjs", "gpt4o", KIMI),
    "gpt-oss": ("gptoss-gptoss-trl", "gptoss", []),
    "llama3": ("llama3-llama3_1-trl", "llama3_1", []),
    "vicuna": ("vicuna", "gptoss", []),
    "vicuna-gemma": ("vicuna", "gemma3", []),
    "inst-mistral-7b": ("inst", "llama2", []),  # the package has the vocabulary of Mistral 7B
    "inst-deepseek": ("inst", "deepseek_v3", []),
    "gemma": ("turns", "gemma3", []),
}
# Styles whose real templates refuse most of the edits; the first two have no special tokens.
OWN = {
    "vicuna": "{% for m in messages %}{{ m.role|upper }}: {{ m.content }}\n\n{% endfor %}ASSISTANT: ",
    "inst": "{{ bos_token }}{% for m in messages %}{% if m.role == 'user' %}[INST] {{ m.content }} "
            "[/INST]{% else %} {{ m.content|trim }}{{ eos_token }}{% endif %}{% endfor %}",
    "turns": "{{ bos_token }}{% for m in messages %}<start_of_turn>{{ m.role }}\n"
             "{{ m.content|trim }}<end_of_turn>\n{% endfor %}<start_of_turn>model\n",
}
PIECES = ["Hello", " world", "\n", "\n\n", "  ", "word. Next", "a" * 40, "日本語", "🙂", "e\u0301",
          "<|im_end|>", "<|im_start|>", "<|end|>", "\t", "x = f(1)", "12345", "it's", "\r\n",
          "<start_of_turn>", "<think>", "</think>", "\u00a0", "ﬁ", "don't stop\n- item\n- item"]


def text(r):
    most = 12 if r.random() < 0.9 else 1500
    return "".join(r.choice(PIECES) for _ in range(r.randint(0, most)))


def message(r, role):
    m = {"role": role, "content": text(r)}
    if role == "assistant" and r.random() < 0.4:
        m["reasoning_content"] = text(r)
    return m


def edit(r, request):
    """The next request: one step away from the one before."""
    request = copy.deepcopy(request)
    ms = request["messages"]
    kind = r.random()
    if kind < 0.5 or len(ms) < 2:
        ms.append(message(r, "assistant" if ms[-1]["role"] == "user" else "user"))
    elif kind < 0.65:
        r.choice(ms)["content"] = text(r)
    elif kind < 0.75:
        del ms[r.randrange(len(ms))]
    elif kind < 0.8:
        r.shuffle(ms)
    elif kind < 0.9:
        request["tools"] = r.sample([WEATHER, SEARCH], r.randint(0, 2))
    else:
        request["chat_template_kwargs"] = {"enable_thinking": r.random() < 0.5}
    if len(ms) > 24 or not ms:
        ms[:] = [message(r, "user")]
    return request


def walk(seed, steps):
    r = random.Random(seed)
    request = {"messages": [{"role": "user", "content": "start"}]}
    for _ in range(steps):
        request = edit(r, request)
        yield request


def with_tokens(folder, added, to):
    """The model with more added tokens."""
    if not added:
        return folder
    shutil.copytree(folder, to)
    path = to / "tokenizer.json"
    tokenizer = json.loads(path.read_bytes())
    known = {t["content"]: t for t in tokenizer["added_tokens"]}
    free = 1 + max(t["id"] for t in tokenizer["added_tokens"])
    free = max(free, 1 + max(tokenizer["model"]["vocab"].values()))
    for n, content in enumerate(t for t in added if t not in known):
        tokenizer["added_tokens"].append(
            {"id": free + n, "content": content, "single_word": False, "lstrip": False,
             "rstrip": False, "normalized": False, "special": True})
    path.write_text(json.dumps(tokenizer))
    return to


def options_of(name, template_dir, model_dir, tmp_path):
    template, model, added = MODELS[name]
    if template is None:
        return []
    folder = with_tokens(model_dir(model), added, tmp_path / "model")
    path = template_dir / f"{template}.jinja"
    if template in OWN:
        path = tmp_path / "own.jinja"
        path.write_text(OWN[template])
    return ["-m", folder, "--template", path]


def count(program, options, requests):
    done = subprocess.run([program, "count", *options], capture_output=True, check=False,
                          input="".join(json.dumps(r) + "\n" for r in requests).encode())
    assert done.returncode in (0, 1), done.stderr.decode()
    return [json.loads(line) for line in done.stdout.split(b"\n")[:-1]]


@pytest.mark.parametrize("name", MODELS)
def test_random_edits(name, program, template_dir, model_dir, tmp_path):
    options = options_of(name, template_dir, model_dir, tmp_path)
    requests = list(walk(name, STEPS))
    got = count(program, [*options, "--verify"], requests)
    failed = [r for r in got if r.get("error", {}).get("kind") == "verify"]
    assert not failed, failed[:3]
    counted = [r for r in got if r["tokens"] is not None]
    assert len(counted) > STEPS / 4
    assert sum(r["reused"] for r in counted) > sum(r["tokens"] for r in counted) / 2
    plain = count(program, [*options, "--no-reuse"], requests)
    assert [r["tokens"] for r in got] == [r["tokens"] for r in plain]
    tight = count(program, [*options, "--memory", "16k", "--verify"], requests)
    assert [r["tokens"] for r in tight] == [r["tokens"] for r in plain]


def test_each_input_is_part_of_what_is_counted(program):
    """A first request, then the same with one thing changed, on one memo."""
    base = {"messages": [{"role": "user", "content": "What is it?"}], "tools": [WEATHER],
            "chat_template_kwargs": {"enable_thinking": True, "note": "a"},
            "chat_template": "{{ note }}{{ bos_token }}{{ tools|tojson }}{{ documents|tojson }}"
                             "{{ messages|tojson }}{{ tool_choice }}{{ add_generation_prompt }}"}
    changes = [
        {"messages": [{"role": "user", "content": "What is that thing over there?"}]},
        {"messages": [{"role": "a role", "content": "What is it?"}]},
        {"tools": [SEARCH]}, {"tools": []}, {"tools": None}, {"documents": [{"title": "t"}]},
        {"tool_choice": "required"}, {"add_generation_prompt": False},
        {"chat_template_kwargs": {"note": "b c d e f g h"}},
        {"chat_template": base["chat_template"] + " and more"},
    ]
    requests = [base, *({**base, **c} for c in changes), base]
    together = count(program, ["-j1", "--verify"], requests)
    alone = [count(program, ["--no-reuse"], [r])[0]["tokens"] for r in requests]
    assert [r["tokens"] for r in together] == alone and None not in alone


def test_conversations_one_after_the_other(program):
    requests = [{"messages": r["messages"], "tools": r.get("tools")} for _, r in conversations()]
    twice = count(program, ["-j1", "--verify"], requests * 2)
    assert not [r for r in twice if r.get("error", {}).get("kind") == "verify"]
    half = len(requests)
    assert [r["tokens"] for r in twice[:half]] == [r["tokens"] for r in twice[half:]]
