"""render, encode, decode, info, check, drain."""
import json
import re

import pytest


def test_render(run, chat):
    r = run("render", stdin=[chat("one"), {"text": "two"}, {"message": {"content": "x"}}])
    assert r.status == 1
    assert "one" in r.results[0]["text"] and r.results[1]["text"] == "two"
    assert r.results[2]["error"]["kind"] == "input"
    assert list(r.results[0]) == ["index", "id", "text"]


def test_render_plain_and_null(run):
    items = [{"text": "a\nb"}, {"text": "c"}]
    assert run("render", "--plain", stdin=items).out == "a\nb\nc\n"
    assert run("render", "-0", stdin=items).out == "a\nb\0c\0"
    r = run("render", "--plain", stdin=[{"text": "a"}, b"nope", {"text": "c"}])
    assert (r.status, r.out) == (1, "a\nc\n") and "item 1: input" in r.err


def test_generation_spans(run, chat):
    t = "ü{% generation %}añb{% endgeneration %}{% generation %}c{% endgeneration %}"
    r = run("render", stdin=[chat(chat_template=t, return_assistant_tokens_mask=True),
                             chat(chat_template=t)])
    assert r.results[0]["generation"] == [[1, 4], [4, 5]]
    assert "generation" not in r.results[1]
    r = run("encode", "--offsets", stdin=[chat(chat_template=t, return_assistant_tokens_mask=True)])
    got = r.results[0]
    assert got["assistant_masks"] == [int(a < 5 and b > 1) for a, b in got["offsets"]]
    r = run("encode", stdin=[chat(chat_template=t, return_assistant_tokens_mask=True)])
    assert r.results[0] == {k: v for k, v in got.items() if k != "offsets"}


def test_continue_final_message(run):
    m = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "The answer "}]
    t = "{% for m in messages %}<{{ m.content }}>{% endfor %}"
    trimmed = "{% for m in messages %}<{{ m.content|trim }}>{% endfor %}"
    r = run("render", stdin=[
        {"messages": m, "chat_template": t, "continue_final_message": True},
        {"messages": m, "chat_template": trimmed, "continue_final_message": True},
        {"messages": m, "chat_template": t, "continue_final_message": True,
         "add_generation_prompt": True},
        {"messages": m, "chat_template": t, "continue_final_message": "other"}])
    got = r.results.all()
    assert got[0]["text"] == "<a><The answer " and got[1]["text"] == "<a><The answer"
    assert got[2]["error"]["kind"] == got[3]["error"]["kind"] == "input"


def test_null_keys_and_reasoning_names(run):
    t = "{{ messages|tojson }}"
    r = run("render", stdin=[
        {"messages": [{"role": "a", "content": None, "x": [None]}], "chat_template": t},
        {"messages": [{"role": "a", "reasoning": "R"}], "chat_template": t},
        {"messages": [{"role": "a", "thinking": "T", "reasoning_content": None}],
         "chat_template": t},
        {"messages": [{"reasoning_content": "C", "thinking": "T"}], "chat_template": t}])
    assert [json.loads(x["text"]) for x in r.results] == [
        [{"role": "a", "x": [None]}],
        [{"thinking": "R", "role": "a", "reasoning": "R", "reasoning_content": "R"}],
        [{"thinking": "T", "role": "a", "reasoning_content": "T"}],
        [{"thinking": "T", "reasoning_content": "C"}]]
    keys = [list(json.loads(x["text"])[0]) for x in r.results]
    assert keys[1] == ["thinking", "role", "reasoning", "reasoning_content"]
    assert keys[3] == ["thinking", "reasoning_content"]


def test_encode_and_decode_are_inverse(run):
    texts = ["Hello world", "", "ünïcode 🙂 text", "tabs\tand\nlines  "]
    ids = run("encode", stdin=[{"text": t} for t in texts])
    assert list(ids.results[0]) == ["index", "id", "ids"]
    back = run("decode", stdin=[{"ids": x["ids"]} for x in ids.results])
    assert [x["text"] for x in back.results] == texts
    assert list(back.results[0]) == ["index", "id", "text"]
    plain = run("encode", "--plain", "--text", texts[0])
    assert plain.out == " ".join(map(str, ids.results[0]["ids"])) + "\n"


def test_encode_tokens_and_offsets(run):
    r = run("encode", "--tokens", "--offsets", "--text", "añb añb")
    got = r.results[0]
    assert len(got["ids"]) == len(got["tokens"]) == len(got["offsets"])
    assert got["offsets"][0][0] == 0 and got["offsets"][-1][1] == 7
    shown = run("encode", "--plain", "--tokens", "--offsets", "--text", "añb añb").out
    assert len(shown.splitlines()) == len(got["ids"]) and "\t0-1" in shown


def test_decode_skips_special_tokens(run):
    ids = run("encode", stdin=[{"text": "a<|im_end|>b"}]).results[0]["ids"]
    keep = run("decode", "--plain", stdin=[{"token_ids": ids}]).out
    skip = run("decode", "--plain", "--skip-special-tokens", stdin=[{"token_ids": ids}]).out
    assert (keep, skip) == ("a<|im_end|>b\n", "ab\n")
    r = run("decode", stdin=[{"ids": [-1]}, {"ids": ["x"]}, {"text": "a"}])
    assert [x["error"]["kind"] for x in r.results] == ["input"] * 3


def test_info(run):
    r = run("info")
    assert r.status == 0 and "kind: built-in" in r.out and "BPE" in r.out
    data = json.loads(run("info", "--json").out)
    assert data["class"]["used"] == "TokenizersBackend" and data["vocabulary"] == 4096
    assert data["chat_templates"][0]["compiles"] is True
    assert data["special_tokens"] == {"eos_token": "<|im_end|>", "pad_token": "<|endoftext|>"}
    assert data["peak_rss_bytes"] > 0 and data["load_ms"] >= 0


