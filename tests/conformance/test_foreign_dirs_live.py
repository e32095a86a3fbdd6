"""Model directories without a tokenizer.json whose vocabulary is in another library's format, beside
AutoTokenizer: tekken.json in the environment of the tests, tiktoken ranks and SentencePiece models in
build/formats."""
import json
import subprocess

import pytest
from formats_reference import formats, random_texts
from test_sentencepiece_live import MADE, PARTS, WORDS, maker
from test_tiktoken_live import TEKKENS, tekken, train, write_ranks

__all__ = ["formats"]  # a fixture

TEXTS = ["", "Hello <s>[X] x", " abc cab\n\n é日 1234", "<|a|><|reserved_token_302|> ab", "a\n  ", "<SPECIAL_7>"]
FLAGS = [{"add_bos_token": b, "add_eos_token": e, "bos_token": "<s>", "eos_token": "</s>"}
         for b in (False, True) for e in (False, True)]


def run(program, command, folder, requests):
    done = subprocess.run([program, command, "-m", folder], capture_output=True, check=False,
                          input="".join(json.dumps(r) + "\n" for r in requests).encode())
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr.decode()


def compare(program, folder, encode, decode, texts=None):
    """encode(texts, special) and decode(lists) ask the reference."""
    texts = texts or TEXTS + random_texts(["<s>", "</s>", "[X]", "<|a|>", "abc", "cab", "é", "日", "ab"], 60, 8)
    lists = []
    for special in (False, True):
        status, lines, errors = run(program, "encode", folder,
                                    [{"text": t, "add_special_tokens": special} for t in texts])
        assert status == 0, errors
        wanted = encode(texts, special)
        for text, line, want in zip(texts, lines, wanted, strict=True):
            assert line["ids"] == want, (text, special)
        lists += wanted[:20]
    _, lines, _ = run(program, "decode", folder, [{"ids": i} for i in lists])
    assert [line["text"] for line in lines] == decode(lists)


TEKKEN = {
    "plain": (tekken(), {}, {}),
    "of a class that is not asked": (tekken(), {"tokenizer_class": "LlamaTokenizer"}, {"model_type": "mistral"}),
    "with named tokens": (tekken(), {"bos_token": "<s>", "pad_token": "<pad>", "extra_special_tokens": ["<|a|>"]}, {}),
    "with a decoder": (tekken(), {"added_tokens_decoder": {"1": {"content": "<s>", "lstrip": True, "special": True}}}, {}),
    **{f"flags {i}": (tekken(), flags, {}) for i, flags in enumerate(FLAGS)},
    "many specials": (tekken(count=100), {}, {}),
    "other pattern": TEKKENS["other pattern"] and (TEKKENS["other pattern"], {}, {}),
}


@pytest.mark.parametrize("name", TEKKEN)
def test_tekken(program, tmp_path, name):
    from transformers import AutoTokenizer
    document, config, model = TEKKEN[name]
    (tmp_path / "tekken.json").write_text(json.dumps(document))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    (tmp_path / "config.json").write_text(json.dumps(model))
    tok = AutoTokenizer.from_pretrained(str(tmp_path))
    compare(program, tmp_path,
            lambda texts, special: [tok(t, add_special_tokens=special)["input_ids"] for t in texts],
            lambda lists: [tok.decode(i) for i in lists])


DECODER = {"302": {"content": "<|a|>", "special": True}, "304": "<|b|>", "5": {"content": "x"}}
TIKTOKEN = {
    "plain": ("tokenizer.model", {}),
    "legacy name": ("tiktoken.model", {}),
    "decoder": ("tokenizer.model", {"added_tokens_decoder": {k: {"content": "<|a|>" if k == "302" else "<|b|>",
                                                                 "special": True} for k in ("302", "304")}}),
    "extra": ("tokenizer.model", {"extra_special_tokens": ["<|a|>", "ab", "<s>"]}),
    "additional": ("tokenizer.model", {"additional_special_tokens": ["<|a|>"], "bos_token": "<s>"}),
    "both": ("tokenizer.model", {"added_tokens_decoder": {"301": {"content": "<|a|>", "special": True}},
                                 "extra_special_tokens": ["<|a|>", "<|c|>"]}),
    **{f"flags {i}": ("tiktoken.model", {**flags, "extra_special_tokens": ["<s>", "</s>"]})
       for i, flags in enumerate(FLAGS)},
}


@pytest.mark.parametrize("name", TIKTOKEN)
def test_tiktoken(program, tmp_path, formats, name):
    file, config = TIKTOKEN[name]
    write_ranks(tmp_path / file, train(3, 300))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    (tmp_path / "config.json").write_text("{}")
    error = formats.open_directory(tmp_path)
    assert error is None
    compare(program, tmp_path,
            lambda texts, special: [r["ids"] for r in formats.encode(texts, bos=special)],
            formats.decode)


