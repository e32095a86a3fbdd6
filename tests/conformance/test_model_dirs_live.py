"""Model directories of every kind, beside AutoTokenizer: ids, special tokens, chat template.

Each case writes a directory over one of two small tokenizers. What the reference refuses must be
refused; a class whose rules are not there yet must be refused by name, never approximated."""
import json
import subprocess

import pytest

TEXTS = ["", "Hello world", " two  spaces", "a\n\nb 123 45", "<|im_start|>x<|im_end|>",
         "x <extra> y<extra>", "<s>a</s><unk><pad>", "e\u0301é ﬁ", "日本語🙂", "it's I'LL we'Re",
         "<|endoftext|><|padding|>", "<a><b> <c>", "<au>dio<im>"]


def added(text, **flags):
    return {"content": text, "lstrip": False, "rstrip": False, "normalized": False,
            "single_word": False, "special": True, **flags}


CASES = {
    "no-config": {},
    "generic": {"tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast"}},
    "unknown-class": {"tokenizer_config.json": {"tokenizer_class": "NopeTokenizer"}},
    "qwen2": {"tokenizer_config.json": {"tokenizer_class": "Qwen2Tokenizer"}},
    "qwen2-prefix": {"tokenizer_config.json": {"tokenizer_class": "Qwen2Tokenizer",
                                               "add_prefix_space": True}},
    "qwen2-by-type": {"config.json": {"model_type": "qwen3"}},
    "qwen2-unk-null": {"tokenizer_config.json": {"tokenizer_class": "Qwen2Tokenizer",
                                                 "unk_token": None, "bos_token": "<s>"}},
    "qwen3_5": {"tokenizer_config.json": {"tokenizer_class": "Qwen3_5Tokenizer"}},
    "gpt2": {"tokenizer_config.json": {"tokenizer_class": "GPT2Tokenizer"}},
    "gpt2-prefix": {"tokenizer_config.json": {"tokenizer_class": "GPT2TokenizerFast",
                                              "add_prefix_space": True}},
    "neox": {"tokenizer_config.json": {"tokenizer_class": "GPTNeoXTokenizer"}},
    "llama-over-byte-level": {"tokenizer_config.json": {"tokenizer_class": "LlamaTokenizer"}},
    "glm-beats-class": {"config.json": {"model_type": "glm4"},
                        "tokenizer_config.json": {"tokenizer_class": "Qwen2Tokenizer"}},
    "named-new": {"tokenizer_config.json": {"bos_token": "<s>", "eos_token": "</s>",
                                            "audio_token": "<au>", "pad_token": None}},
    "named-object": {"tokenizer_config.json": {
        "eos_token": {"__type": "AddedToken", **added("</s>", lstrip=True, special=False)}}},
    "named-bad-object": {"tokenizer_config.json": {"eos_token": added("</s>")}},
    "additional": {"tokenizer_config.json": {"additional_special_tokens": ["<a>", "<b>"]}},
    "extra-beats-additional": {"tokenizer_config.json": {"extra_special_tokens": ["<b>"],
                                                         "additional_special_tokens": ["<a>"]}},
    "extra-dict": {"tokenizer_config.json": {"extra_special_tokens": {"image_token": "<im>"}}},
    "decoder": {"tokenizer_config.json": {"added_tokens_decoder": {
        "7000": added("<extra>", special=False, normalized=True),
        "6000": added("<a>", rstrip=True)}}},
    "decoder-flags": {"tokenizer_config.json": {"added_tokens_decoder": {
        "4089": added("<|im_start|>", lstrip=True, rstrip=True)}}},
    "decoder-rebuilt": {"tokenizer_config.json": {
        "tokenizer_class": "Qwen2Tokenizer", "added_tokens_decoder": {
            "5000": added("<extra>", special=False), "4087": added("<|endoftext|>", lstrip=True)}}},
    "decoder-empty": {"tokenizer_config.json": {"added_tokens_decoder": {}},
                      "special_tokens_map.json": {"bos_token": "<s>"},
                      "added_tokens.json": {"<extra>": 9}},
    "map": {"tokenizer_config.json": {"bos_token": "<s>"},
            "special_tokens_map.json": {"bos_token": "<a>", "eos_token": added("</s>", lstrip=True),
                                        "additional_special_tokens": ["<b>"]}},
    "added-json": {"added_tokens.json": {"<extra>": 9000, "<s>": 8000},
                   "tokenizer_config.json": {"bos_token": "<s>"}},
    "split-special": {"tokenizer_config.json": {"split_special_tokens": True}},
    "bos-flag-ignored": {"tokenizer_config.json": {"add_bos_token": True, "bos_token": "<s>"}},
    "truncation": {"tokenizer.json": {"truncation": {
        "direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0}}},
    "python-class": {"tokenizer_config.json": {"tokenizer_class": "ByT5Tokenizer"}},
    "bad-config": {"config.json": "{"},
    "bad-tokenizer-config": {"tokenizer_config.json": "{"},
    "unknown-type": {"config.json": {"model_type": "unheard-of"}},
    "auto-map-unknown": {"tokenizer_config.json": {
        "tokenizer_class": "Own", "auto_map": {"AutoTokenizer": ["own.Own", None]}}},
    "auto-map-known": {"tokenizer_config.json": {
        "tokenizer_class": "Qwen2Tokenizer", "auto_map": {"AutoTokenizer": ["own.Own", None]}}},
}
REFUSED_HERE = {"python-class": "ByT5Tokenizer"}


@pytest.fixture(scope="module")
def small(root):
    return json.loads((root / "assets" / "default" / "tokenizer.json").read_text())


def write(folder, small, files):
    tokenizer = {**small, **files.get("tokenizer.json", {})}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    for name, value in files.items():
        if name != "tokenizer.json":
            (folder / name).write_text(value if isinstance(value, str) else json.dumps(value))


def reference(folder):
    from transformers import AutoTokenizer
    try:
        return AutoTokenizer.from_pretrained(str(folder))
    except Exception:  # noqa: BLE001 - whatever it raises, we must refuse, too
        return None


@pytest.mark.parametrize("name", CASES)
def test_directory(name, small, program, tmp_path):
    write(tmp_path, small, CASES[name])
    t = reference(tmp_path)
    requests = [{"text": x, "add_special_tokens": s} for x in TEXTS for s in (False, True)]
    done = subprocess.run([program, "encode", "-m", tmp_path], capture_output=True, check=False,
                          input="".join(json.dumps(r) + "\n" for r in requests).encode())
    if name in REFUSED_HERE:
        assert done.returncode == 3 and REFUSED_HERE[name].encode() in done.stderr
        return
    if t is None:
        assert done.returncode == 3, name
        return
    assert done.returncode == 0, done.stderr
    got = [json.loads(line)["ids"] for line in done.stdout.splitlines()]
    want = [t(r["text"], add_special_tokens=r["add_special_tokens"])["input_ids"]
            for r in requests]
    assert got == want
    info = json.loads(subprocess.run([program, "info", "--json", "-m", tmp_path],
                                     capture_output=True, check=True).stdout)
    assert info["special_tokens"] == dict(t.special_tokens_map)
    assert list(info["special_tokens"]) == list(t.special_tokens_map)
    decoded = subprocess.run([program, "decode", "-m", tmp_path], capture_output=True, check=True,
                             input="".join(json.dumps({"ids": i}) + "\n" for i in want).encode())
    assert [json.loads(line)["text"] for line in decoded.stdout.splitlines()] == \
        [t.decode(i) for i in want]


def test_compat_takes_the_file_as_it_stands(small, program, tmp_path):
    from tokenizers import Tokenizer
    write(tmp_path, small, {"tokenizer_config.json": {"tokenizer_class": "CohereTokenizer",
                                                      "eos_token": "<extra>"}})
    t = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for model in (tmp_path, tmp_path / "tokenizer.json"):
        done = subprocess.run(
            [program, "encode", "--compat", "tokenizer.json", "-m", model], capture_output=True,
            input="".join(json.dumps({"text": x}) + "\n" for x in TEXTS).encode(), check=True)
        assert [json.loads(line)["ids"] for line in done.stdout.splitlines()] == \
            [t.encode(x, add_special_tokens=False).ids for x in TEXTS]


def test_name_in_the_hub_cache(small, program, tmp_path, monkeypatch):
    snapshot = tmp_path / "hub" / "models--org--name" / "snapshots" / "abc123"
    snapshot.mkdir(parents=True)
    write(snapshot, small, {"chat_template.jinja": "hi"})
    refs = tmp_path / "hub" / "models--org--name" / "refs"
    refs.mkdir()
    (refs / "main").write_text("abc123")

    def status(*args, **env):
        return subprocess.run([program, "info", *args], capture_output=True, check=False,
                              env={"HOME": "/nonexistent", **env}).returncode
    assert status("-m", "org/name", HF_HUB_CACHE=str(tmp_path / "hub")) == 0
    assert status("-m", "org/name", HF_HOME=str(tmp_path)) == 0
    assert status("-m", "org/name", "--revision", "abc123", HF_HOME=str(tmp_path)) == 0
    assert status("-m", "org/name", "--revision", "other", HF_HOME=str(tmp_path)) == 3
    assert status("-m", "org/other", HF_HOME=str(tmp_path)) == 3
    assert status("-m", "org/name") == 3
