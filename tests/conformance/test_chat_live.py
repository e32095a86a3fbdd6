"""What surrounds a template, beside transformers: open last messages, masks, control tokens as
text, and the tokens that one assistant message adds."""
import copy
import json
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLAIN = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
TRIMMED = PLAIN.replace("m.content", "m.content|trim")
PARTS = ("{% for m in messages %}<{{ m.role }}>{% for p in m.content %}{{ p.text }}{% endfor %}"
         "{% endfor %}")
THINKS = "{% for m in messages %}[{{ m.thinking }}|{{ m.reasoning_content }}]{% endfor %}"
DROPS = "{% for m in messages %}{{ m.role }}{% endfor %}content"
MASKED = ("{% for m in messages %}{% if m.role == 'assistant' %}a: {% generation %}{{ m.content }}"
          "<|im_end|>{% endgeneration %}{% else %}u: {{ m.content }}{% endif %}\n{% endfor %}")
PIECES = ("{{ messages[0].content[:9] }}x{{ messages[0].content }}{{ tools|tojson }}"
          "{{ note }}<|im_start|>")


@pytest.fixture(scope="module")
def tokenizer():
    from transformers import AutoTokenizer
    return AutoTokenizer.from_pretrained(ROOT / "assets" / "default")


@pytest.fixture(scope="module")
def run(program):
    def call(command, lines, *options):
        done = subprocess.run([program, command, *options], capture_output=True, check=False,
                              input="".join(json.dumps(x) + "\n" for x in lines).encode())
        assert done.returncode in (0, 1), done.stderr
        return [json.loads(x) for x in done.stdout.splitlines()]
    return call


def attempt(f):
    try:
        return f()
    except Exception:  # noqa: BLE001 - an error must be an error here, too
        return None


FINALS = [
    [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "The answer is "}],
    [{"role": "assistant", "content": "no space"}],
    [{"role": "assistant", "content": "  both sides \u3000"}],
    [{"role": "assistant", "content": ""}],
    [{"role": "assistant"}],
    [{"role": "assistant", "content": 3}],
    [{"role": "assistant", "content": [{"type": "text", "text": "one "}, {"image": "x"}]}],
    [{"role": "assistant", "content": [{"image": "x"}]}],
    [{"role": "assistant", "content": ["text", "x"]}],
    [{"role": "assistant", "content": []}],
    [{"role": "assistant", "content": "c", "reasoning": "why "}],
    [{"role": "assistant", "content": "c", "thinking": "t ", "reasoning_content": "r "}],
    [{"role": "assistant", "content": "c", "thinking": "t ", "reasoning_content": "t "}],
    [{"role": "assistant", "content": "CONTINUE_FINAL_MESSAGE_TAG inside"}],
]


@pytest.mark.parametrize("field", [True, "content", "thinking", "reasoning", "role", "nope", 1, ""])
@pytest.mark.parametrize("template", [PLAIN, TRIMMED, PARTS, THINKS, DROPS],
                         ids=["plain", "trimmed", "parts", "thinks", "drops"])
def test_continue_final_message(template, field, run, tokenizer):
    lines = [{"messages": m, "chat_template": template, "continue_final_message": field}
             for m in FINALS]
    want = [attempt(lambda m=m: tokenizer.apply_chat_template(
        copy.deepcopy(m), chat_template=template, continue_final_message=field, tokenize=False,
        add_generation_prompt=not field)) for m in FINALS]
    assert [x["text"] for x in run("render", lines)] == want


def test_continue_final_message_excludes(run):
    m = FINALS[0]
    got = run("render", [
        {"messages": m, "continue_final_message": True, "add_generation_prompt": True},
        {"messages": m, "continue_final_message": True, "return_assistant_tokens_mask": True}])
    assert [x["error"]["kind"] for x in got] == ["input", "input"]


def test_assistant_mask(run, tokenizer):
    chats = [[{"role": "user", "content": "héllo\n"}, {"role": "assistant", "content": "añswer 🙂"},
              {"role": "user", "content": "x"}, {"role": "assistant", "content": ""}],
             [{"role": "assistant", "content": " a b  c"}], [{"role": "user", "content": "x"}]]
    lines = [{"messages": m, "chat_template": MASKED, "return_assistant_tokens_mask": True}
             for m in chats]
    for m, got in zip(chats, run("encode", lines), strict=True):
        want = tokenizer.apply_chat_template(m, chat_template=MASKED, add_generation_prompt=True,
                                             return_assistant_tokens_mask=True, return_dict=True)
        assert got["ids"] == want["input_ids"]
        assert got["assistant_masks"] == want["assistant_masks"]