@pytest.mark.parametrize("source, status, place, words", [
    ("{{ 1 }}", 0, None, "0 errors, 0 warnings"),
    ("a\n  {% if x %}\n  {{ y z }}{% endif %}", 1, ":3:", "error"),
    ("{% nope %}", 1, ":1:", "nope"),
    ("{% if false %}{{ x|nope }}{% endif %}", 0, ":1:", "1 warning"),
])
def test_check(run, tmp_path, source, status, place, words):
    path = tmp_path / "t.jinja"
    path.write_text(source)
    r = run("check", path)
    assert r.status == status and words in r.out
    if place:
        assert f"{path}{place}" in r.out
        assert re.search(r"\n +\^", r.out)


@pytest.mark.parametrize("source, errors", [
    ("{{ a| }}\n{{ b }}{{ c d }}\n{{ e|nope }}{{ é is never }}{% nope %}", [(1, 7), (2, 13), (3, 32), (3, 6), (3, 18)]),
    ("{% if a b %}{{ c( }}{% elif d e %}{{ f }}{% endif %}{{ g[ }}", [(1, 9), (1, 19), (1, 31), (1, 59)]),
    ("a\r\n{%- set x = 1 2 -%}\r\n{{- y| -}}\r\nb{% set z %}{{ ) }}{% endset %}", [(2, 15), (3, 8), (4, 16)]),
    ("{{ a b }}{% for x in %}{{ c d }}{% endfor %}", [(1, 6), (1, 22)]),  # what depends on a tag is not looked at
    ("{{ a b", [(1, 6)]), ("{{ 'a }}\n{{ b", [(1, 4), (2, 5)]), ("{{ a b }}{% if x %}", [(1, 6), (1, 20)]),
])
def test_check_finds_all_errors(run, tmp_path, source, errors):
    path = tmp_path / "t.jinja"
    path.write_bytes(source.encode())
    r = run("check", path)
    found = re.findall(re.escape(str(path)) + r":(\d+):(\d+): error", r.out)
    assert [(int(a), int(b)) for a, b in found] == errors, r.out
    assert r.status == 1 and f"{len(errors)} error" in r.out


def test_check_a_model_directory(run, tmp_path):
    (tmp_path / "chat_template.jinja").write_text("fine")
    (tmp_path / "additional_chat_templates").mkdir()
    (tmp_path / "additional_chat_templates" / "rag.jinja").write_text("{{ bad")
    r = run("check", tmp_path)
    assert r.status == 1 and "rag.jinja:1:" in r.out and "2 templates: 1 error" in r.out
    assert run("check").status == 0  # the built-in model's


@pytest.mark.parametrize("stage", ["tokens", "ast", "code"])
def test_check_dump(run, stage):
    r = run("check", "--dump", stage, "-", stdin="{{ messages[0].content }}")
    assert r.status == 0 and "content" in r.out


def test_drain(run, chat, tmp_path):
    path = tmp_path / "pending.jsonl"
    path.write_text("".join(json.dumps(chat(f"request {i} " * 50)) + "\n" for i in range(50)))
    r = run("drain", path)
    assert r.status == 0
    assert {"pending", "drain s", "prompts/s", "tokens/s", "MB/s", "peak RSS"} <= \
        set(re.findall(r"pending|drain s|prompts/s|tokens/s|MB/s|peak RSS", r.out))
    expected = sum(x["tokens"] for x in run("count", path).results)
    data = json.loads(run("drain", "--json", "--repeat", "3", "-j2", path).out)
    assert data["pending"] == 50 and data["peak_rss_bytes"] > 0 and len(data["runs"]) == 3
    for one in data["runs"]:
        assert one["tokens"] == expected and one["counted"] == 50 and one["final_pending"] == 0
        assert one["drain_s"] > 0 and one["prompts_per_s"] > 0 and one["jobs"] == 2
    assert data["runs"][1]["reused"] > data["runs"][0]["reused"]


def test_drain_warm_and_sweeps(run, chat, tmp_path):
    path = tmp_path / "pending.jsonl"
    path.write_text("".join(json.dumps(chat(f"request {i} " * 50)) + "\n" for i in range(20)))
    data = json.loads(run("drain", "--json", "--warm", path, path).out)
    assert data["warm"] == 20 and data["runs"][0]["reused"] > data["runs"][0]["tokens"] / 2
    data = json.loads(run("drain", "--json", "--sweep-pending", "5,20", "--sweep-jobs", "1,2",
                          path).out)
    assert [(x["jobs"], x["pending"]) for x in data["runs"]] == [(1, 5), (1, 20), (2, 5), (2, 20)]
    assert run("drain", "--sweep-pending", "21", path).status == 2


def test_drain_timeout_conserves(run, chat, tmp_path):
    t = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
    path = tmp_path / "pending.jsonl"
    items = [chat() for _ in range(10)] + [chat(chat_template=t)] + [chat() for _ in range(10)]
    path.write_text("".join(json.dumps(x) + "\n" for x in items))
    r = run("drain", "--json", "-j1", "--drain-timeout", "0.3", "--max-steps", "1000000000000",
            path)
    one = json.loads(r.out)["runs"][0]
    assert r.status == 1 and one["counted"] + one["final_pending"] == 21
    assert one["final_pending"] >= 1 and "still pending" in r.err


def test_drain_reports_failures(run, chat):
    r = run("drain", "--json", stdin=[chat(), b"nope", {"messages": []}])
    assert r.status == 1 and json.loads(r.out)["runs"][0]["failed"] == 2
    assert "2 of 3 items failed: 2 input" in r.err
