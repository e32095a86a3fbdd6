"""Rendered texts, ids and counts beside transformers: real templates and tokenizers, many
conversations, and the sample workload's backlog."""
import copy
import datetime
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "conformance")]
import pending  # noqa: E402
import reference_clock  # noqa: E402
from conversations import conversations  # noqa: E402

# template of the shared material -> real tokenizer that it is tried with
FAMILIES = {
    "qwen3-qwen3-trl": "qwen3",
    "qwen3.5-qwen3_5_think-trl": "qwen3",
    "qwen3.6-qwen3_6-trl": "qwen3",
    "llama3-llama3_1-trl": "llama3_1",
    "gptoss-gptoss-trl": "gptoss",
}
NOW = datetime.datetime(2026, 3, 4, 5, 6, 7)  # what strftime_now sees on both sides
OWN_KEYS = ("messages", "tools", "documents", "add_generation_prompt")


@pytest.fixture(autouse=True)
def fixed_moment(monkeypatch):
    reference_clock.fix(monkeypatch, NOW)


def split(request):
    """(arguments of apply_chat_template, the same as a request line)."""
    own = {k: request[k] for k in OWN_KEYS if k in request}
    keywords = {k: v for k, v in request.items() if k not in OWN_KEYS}
    arguments = {"add_generation_prompt": True, **own, **keywords}
    line = {**own, "chat_template_kwargs": keywords} if keywords else own
    return arguments, line


ODD = [
    {"messages": [{"role": "user", "content": ""}]},
    {"messages": [{"role": "user", "content": "<|im_start|>system\nx<|im_end|><|eot_id|><|end|>"}]},
    {"messages": [{"role": "user", "content": [{"type": "text", "text": "part one"},
                                               {"type": "text", "text": "part two"}]}]},
    {"messages": [{"role": "system", "content": ""}, {"role": "user", "content": " \n\t"}]},
    {"messages": [{"role": "user", "content": "e\u0301\u200d🙂 \u00a0\ufeff\u2028"}]},
    {"messages": [{"role": "user", "content": None}, {"role": "assistant", "content": None}]},
    {"messages": [{"role": "user", "content": 3}]},
    {"messages": [{"content": "no role"}]},
    {"messages": [{"role": "user", "content": "x"}], "tools": []},
]


def call(program, command, options, lines):
    done = subprocess.run([program, command, *options], capture_output=True, check=False,
                          input="".join(json.dumps(x) + "\n" for x in lines).encode())
    assert done.returncode in (0, 1), done.stderr.decode()
    return [json.loads(x) for x in done.stdout.split(b"\n")[:-1]]


def render(tokenizer, arguments):
    arguments = copy.deepcopy(arguments)
    messages = arguments.pop("messages")
    try:
        return tokenizer.apply_chat_template(messages, tokenize=False, **arguments)
    except Exception as e:  # noqa: BLE001 - an error must be an error here, too
        return e


def compare(program, options, tokenizer, named, template=None):
    pairs = [(name, *split(request)) for name, request in named]
    lines = [line for _, _, line in pairs]
    options = [*options, "--now", NOW.isoformat()]
    texts = call(program, "render", options, lines)
    ids = call(program, "encode", options, lines)
    counts = call(program, "count", options, lines)
    good = 0
    for (name, arguments, _), text, id_line, count in zip(pairs, texts, ids, counts, strict=True):
        want = render(tokenizer, {**arguments, **({"chat_template": template} if template else {})})
        if isinstance(want, Exception):
            assert text["text"] is None and count["tokens"] is None, (name, want, text)
            assert id_line["ids"] is None
            continue
        assert text.get("text") == want, (name, text)
        want_ids = tokenizer(want, add_special_tokens=False)["input_ids"]
        assert id_line["ids"] == want_ids, name
        assert count["tokens"] == len(want_ids), name
        good += 1
    return good


@pytest.mark.parametrize("family", FAMILIES)
def test_conversations(family, program, template_dir, model_dir):
    from transformers import AutoTokenizer
    folder = model_dir(FAMILIES[family])
    path = template_dir / f"{family}.jinja"
    if not path.is_file():
        pytest.skip(f"the template {family} is absent")
    named = [*conversations(), *((f"odd_{i}", r) for i, r in enumerate(ODD))]
    assert len(named) >= 60
    good = compare(program, ["-m", folder, "--template", path], AutoTokenizer.from_pretrained(folder),
                   named, path.read_text(encoding="utf-8"))
    assert good >= 60


def test_conversations_with_the_built_in_model(program):
    from transformers import AutoTokenizer
    tokenizer = AutoTokenizer.from_pretrained(ROOT / "assets" / "default")
    named = [*conversations(), *((f"odd_{i}", r) for i, r in enumerate(ODD))]
    assert compare(program, [], tokenizer, named) >= 60


def parsed(messages):
    """Tool-call arguments that spell an object become the object."""
    messages = copy.deepcopy(messages)
    for m in messages:
        for c in m.get("tool_calls") or []:
            try:
                value = json.loads(c["function"]["arguments"])
            except (TypeError, ValueError):
                continue
            if isinstance(value, dict):
                c["function"]["arguments"] = value
    return messages


@pytest.mark.parametrize("part", ["pending", "sample"])
def test_workload_on_the_real_tokenizer(part, program, template_dir, model_dir):
    from transformers import AutoTokenizer
    folder = model_dir("qwen3")
    path = template_dir / "qwen3.6-qwen3_6-trl.jinja"
    template = path.read_text(encoding="utf-8")
    if part == "pending":
        chosen = pending.select_pending(pending.backlog_trajectories())
        assert len(chosen) == 408
    else:
        chosen = list(pending.sample(5))
        assert len(chosen) >= 1000
    lines = [pending.request(t, turn) for t, turn in chosen]
    got = call(program, "count", ["-m", folder, "--template", path, "--parse-arguments"], lines)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    for line, result in zip(lines, got, strict=True):
        want = tokenizer.apply_chat_template(
            parsed(line["messages"]), tools=line["tools"], chat_template=template,
            add_generation_prompt=True, return_dict=False)
        assert result["tokens"] == len(want), line["id"]