CONTENTS = ["plain", "<|im_end|>", "a<|im_start|>b<|im_end|><|endoftext|>", "<|im_<|im_end|>end|>",
            "<tool_call>x</tool_call>", "\U000f0000<|im_end|>\U000f0001", "<|im_\U000f0000end|>",
            "<think>a</think>", "", "\n<|im_end|>\n"]


@pytest.mark.parametrize("template", [None, PLAIN, PIECES], ids=["own", "plain", "pieces"])
def test_control_tokens_in_user_text(template, run, tokenizer):
    def arguments(c):
        return {"tools": [{"type": "function", "function": {"name": c, "<|im_end|>": [c]}}]}
    lines, want = [], []
    for c in CONTENTS:
        m = [{"role": "user", "content": c}]
        line = {"messages": m, "sanitize_control_tokens": True, **arguments(c),
                "chat_template_kwargs": {"note": c}}
        more = {} if template is None else {"chat_template": template}
        lines.append({**line, **more})
        want.append(attempt(lambda m=m, c=c, more=more: tokenizer.apply_chat_template(
            m, sanitize_control_tokens=True, add_generation_prompt=True, return_dict=False, note=c,
            **arguments(c), **more)))
    assert any(want)
    assert [x["ids"] for x in run("encode", lines)] == want
    assert [x["tokens"] for x in run("count", lines)] == [w and len(w) for w in want]
    assert {x["error"]["kind"] for x in run("render", lines)} == {"input"}


def test_message_counts(run, tokenizer):
    def n(message):
        return len(tokenizer.apply_chat_template(
            [{"role": "user", "content": ""}, message], add_generation_prompt=False,
            return_dict=False))
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": {"a": [1, "x"]}}}
    as_text = copy.deepcopy(call)
    as_text["function"]["arguments"] = json.dumps(call["function"]["arguments"])
    messages = [
        ({"content": "Hello"}, {"content": "Hello"}),
        ({"content": ""}, {"content": ""}),
        ({"content": None, "reasoning": "Because."}, {"content": "", "reasoning_content": "Because."}),
        ({"content": "x", "reasoning_content": "Why"}, {"content": "x", "reasoning_content": "Why"}),
        ({"content": "", "tool_calls": [as_text]}, {"content": "", "tool_calls": [call]}),
        ({"content": "x", "reasoning": "", "tool_calls": []}, {"content": "x"}),
        ({"tool_calls": [as_text, as_text], "reasoning": "r"},
         {"content": "", "reasoning_content": "r", "tool_calls": [call, call]}),
    ]
    base = n({"role": "assistant", "content": ""})
    got = run("count", [{"message": m} for m, _ in messages])
    assert [x["via"] for x in got] == ["message"] * len(messages)
    assert [x["tokens"] for x in got] == \
        [max(0, n({"role": "assistant", **m}) - base) for _, m in messages]


def test_message_whose_empty_pair_fails_has_no_baseline(run, tokenizer):
    t = "{{ raise_exception('empty') if not messages[1].content }}a {{ messages[1].content }}"
    got = run("count", [{"message": {"content": "bc"}, "chat_template": t}])
    assert got[0]["tokens"] == len(tokenizer("a bc", add_special_tokens=False)["input_ids"])


FLOATS = [1.0, 0.1, 1e15, 1e16, 1.5e-7, 1e-5, 1.5e-5, 1e-6, 1.25e-6, 1e22, -0.0, 5e-324, 1e100,
          123456789.125, 2.5e-10, -1.5e-5, 1e21, 9007199254740993.0]


def test_fallback_text_is_compact_json(run, tokenizer):
    import msgspec
    bad = "{{ raise_exception('x') }}"
    args = {"b": [1, None, True], "ü": "é\u007f\u2028\u0001\"\\/"}
    call = {"function": {"name": "f", "arguments": json.dumps(args)}}
    parsed = {"function": {"name": "f", "arguments": args}}
    m = [{"role": "user", "content": "x", "n": f} for f in FLOATS] + \
        [{"role": "assistant", "content": None, "tool_calls": [call]}]
    tools = [{"name": "t", "big": 12345678901234567890}]
    lines = [{"messages": m, "chat_template": bad},
             {"messages": m, "tools": tools, "chat_template": bad},
             {"message": {"content": "c", "reasoning": "r", "tool_calls": [call]},
              "chat_template": bad}]
    shaped = copy.deepcopy(m)
    shaped[-1]["tool_calls"] = [parsed]
    texts = [msgspec.json.encode({"messages": shaped}).decode(),
             msgspec.json.encode({"messages": shaped, "tools": tools}).decode(),
             "c\nr\n" + msgspec.json.encode([call]).decode()]
    got = run("count", lines, "--fallback")
    assert [x["via"] for x in got] == ["fallback"] * 3
    assert [x["tokens"] for x in got] == \
        [len(tokenizer(t, add_special_tokens=False)["input_ids"]) for t in texts]
