"""The built-in model's files: reproducible, loadable by the reference, and as the template says."""
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
from pending import request  # noqa: E402
from make_workload import trajectories  # noqa: E402

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def reference(root):
    from transformers import AutoTokenizer
    return AutoTokenizer.from_pretrained(root / "assets" / "default")


@pytest.mark.parametrize("name", ["tokenizer.json", "tokenizer_config.json"])
def test_training_reproduces(root, retrained, name):
    assert (retrained / name).read_bytes() == (root / "assets" / "default" / name).read_bytes()


@pytest.fixture(scope="module")
def retrained(root, tmp_path_factory):
    out = tmp_path_factory.mktemp("default")
    subprocess.run([sys.executable, root / "tools" / "train_default_model.py", "--out", out],
                   check=True)
    return out


def test_vocabulary(reference):
    assert len(reference) == 4096
    assert reference.eos_token == "<|im_end|>"
    assert reference.all_special_ids == [4089, 4087]


def test_every_byte_survives(reference):
    text = "".join(map(chr, [*range(0x20, 0x250), 0x416, 0x4e2d, 0x1f642, 0xa, 0x9, 0x301]))
    ids = reference(text, add_special_tokens=False)["input_ids"]
    assert reference.decode(ids) == text


def test_prompt_of_each_turn_begins_with_the_turn_before(reference):
    t = next(trajectories(limit=1))
    before = ""
    for turn in range(len(t["cuts"])):
        r = request(t, turn)
        text = reference.apply_chat_template(r["messages"], tools=r["tools"], tokenize=False)
        assert text.startswith(before)
        before = text
    assert "<think>" in before and "<tool_call>" in before and "<tool_response>" in before


CALL = {"function": {"name": "f", "arguments": {"a": [1, "é"]}}}
CASES = {
    "user": ([{"role": "user", "content": "hi"}], {},
             "<|im_start|>user\nhi<|im_end|>\n"),
    "generation prompt": ([{"role": "user", "content": "hi"}], {"add_generation_prompt": True},
                          "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n"),
    "no thinking": ([{"role": "user", "content": "hi"}],
                    {"add_generation_prompt": True, "enable_thinking": False},
                    "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n"
                    "<think>\n</think>\n"),
    "parts": ([{"role": "user", "content": [{"type": "text", "text": "a"}, "b"]}], {},
              "<|im_start|>user\nab<|im_end|>\n"),
    "system in the middle": (
        [{"role": "user", "content": "a"}, {"role": "system", "content": "b"}], {},
        "<|im_start|>user\na<|im_end|>\n<|im_start|>system\nb<|im_end|>\n"),
    "reasoning and call": (
        [{"role": "assistant", "content": None, "reasoning_content": " r\n",
          "tool_calls": [CALL]}], {},
        '<|im_start|>assistant\n<think>\nr\n</think>\n\n<tool_call>{"name": "f", '
        '"arguments": {"a": [1, "é"]}}</tool_call><|im_end|>\n'),
    "arguments as text": (
        [{"role": "assistant", "content": "x",
          "tool_calls": [{"name": "g", "arguments": '{"b":2}'}]}], {},
        '<|im_start|>assistant\nx\n<tool_call>{"name": "g", "arguments": {"b":2}}</tool_call>'
        '<|im_end|>\n'),
    "tool result": ([{"role": "tool", "content": "42"}], {},
                    "<|im_start|>tool\n<tool_response>42</tool_response><|im_end|>\n"),
    "tools": (
        [{"role": "system", "content": "S"}],
        {"tools": [{"type": "function", "function": {"name": "f"}}]},
        '<|im_start|>system\nS\n\n## Tools\nEach line describes a function that you may call.\n'
        '{"name": "f"}\nTo call one, write <tool_call>{"name": ..., "arguments": {...}}'
        '</tool_call>.<|im_end|>\n'),
    "documents": (
        [{"role": "user", "content": "q"}], {"documents": [{"title": "T", "text": "body"}]},
        "<|im_start|>system\n\n\n## Documents\n[1] T\nbody<|im_end|>\n"
        "<|im_start|>user\nq<|im_end|>\n"),
}


@pytest.mark.parametrize("name", CASES)
def test_template(reference, name):
    messages, options, expected = CASES[name]
    assert reference.apply_chat_template(messages, tokenize=False, **options) == expected


@pytest.mark.parametrize("message, reason", [
    ({"role": "pirate", "content": "x"}, "unknown role: pirate"),
    ({"role": "user", "content": [{"type": "image"}]}, "not a part of type image"),
    ({"role": "user", "content": 3}, "content must be a text or a list of parts")])
def test_template_refuses(reference, message, reason):
    with pytest.raises(Exception, match=reason):
        reference.apply_chat_template([message], tokenize=False)