@pytest.mark.parametrize("files, message", [
    ({"tekken.json": None, "tokenizer.model.v3": b""}, "which one counts depends on the order"),
    ({"tekken.json": None, "tokenizer.json.bak": b""}, "which is not read for this class"),
    ({"tokenizer.model": b"IQ== 0\n", "tokenizer_config.json": b'{"tokenizer_class": "LlamaTokenizer"}'},
     "not read for this class"),
    ({"tekken.json": json.dumps(tekken("v3", specials=None, count=30)).encode()}, "special_tokens are missing"),
    ({"tiktoken.model": b"IQ==\n"}, "line 1: expected a token in base64 and its rank"),
])
def test_refused(program, tmp_path, files, message):
    for name, content in files.items():
        (tmp_path / name).write_bytes(json.dumps(tekken()).encode() if content is None else content)
    status, _, errors = run(program, "encode", tmp_path, [])
    assert status == 3 and message in errors, errors


NAMED = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
ENTRY = {"lstrip": False, "rstrip": False, "single_word": False, "special": True, "normalized": True}
SPM_CONFIGS = {
    "nothing": {},
    "named": {**NAMED, "add_bos_token": True, "add_eos_token": False, "legacy": False},
    "legacy": {**NAMED, "legacy": True, "add_bos_token": True, "add_eos_token": True},
    "null": {"bos_token": None, "legacy": False},
    "decoder": {**NAMED, "added_tokens_decoder": {
        "0": {**ENTRY, "content": "<unk>"}, "1": {**ENTRY, "content": "<s>"}, "2": {**ENTRY, "content": "</s>"},
        "3": {**ENTRY, "content": "<|new|>", "special": False}, "5": {**ENTRY, "content": "ab", "special": False}}},
    "decoder, not legacy": {"legacy": False, "added_tokens_decoder": {
        "1": {**ENTRY, "content": "<s>", "rstrip": True}, "7": {**ENTRY, "content": "<|seven|>"}, "900": {**ENTRY, "content": "<|far|>"}}},
    "swapped": {"added_tokens_decoder": {"1": {**ENTRY, "content": "</s>"}, "2": {**ENTRY, "content": "<s>"}}},
    "extra": {"extra_special_tokens": ["<|e|>", "ab"]},
    "additional": {"additional_special_tokens": ["<|e|>"], **NAMED},
    "extra null": {"extra_special_tokens": None},
    "extra by name": {"extra_special_tokens": {"image_token": "<|e|>"}},
}
SPM_FILES = {
    "map": {"special_tokens_map.json": {"bos_token": "<s>", "additional_special_tokens": ["<|m|>"]}},
    "added": {"added_tokens.json": {"<|new|>": 4, "<|far|>": 500, "<s>": 1},
              "special_tokens_map.json": {"extra_special_tokens": ["<|x|>"]}},
}
SPM_MODELS = ["bpe", "bpe bytes", "bpe user", "bpe user bytes", "bpe ties bytes", "bpe unused and user", "bpe spaces kept",
              "bpe without normalization", "char user", "word", "unigram user bytes"]
SPM_CASES = [(c, m, n) for c in ("", "LlamaTokenizer", "GemmaTokenizer", "CodeLlamaTokenizer") for m in SPM_MODELS
             for n in [*SPM_CONFIGS, *SPM_FILES] if (c or not m.startswith("unigram")) and
             (m in ("bpe user bytes", "bpe bytes") or n in ("nothing", "named", "decoder"))]


@pytest.fixture(scope="module")
def made(formats, tmp_path_factory):
    """made(name): the SentencePiece model of test_sentencepiece_live, made once."""
    return maker(formats, tmp_path_factory.mktemp("spm"), MADE)


@pytest.mark.parametrize("kind, model, config", SPM_CASES)
def test_sentencepiece(program, tmp_path, formats, made, kind, model, config):
    files = {"tokenizer_config.json": {**SPM_CONFIGS.get(config, {}), **({"tokenizer_class": kind} if kind else {})},
             "config.json": {}, **SPM_FILES.get(config, {})}
    for name, content in files.items():
        (tmp_path / name).write_text(json.dumps(content))
    (tmp_path / "tokenizer.model").write_bytes(made(model).read_bytes())
    error = formats.open_directory(tmp_path)
    if error is not None:
        status, _, errors = run(program, "encode", tmp_path, [])
        assert status == 3, (error, errors)
        return
    compare(program, tmp_path,
            lambda texts, special: [r["ids"] for r in formats.encode(texts, bos=special)],
            formats.decode,
            SPM_TEXTS + random_texts(WORDS + PARTS + ["<u>", "<c>", "abca", "<|new|>", "<|far|>", "<|e|>", "<|seven|>"],
                                     60, 9))


SPM_TEXTS = ["", " ", "  a  b ", "▁a", "a▁▁b", "the then<s>there", "<s> the", "x<c>y<u>abca▁x12", "日本語 été\n\n é",
             "<|new|> ab<|far|>the", "\tNAÏVE  \n straße", "</s>the</s> the", "zq\u0301 <0x41>A"]


def test_large_decoder(program, tmp_path):
    """Its entries are looked up once, not once for each id that is filled up."""
    write_ranks(tmp_path / "tokenizer.model", train(3, 300))
    decoder = {str(6 * i + 306): {"content": f"<t{i}>", "special": True} for i in range(20000)}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"added_tokens_decoder": decoder}))
    text = "<t0><|reserved_token_307|><t19999>"
    done = subprocess.run([program, "encode", "--plain", "-m", tmp_path], check=True, timeout=5,
                          input=json.dumps({"text": text}).encode(), capture_output=True)
    assert done.stdout.split() == [b"306", b"307", b"120300"]
